//! The arrays of all branches for a batch of entries: columns found by name, brought to their types, counters filled in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::DataType;
use rootfile::{Error, Result};

use super::conform::{Casting, conform};
use super::tree_plan::TreePlan;

/// The arrays of all branches for a batch.
pub(crate) fn branch_arrays(plan: &TreePlan, batch: &RecordBatch, casting: Casting) -> Result<Vec<ArrayRef>> {
    let given = |number: usize| column_of(batch, number, plan.wholes.get(number)?.field().name());
    let name = |number: usize| plan.wholes.get(number).map_or("", |whole| whole.field().name());
    let named = |number: usize| move |e: Error| e.object(format!("column {}", name(number)));
    let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(plan.wholes.len());
    for (number, whole) in plan.wholes.iter().enumerate() {
        let conformed = given(number).map(|array| conform(&array, whole.field().data_type(), casting));
        columns.push(conformed.transpose().map_err(named(number))?);
    }
    for &(counter, of) in &plan.counted {
        let counted = columns.get(of).and_then(Option::as_ref).ok_or_else(missing).map_err(named(of))?;
        let wanted = lengths(counted).map_err(named(of))?;
        let Some(count) = columns.get_mut(counter) else { continue };
        let count = match count {
            Some(count) => count,
            None => {
                let field = plan.wholes.get(counter).map(|whole| whole.field().data_type());
                let made = conform(&wanted, field.unwrap_or(&DataType::Int32), casting).map_err(named(counter))?;
                count.insert(made)
            }
        };
        let same = conform(count, &DataType::Int32, casting).map_err(named(counter))?;
        if same.as_primitive::<Int32Type>().values() != wanted.as_primitive::<Int32Type>().values() {
            let why = format!("its lists have other lengths than {} says", name(counter));
            return Err(named(of)(Error::request(why)));
        }
    }
    let mut parts = Vec::with_capacity(columns.len());
    for (number, (whole, array)) in plan.wholes.iter().zip(columns).enumerate() {
        let array = array.ok_or_else(missing).map_err(named(number))?;
        parts.push(whole.project(&array).map_err(named(number))?);
    }
    plan.branches
        .iter()
        .map(|branch| {
            let (whole, part) = branch.whole;
            parts.get(whole).and_then(|parts| parts.get(part)).cloned().ok_or_else(missing)
        })
        .collect()
}

/// The column of a batch with a name; `number` is where it is if the batch has all columns in order.
pub(crate) fn column_of(batch: &RecordBatch, number: usize, name: &str) -> Option<ArrayRef> {
    // Most batches have all columns in order, and a look-up by name is slow with many columns.
    if batch.schema_ref().fields().get(number).is_some_and(|given| given.name() == name) {
        return batch.columns().get(number).cloned();
    }
    batch.column_by_name(name).or_else(|| batch.column_by_name(name.trim_end_matches('.'))).cloned()
}

#[cold]
fn missing() -> Error {
    Error::request("is missing from the batch")
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
