//! The columns of a batch by their names, and the lengths of their lists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use arrow_schema::DataType;
use rootfile::{Error, Result};

/// The column of a batch with a name; `number` is where it is if the batch has all columns in order.
pub(crate) fn column_of(batch: &RecordBatch, number: usize, name: &str) -> Option<ArrayRef> {
    // Most batches have all columns in order, and a look-up by name is slow with many columns.
    if batch.schema_ref().fields().get(number).is_some_and(|given| given.name() == name) {
        return batch.columns().get(number).cloned();
    }
    batch.column_by_name(name).or_else(|| batch.column_by_name(name.trim_end_matches('.'))).cloned()
}

/// Whether the lists of two arrays have the same offsets in memory, and so the same lengths: as those have that one counter counts.
pub(crate) fn share_offsets(one: &ArrayRef, other: &ArrayRef) -> bool {
    fn of<O: arrow_array::OffsetSizeTrait>(one: &ArrayRef, other: &ArrayRef) -> bool {
        let offsets = |array: &ArrayRef| array.as_list_opt::<O>().map(|list| list.offsets().as_ptr_range());
        offsets(one).is_some_and(|range| offsets(other) == Some(range))
    }
    of::<i64>(one, other) || of::<i32>(one, other)
}

/// Lengths of the lists of an array.
pub(crate) fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    fn of<O: arrow_array::OffsetSizeTrait>(array: &ArrayRef) -> Result<ArrayRef> {
        let offsets = array.as_list::<O>().offsets();
        let all = (offsets.last() - offsets.first()).as_usize();
        if i32::try_from(all).is_ok() {
            // No list is longer than all together, so lengths need no checks one by one.
            #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "less than 2^31")]
            let lengths = offsets.windows(2).map(|ends| (ends[1] - ends[0]).as_usize() as i32);
            return Ok(Arc::new(Int32Array::from_iter_values(lengths)));
        }
        let lengths = offsets.lengths().map(|n| i32::try_from(n).map_err(|_| too_long()));
        Ok(Arc::new(lengths.collect::<Result<Int32Array>>()?))
    }
    match array.data_type() {
        DataType::LargeList(_) => of::<i64>(array),
        DataType::List(_) => of::<i32>(array),
        other => Err(Error::request(format!("is {other}, not lists with a counter"))),
    }
}

#[cold]
fn too_long() -> Error {
    Error::request("a list has 2^31 items or more")
}
