//! Whether two Arrow types hold the same values.

use arrow_schema::DataType;

/// Whether two types have the same values: names of items and sizes of offsets do not count.
pub(super) fn is_same(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Struct(a), DataType::Struct(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| a.name() == b.name() && is_same(a.data_type(), b.data_type()))
        }
        (DataType::LargeList(a) | DataType::List(a), DataType::LargeList(b) | DataType::List(b)) => {
            // The slots of a `TClonesArray` may be empty: writing fails if some are.
            is_same(a.data_type(), b.data_type())
        }
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) => {
            n == m && is_same(a.data_type(), b.data_type())
        }
        (a, b) => a == b,
    }
}
