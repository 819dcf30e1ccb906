//! The arrays of all inputs of an RNTuple for a batch of entries: found by name and brought to their types; lists with one
//! counter are checked against it.

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;
use dataset::ntuple::make::{Input, InputUse};
use rootfile::{Error, Result};

use super::plan::NtuplePlan;
use crate::arrow::write::batch_columns::{column_of, lengths, share_offsets};
use crate::arrow::write::conform::{Casting, conform};
use crate::execute::encode::stream_fill::Arrays;

/// The arrays of those inputs that a batch has.
pub(super) fn given_arrays(plan: &NtuplePlan, batch: &RecordBatch, casting: Casting) -> Result<Vec<Option<ArrayRef>>> {
    let array = |(number, input): (usize, &Input)| {
        let name = input.field().name();
        let given = column_of(batch, number, name);
        let conformed = given.map(|array| conform(&array, input.field().data_type(), casting)).transpose();
        conformed.map_err(|e| e.object(format!("column {name}")))
    };
    plan.inputs.iter().enumerate().map(array).collect()
}

/// The arrays of all inputs for a batch. A counter may be missing.
pub(super) fn input_arrays(plan: &NtuplePlan, batch: &RecordBatch, casting: Casting) -> Result<Box<Arrays>> {
    let name = |number: usize| plan.inputs.get(number).map_or("", |input| input.field().name().as_str());
    let named = |number: usize| move |e: Error| e.object(format!("column {}", name(number)));
    let arrays = given_arrays(plan, batch, casting)?;
    for (number, (input, array)) in plan.inputs.iter().zip(&arrays).enumerate() {
        if array.is_none() && !matches!(input.used, InputUse::Counter { .. }) {
            return Err(named(number)(Error::request("is missing from the batch")));
        }
    }
    // Of each collection the lengths of the first member, and which one that is.
    let mut known: Vec<(usize, usize, ArrayRef)> = Vec::new();
    for (number, input) in plan.inputs.iter().enumerate() {
        let (InputUse::Member { of, .. }, Some(array)) = (input.used, arrays.get(number).and_then(Option::as_ref))
        else {
            continue;
        };
        let first = known.iter().find(|(collection, ..)| *collection == of);
        let lists = first.and_then(|(_, first, _)| arrays.get(*first)?.as_ref());
        if lists.is_some_and(|lists| share_offsets(lists, array)) {
            continue;
        }
        let found = lengths(array).map_err(named(number))?;
        match first {
            Some((_, first, wanted)) if !are_equal(wanted, &found) => {
                let why = format!("its lists have other lengths than those of {}", name(*first));
                return Err(named(number)(Error::request(why)));
            }
            Some(_) => {}
            None => known.push((of, number, found)),
        }
    }
    for (number, input) in plan.inputs.iter().enumerate() {
        let (InputUse::Counter { of }, Some(array)) = (input.used, arrays.get(number).and_then(Option::as_ref)) else {
            continue;
        };
        let counts = conform(array, &DataType::Int32, casting).map_err(named(number))?;
        if let Some((_, first, wanted)) = known.iter().find(|(collection, ..)| *collection == of)
            && !are_equal(wanted, &counts)
        {
            let why = format!("its lists have other lengths than {} says", name(number));
            return Err(named(*first)(Error::request(why)));
        }
    }
    Ok(arrays.into_boxed_slice())
}

fn are_equal(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.as_primitive::<Int32Type>().values() == b.as_primitive::<Int32Type>().values()
}
