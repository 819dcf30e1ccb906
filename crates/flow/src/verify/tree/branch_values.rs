//! Branches of both sides as values: pairs that are decoded, whatever their bytes; and the values of a first entry that differs, which say
//! more than its bytes.

use std::collections::HashSet;

use arrow_schema::DataType;

use super::reshaped::{Tables, Tops, views};
use crate::plan::tree::{View, top_of};
use crate::table::piece::Files;
use crate::verify::column_values::{PairSide, ValuePair};
use crate::verify::tasks::{ColumnDifference, DifferenceKind};

/// Columns whose values are told. Each takes a basket of both sides; where more differ, nobody reads them all.
const MOST_TOLD: usize = 100;

/// Branches of both sides that correspond, and their name.
#[derive(Clone, Copy)]
pub(super) struct NamedBranches<'a> {
    pub tops: Tops,
    pub name: &'a str,
}

/// The values of branches that both sides can decode into one type that fits, each with the number of its branches.
pub(super) fn pairs(
    tables: &Tables<'_>,
    branches: &[NamedBranches<'_>],
    fits: &dyn Fn(&DataType) -> bool,
) -> Vec<(usize, ValuePair)> {
    // Views are of the branches at the top.
    let top = |side: usize, branch: usize| tables.plans.get(side).map_or(branch, |plan| top_of(&plan.tree, branch));
    let tops: HashSet<Tops> = branches.iter().map(|one| (top(0, one.tops.0), top(1, one.tops.1))).collect();
    if tops.is_empty() {
        return Vec::new();
    }
    let [first, second] = &views(tables, &tops.into_iter().collect::<Vec<_>>());
    let pair = |(number, one): (usize, &NamedBranches<'_>)| {
        let plan = |view: &View<'_>, branch: usize| view.plans.iter().find(|plan| plan.branch() == branch).cloned();
        let (ours, theirs) = (plan(first, one.tops.0)?, plan(second, one.tops.1)?);
        let alike = ours.field().data_type() == theirs.field().data_type() && fits(ours.field().data_type());
        if !alike || ours.opaque().or(theirs.opaque()).is_some() {
            return None;
        }
        let sides = [first.source(one.tops.0)?, second.source(one.tops.1)?];
        let sides = sides.map(|source| PairSide::Branches { sources: vec![source], whole: None });
        Some((number, ValuePair::new(one.name.to_owned(), sides, None)))
    };
    branches.iter().enumerate().filter_map(pair).collect()
}

/// Tells values instead of bytes, where both sides can be decoded and the values differ.
pub(super) fn tell(
    tables: &Tables<'_>,
    differing: &[NamedBranches<'_>],
    files: [&Files; 2],
    found: &mut [&mut ColumnDifference],
) {
    let some = differing.get(..differing.len().min(MOST_TOLD)).unwrap_or_default();
    for (number, pair) in pairs(tables, some, &|_| true) {
        let Some(difference) = found.get_mut(number) else { continue };
        // What cannot be decoded keeps the difference of its bytes.
        if let Ok(Some((member, what))) = pair.difference_in(difference.entry, files) {
            difference.kind = DifferenceKind::Member(member, what);
        }
    }
}
