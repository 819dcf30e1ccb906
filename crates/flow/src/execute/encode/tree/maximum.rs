//! The largest value of a column that counts the items of others.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;

/// The largest number of an array, or the length of its longest text plus one for the final zero.
pub(crate) fn largest_value(array: &ArrayRef) -> u64 {
    downcast_integer_array!(
        array => array.values().iter().filter_map(|value| value.to_usize()).max().unwrap_or(0) as u64,
        DataType::LargeUtf8 => array.as_string::<i64>().offsets().lengths().max().unwrap_or(0) as u64 + 1,
        _ => 0
    )
}
