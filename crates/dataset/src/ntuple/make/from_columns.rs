//! The fields for the columns of a tree, as ROOT's importer makes them.
//!
//! Facts: `RNTupleImporter.cxx`, `PrepareSchema`: a leaf is a field of its type, leaves of one branch are a record without a
//! type, dimensions are `std::array`s, text is a `std::string`, and lists with one counter are a collection with projections.
//! The importer drops the inner dimensions of such lists; here they keep them, in a collection of their own.

use std::collections::HashMap;

use rootfile::Result;
use rootfile::streamer::Range;

use super::new_field::{Counted, FieldKind, NewField};
use crate::glob::without_dimensions;
use crate::tree::make::{NewKind, NewLeaf};

/// The fields for these columns, given by name and content.
///
/// # Errors
///
/// If a leaf has an unknown type.
pub fn fields_of_columns<'a>(columns: impl Iterator<Item = (&'a str, &'a NewKind)> + Clone) -> Result<Vec<NewField>> {
    let mut fields: Vec<NewField> = Vec::new();
    // Where the collection with a counter is among the fields.
    let mut collections: HashMap<&str, usize> = HashMap::new();
    let counters: Vec<&str> = columns.clone().filter_map(|(_, kind)| counted(kind)?.counter.as_deref()).collect();
    // A counter is called by its leaf.
    let is_counter = |kind: &NewKind| leaf_of(kind).is_some_and(|leaf| counters.contains(&leaf.name.as_str()));
    let column_of = |counter: &str| {
        let mut named = columns.clone().filter(|(_, kind)| leaf_of(kind).is_some_and(|leaf| leaf.name == counter));
        named.next().map(|(name, _)| field_name(name))
    };
    for (name, kind) in columns.clone() {
        let own = field_name(name);
        match kind {
            _ if is_counter(kind) => {}
            NewKind::Class { type_name, clones } => {
                // The objects of an array of one class are those of a vector, and split.
                let type_name =
                    clones.as_ref().map_or_else(|| type_name.clone(), |class| format!("std::vector<{class}>"));
                fields.push(NewField::typed(&own, &type_name));
            }
            NewKind::Leaves(leaves) => match (counted(kind), leaves.as_slice()) {
                (Some(leaf), _) => {
                    let counter = leaf.counter.as_deref().unwrap_or_default();
                    let next = collections.len();
                    let at = *collections.entry(counter).or_insert_with(|| {
                        let kind = FieldKind::Counted(Counted { counter: column_of(counter), members: Vec::new() });
                        fields.push(NewField { name: format!("_collection{next}"), kind });
                        fields.len() - 1
                    });
                    if let Some(NewField { kind: FieldKind::Counted(counted), .. }) = fields.get_mut(at) {
                        counted.members.push((own, item(leaf)?.to_owned()));
                    }
                }
                (None, [leaf]) => fields.push(NewField { name: own, kind: leaf_kind(leaf)? }),
                (None, leaves) => {
                    let parts =
                        leaves.iter().map(|leaf| Ok(NewField { name: field_name(&leaf.name), kind: leaf_kind(leaf)? }));
                    fields.push(NewField { name: own, kind: FieldKind::Record(parts.collect::<Result<_>>()?) });
                }
            },
        }
    }
    Ok(fields)
}

/// The leaf of a column of one.
fn leaf_of(kind: &NewKind) -> Option<&NewLeaf> {
    match kind {
        NewKind::Leaves(leaves) if leaves.len() == 1 => leaves.first(),
        _ => None,
    }
}

/// The leaf of a column of lists of numbers that another column counts.
fn counted(kind: &NewKind) -> Option<&NewLeaf> {
    leaf_of(kind).filter(|leaf| leaf.counter.is_some() && leaf.dims.is_empty() && leaf.letter != 'C')
}

/// The name of a column as a field's.
pub fn field_name(name: &str) -> String {
    without_dimensions(name.trim_end_matches('.')).replace(['.', '/', '\\', ' '], "_")
}

/// The content of one leaf.
fn leaf_kind(leaf: &NewLeaf) -> Result<FieldKind> {
    let item = FieldKind::Type(item(leaf)?.to_owned());
    let fixed = leaf.dims.iter().rev().fold(item, |item, size| FieldKind::Fixed(u64::from(*size), Box::new(item)));
    Ok(if leaf.counter.is_some() { FieldKind::Collection(Box::new(fixed)) } else { fixed })
}

/// The type of one item of a leaf.
fn item(leaf: &NewLeaf) -> Result<&'static str> {
    Ok(match leaf.letter {
        'O' => "bool",
        // A number: as a `char` other readers take its values for those of characters, without a sign.
        'B' => "std::int8_t",
        'b' => "std::uint8_t",
        'S' => "std::int16_t",
        's' => "std::uint16_t",
        'I' => "std::int32_t",
        'i' => "std::uint32_t",
        'L' | 'G' => "std::int64_t",
        'l' | 'g' => "std::uint64_t",
        'F' | 'f' => "float",
        'D' => "double",
        // Integers within a range: a value between two floats would change.
        'd' if Range::of_title(&leaf.packing).is_some_and(|range| range.factor().is_some()) => "double",
        'd' => "Double32_t",
        'C' => "std::string",
        other => return Err(rootfile::Error::request(format!("{other:?} is not a type of leaves"))),
    })
}
