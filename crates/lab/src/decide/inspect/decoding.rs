//! How entries of a branch or a field become values: kinds that differ in speed.

use arrow_schema::DataType;
use dataset::decode::ColumnPlan;
use dataset::ntuple::decode::FieldPlan;

use super::values::Decoded;

/// How a column is decoded.
pub fn decoded(plan: &ColumnPlan) -> Decoded {
    match plan.opaque() {
        Some(_) => Decoded::Bytes,
        None => of_type(plan.field().data_type()),
    }
}

/// How a field of an RNTuple is decoded.
pub fn of_field(plan: &FieldPlan) -> Decoded {
    match plan.opaque() {
        Some(_) => Decoded::Bytes,
        None => of_type(plan.field().data_type()),
    }
}

/// Whether a column holds objects with members, which could have branches of their own.
pub(crate) fn can_be_split(plan: &ColumnPlan) -> bool {
    plan.opaque().is_none() && decoded(plan) == Decoded::Objects && has_members(plan.field().data_type())
}

fn has_members(data_type: &DataType) -> bool {
    match data_type {
        DataType::Struct(fields) => !fields.is_empty(),
        // ROOT splits a collection of objects, but not a collection of collections.
        DataType::LargeList(item) => matches!(item.data_type(), DataType::Struct(fields) if !fields.is_empty()),
        _ => false,
    }
}

fn of_type(data_type: &DataType) -> Decoded {
    match data_type {
        DataType::LargeUtf8 => Decoded::Lists,
        DataType::FixedSizeList(item, _) => of_type(item.data_type()),
        DataType::LargeList(item) if is_number(item.data_type()) => Decoded::Lists,
        DataType::Struct(fields) if fields.iter().all(|f| of_type(f.data_type()) == Decoded::Numbers) => {
            Decoded::Numbers
        }
        other if is_number(other) => Decoded::Numbers,
        _ => Decoded::Objects,
    }
}

/// Whether values are contiguous numbers.
fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::FixedSizeList(item, _) => is_number(item.data_type()),
        other => other.is_numeric() || *other == DataType::Boolean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Field;
    use std::sync::Arc;

    #[test]
    fn kinds() {
        let list = |item: DataType| DataType::LargeList(Arc::new(Field::new("item", item, false)));
        let record = |item: DataType| DataType::Struct(vec![Field::new("a", item, false)].into());
        let fixed = |item: DataType| DataType::FixedSizeList(Arc::new(Field::new("item", item, false)), 3);
        for (data_type, expected) in [
            (DataType::Float32, Decoded::Numbers),
            (fixed(DataType::Boolean), Decoded::Numbers),
            (record(DataType::Int8), Decoded::Numbers),
            (list(fixed(DataType::Int64)), Decoded::Lists),
            (DataType::LargeUtf8, Decoded::Lists),
            (list(list(DataType::Int64)), Decoded::Objects),
            (list(record(DataType::Int64)), Decoded::Objects),
            (list(DataType::LargeUtf8), Decoded::Objects),
            (record(DataType::LargeUtf8), Decoded::Objects),
        ] {
            assert_eq!(of_type(&data_type), expected, "{data_type}");
        }
    }
}
