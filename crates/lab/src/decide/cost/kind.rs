//! Kinds of branches whose values take different times to read.
//!
//! ROOT reads a leaf by a loop over its bytes, members by the actions of a streamer info, and whole objects by as many
//! actions as they have members. Array libraries read numbers at once, and objects one by one.

use arrow_schema::DataType;
use dataset::decode::ColumnPlan;
use dataset::tree::{Branch, BranchKind};
use serde::{Deserialize, Serialize};

/// The kind of values in a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Leaves of a fixed size: numbers, and arrays of as many in each entry.
    #[default]
    Number,
    /// Leaves of varying size: arrays with a counter, and texts.
    Array,
    /// Numbers and texts, or lists of numbers, that are members of split classes or collections of their own.
    Member,
    /// Lists of lists and of texts, and maps of numbers and texts.
    Nested,
    /// One object in each entry, which has as many numbers in all entries.
    Single,
    /// Everything else: collections of objects, objects with texts and lists, and branches that cannot be decoded.
    Object,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Number, Self::Array, Self::Member, Self::Nested, Self::Single, Self::Object];

    /// As it is written in profiles.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Array => "array",
            Self::Member => "member",
            Self::Nested => "nested",
            Self::Single => "single",
            Self::Object => "object",
        }
    }

    /// The kind of a branch, by its own metadata and how it is decoded.
    pub(crate) fn of(branch: &Branch, plan: Option<&ColumnPlan>) -> Self {
        match branch.kind {
            BranchKind::Plain | BranchKind::Ref { .. } if branch.entry_offset_len == 0 => return Self::Number,
            BranchKind::Plain | BranchKind::Ref { .. } => return Self::Array,
            // Each of its entries is an object with a header of its own.
            BranchKind::Object { .. } => return Self::Object,
            BranchKind::Element(_) | BranchKind::Clones(_) => {}
        }
        plan.map_or(Self::Object, |plan| Self::of_elements(plan.field().data_type()))
    }

    /// The kind of a branch of a class or a collection, by what its entries are.
    fn of_elements(data_type: &DataType) -> Self {
        match data_type {
            data_type if is_flat(data_type) => Self::Member,
            data_type if is_nested(data_type) => Self::Nested,
            DataType::Struct(_) if is_of_numbers(data_type) => Self::Single,
            _ => Self::Object,
        }
    }

    /// The kind that stands for this one in profiles of earlier versions, which did not have it.
    pub(crate) fn of_earlier(self) -> Self {
        match self {
            Self::Nested | Self::Single => Self::Object,
            other => other,
        }
    }
}

/// Bytes of a value before compression, on average over the numbers in an entry; 1 where nothing is known.
pub(crate) fn value_bytes(plan: Option<&ColumnPlan>) -> f64 {
    let (mut bytes, mut numbers) = (0.0, 0.0);
    if let Some(plan) = plan {
        add_up(plan.field().data_type(), 1.0, &mut (&mut bytes, &mut numbers));
    }
    if numbers > 0.0 { bytes / numbers } else { 1.0 }
}

/// Adds up bytes and numbers of a type; a list of variable length counts as one item.
fn add_up(data_type: &DataType, times: f64, sums: &mut (&mut f64, &mut f64)) {
    match data_type {
        DataType::Struct(fields) => fields.iter().for_each(|field| add_up(field.data_type(), times, sums)),
        DataType::FixedSizeList(item, n) => add_up(item.data_type(), times * f64::from(*n), sums),
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            add_up(item.data_type(), times, sums);
        }
        other => {
            *sums.0 += times * width(other).unwrap_or(1.0);
            *sums.1 += times;
        }
    }
}

/// Bytes of an item, where the entries are lists of numbers and all items have as many.
pub(crate) fn item_bytes(plan: &ColumnPlan) -> Option<f64> {
    fn fixed(data_type: &DataType) -> Option<f64> {
        match data_type {
            DataType::FixedSizeList(item, n) => Some(f64::from(*n) * fixed(item.data_type())?),
            other => width(other),
        }
    }
    match plan.field().data_type() {
        DataType::List(item) | DataType::LargeList(item) => fixed(item.data_type()),
        _ => None,
    }
}

/// Bytes of a number in a basket.
fn width(data_type: &DataType) -> Option<f64> {
    match data_type {
        DataType::Boolean => Some(1.0),
        other => Some(f64::from(u32::try_from(other.primitive_width()?).ok()?)),
    }
}

/// Numbers, texts, and lists of numbers.
fn is_flat(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => {
            item.data_type().is_primitive() || is_fixed(item.data_type())
        }
        other => other.is_primitive() || is_fixed(other) || matches!(other, DataType::Utf8 | DataType::LargeUtf8),
    }
}

/// Lists and maps of what is no object, to any depth.
fn is_nested(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => is_nested(item.data_type()),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(both) => both.iter().all(|field| is_nested(field.data_type())),
            _ => false,
        },
        other => is_flat(other),
    }
}

/// Numbers, and objects of numbers, to any depth.
fn is_of_numbers(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => fields.iter().all(|field| is_of_numbers(field.data_type())),
        other => other.is_primitive() || is_fixed(other),
    }
}

/// Flags, and as many numbers in each.
fn is_fixed(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean => true,
        DataType::FixedSizeList(item, _) => item.data_type().is_primitive() || is_fixed(item.data_type()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, FieldRef};

    use super::*;

    fn field(data_type: DataType) -> FieldRef {
        Arc::new(Field::new("item", data_type, false))
    }

    fn list(of: DataType) -> DataType {
        DataType::LargeList(field(of))
    }

    fn object(of: &[DataType]) -> DataType {
        DataType::Struct(of.iter().map(|data_type| field(data_type.clone())).collect())
    }

    #[test]
    fn kinds_follow_what_the_entries_are() {
        let (number, text) = (DataType::Float64, DataType::LargeUtf8);
        let vector = object(&[number.clone(), number.clone(), DataType::Boolean]);
        let map = DataType::Map(field(object(&[text.clone(), number.clone()])), false);
        for (data_type, kind) in [
            (number.clone(), Kind::Member),
            (text.clone(), Kind::Member),
            (list(number.clone()), Kind::Member),
            (list(text.clone()), Kind::Nested),
            (list(list(number.clone())), Kind::Nested),
            (map, Kind::Nested),
            (vector.clone(), Kind::Single),
            (object(&[vector.clone(), number]), Kind::Single),
            (object(&[vector.clone(), text]), Kind::Object),
            (list(vector), Kind::Object),
        ] {
            assert_eq!(Kind::of_elements(&data_type), kind, "{data_type:?}");
        }
    }
}
