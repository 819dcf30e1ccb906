//! Pairs of branches whose numbers may differ within a tolerance: those whose leaves were given another type (`Float16_t`,
//! `Double32_t`), and those with other bytes. They are compared by value.

use arrow_schema::DataType;

use super::branch_values::{self, NamedBranches};
use super::reshaped::{Reshaped, Tables, Tops, Unequal};
use crate::plan::tree::schema::Comparison;
use crate::verify::column_values::ValuePair;
use crate::verify::tolerance::Tolerance;

/// A pair of branches with its tolerance and its name.
struct Tolerated<'a> {
    tops: Tops,
    tolerance: Tolerance,
    name: &'a str,
}

/// The branches whose numbers have another type on the second side, and the same one in memory.
pub(super) fn changed(
    tables: &Tables<'_>,
    found: &Comparison,
    names: &[String],
    tolerance: &dyn Fn(&str) -> Option<Tolerance>,
) -> Reshaped {
    let tolerated = found.changed.iter().filter_map(|&branch| {
        let other = found.map.get(branch).copied().flatten()?;
        let name = names.get(branch)?.as_str();
        Some(Tolerated { tops: (branch, other), tolerance: tolerance(name)?, name })
    });
    let tolerated: Vec<Tolerated<'_>> = tolerated.collect();
    let mut reshaped = Reshaped::default();
    for (one, pair) in pairs(tables, &tolerated) {
        reshaped.branches[0].insert(one.tops.0);
        reshaped.branches[1].insert(one.tops.1);
        reshaped.pairs.push(pair);
    }
    reshaped
}

/// Among branches with other bytes those that have a tolerance, by the number of the pair of branches, each with the number of the
/// values to compare.
pub(super) fn unequal(
    tables: &Tables<'_>,
    branches: &[Unequal<'_>],
    names: &[&str],
    tolerance: &dyn Fn(&str) -> Option<Tolerance>,
) -> (Vec<(usize, usize)>, Reshaped) {
    let (mut numbers, mut reshaped) = (Vec::new(), Reshaped::default());
    let tolerated = branches.iter().filter_map(|(number, tops, _)| {
        let name = names.get(*number).copied()?;
        Some((*number, Tolerated { tops: *tops, tolerance: tolerance(name)?, name }))
    });
    let (of_pairs, tolerated): (Vec<usize>, Vec<Tolerated<'_>>) = tolerated.unzip();
    for (one, pair) in pairs(tables, &tolerated) {
        let number =
            tolerated.iter().zip(&of_pairs).find(|(other, _)| other.tops == one.tops).map(|(_, number)| *number);
        numbers.extend(number.map(|number| (number, reshaped.pairs.len())));
        reshaped.pairs.push(pair);
    }
    (numbers, reshaped)
}

/// The values of pairs that hold floating-point numbers of the same type in memory.
fn pairs<'t, 'a>(tables: &Tables<'_>, tolerated: &'t [Tolerated<'a>]) -> Vec<(&'t Tolerated<'a>, ValuePair)> {
    let branches: Vec<_> = tolerated.iter().map(|one| NamedBranches { tops: one.tops, name: one.name }).collect();
    let pairs = branch_values::pairs(tables, &branches, &holds_floats).into_iter();
    let with_tolerance = pairs.filter_map(|(number, mut pair)| {
        let one = tolerated.get(number)?;
        pair.tolerance = Some(one.tolerance);
        Some((one, pair))
    });
    with_tolerance.collect()
}

fn holds_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float32 | DataType::Float64 => true,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => holds_floats(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| holds_floats(field.data_type())),
        _ => false,
    }
}
