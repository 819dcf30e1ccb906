//! The fields for the columns of a tree, as ROOT's importer makes them.
//!
//! Facts: `RNTupleImporter.cxx`, `PrepareSchema`: a leaf is a field of its type, leaves of one branch are a record without a
//! type, dimensions are `std::array`s, text is a `std::string`, and lists with one counter are a collection with projections.
//! The importer drops the inner dimensions of such lists; here they keep them, in a collection of their own.

use std::collections::HashMap;

use rootfile::Result;

use super::new_field::{Counted, FieldKind, NewField};
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
    let is_counter = |name: &str, kind: &NewKind| matches!(kind, NewKind::Leaves(leaves) if leaves.len() == 1) && counters.contains(&name);
    let has_column = |counter: &str| columns.clone().any(|(name, kind)| name == counter && is_counter(name, kind));
    for (name, kind) in columns.clone() {
        let own = field_name(name);
        match kind {
            _ if is_counter(name, kind) => {}
            NewKind::Class { type_name, clones } => {
                let type_name = if clones.is_some() { "TClonesArray" } else { type_name };
                fields.push(NewField::typed(&own, type_name));
            }
            NewKind::Leaves(leaves) => match (counted(kind), leaves.as_slice()) {
                (Some(leaf), _) => {
                    let counter = leaf.counter.as_deref().unwrap_or_default();
                    let next = collections.len();
                    let at = *collections.entry(counter).or_insert_with(|| {
                        let shown = has_column(counter).then(|| field_name(counter));
                        let kind = FieldKind::Counted(Counted { counter: shown, members: Vec::new() });
                        fields.push(NewField { name: format!("_collection{next}"), kind });
                        fields.len() - 1
                    });
                    if let Some(NewField { kind: FieldKind::Counted(counted), .. }) = fields.get_mut(at) {
                        counted.members.push((own, item(leaf)?.to_owned()));
                    }
                }
                (None, [leaf]) => fields.push(NewField { name: own, kind: leaf_kind(leaf)? }),
                (None, leaves) => {
                    let parts = leaves.iter().map(|leaf| Ok(NewField { name: field_name(&leaf.name), kind: leaf_kind(leaf)? }));
                    fields.push(NewField { name: own, kind: FieldKind::Record(parts.collect::<Result<_>>()?) });
                }
            },
        }
    }
    // A counter of lists with inner dimensions only counts no collection, so it is a field.
    for (name, kind) in columns {
        let NewKind::Leaves(leaves) = kind else { continue };
        let is_shown = collections.contains_key(name);
        if let (true, false, [leaf]) = (is_counter(name, kind), is_shown, leaves.as_slice()) {
            fields.push(NewField { name: field_name(name), kind: leaf_kind(leaf)? });
        }
    }
    Ok(fields)
}

/// The leaf of a column of lists of numbers that another column counts.
fn counted(kind: &NewKind) -> Option<&NewLeaf> {
    match kind {
        NewKind::Leaves(leaves) => match leaves.as_slice() {
            [leaf] if leaf.counter.is_some() && leaf.dims.is_empty() && leaf.letter != 'C' => Some(leaf),
            _ => None,
        },
        NewKind::Class { .. } => None,
    }
}

/// The name of a column as a field's.
pub fn field_name(name: &str) -> String {
    name.trim_end_matches('.').replace(['.', '/', '\\', ' '], "_")
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
        'B' => "char",
        'b' => "std::uint8_t",
        'S' => "std::int16_t",
        's' => "std::uint16_t",
        'I' => "std::int32_t",
        'i' => "std::uint32_t",
        'L' | 'G' => "std::int64_t",
        'l' | 'g' => "std::uint64_t",
        'F' | 'f' => "float",
        'D' => "double",
        'd' => "Double32_t",
        'C' => "std::string",
        other => return Err(rootfile::Error::request(format!("{other:?} is not a type of leaves"))),
    })
}
