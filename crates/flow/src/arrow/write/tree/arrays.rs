//! The arrays of all branches for a batch of entries: columns found by name, brought to their types, counters filled in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use rootfile::{Error, Result};

use super::plan::TreePlan;
use crate::arrow::write::batch_columns::{column_of, lengths, share_offsets};
use crate::arrow::write::conform::{Casting, conform};
use crate::execute::encode::stream_fill::Arrays;

/// The arrays of all branches for a batch.
pub(super) fn branch_arrays(plan: &TreePlan, batch: &RecordBatch, casting: Casting) -> Result<Box<Arrays>> {
    let given = |number: usize| column_of(batch, number, plan.wholes.get(number)?.field().name());
    let name = |number: usize| plan.wholes.get(number).map_or("", |whole| whole.field().name());
    let named = |number: usize| move |e: Error| e.object(format!("column {}", name(number)));
    let mut columns: Vec<Option<ArrayRef>> = Vec::with_capacity(plan.wholes.len());
    for (number, whole) in plan.wholes.iter().enumerate() {
        let conformed = given(number).map(|array| conform(&array, whole.field().data_type(), casting));
        columns.push(conformed.transpose().map_err(named(number))?);
    }
    let mut known: Option<(usize, ArrayRef)> = None;
    for &(counter, of) in &plan.counted {
        let counted = columns.get(of).and_then(Option::as_ref).ok_or_else(missing).map_err(named(of))?;
        if known.as_ref().is_some_and(|(by, lists)| *by == counter && share_offsets(lists, counted)) {
            continue;
        }
        known = Some((counter, Arc::clone(counted)));
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
    let of_branch = |(whole, part): (usize, usize)| parts.get(whole).and_then(|parts| parts.get(part)).cloned();
    plan.branches.iter().map(|branch| of_branch(branch.whole).ok_or_else(missing).map(Some)).collect()
}

#[cold]
fn missing() -> Error {
    Error::request("is missing from the batch")
}
