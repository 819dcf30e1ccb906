//! Folds: all values of an entry, of all levels of its lists, to one. Absent values are passed over.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Float64Array, Int64Array, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, NullBuffer};

use super::at::At;
use crate::error::Result;
use crate::typed::Fold;
use crate::values::Values;

pub(super) fn fold(fold: Fold, values: &Values, at: &At<'_>) -> Result<Values> {
    let bounds = values.bounds();
    let leaf: ArrayRef = match fold {
        Fold::Any | Fold::All => Arc::new(truth(fold == Fold::All, &values.leaf, &bounds)),
        Fold::Mean => {
            let numbers = values.leaf.as_primitive::<Float64Type>();
            Arc::new(Float64Array::from_iter_values(ranges(&bounds).map(|range| mean(numbers, range))))
        }
        Fold::ArgMin | Fold::ArgMax => match by_type(&values.leaf) {
            Numbers::Doubles(array) => Arc::new(places(array, &bounds, fold == Fold::ArgMin)),
            Numbers::Wholes(array) => Arc::new(places(array, &bounds, fold == Fold::ArgMin)),
            Numbers::Unsigned(array) => Arc::new(places(array, &bounds, fold == Fold::ArgMin)),
        },
        Fold::Min | Fold::Max => match by_type(&values.leaf) {
            Numbers::Doubles(array) => Arc::new(extremes(array, &bounds, fold == Fold::Min)),
            Numbers::Wholes(array) => Arc::new(extremes(array, &bounds, fold == Fold::Min)),
            Numbers::Unsigned(array) => Arc::new(extremes(array, &bounds, fold == Fold::Min)),
        },
        Fold::Sum => match by_type(&values.leaf) {
            Numbers::Doubles(array) => {
                let sum = |range| present(array, range).fold(0.0, |sum, (_, value)| sum + value);
                Arc::new(Float64Array::from_iter_values(ranges(&bounds).map(sum)))
            }
            Numbers::Wholes(array) => Arc::new(sums(array, &bounds, at, i64::checked_add)?),
            Numbers::Unsigned(array) => Arc::new(sums(array, &bounds, at, u64::checked_add)?),
        },
    };
    Ok(Values::flat(leaf))
}

enum Numbers<'a> {
    Doubles(&'a PrimitiveArray<Float64Type>),
    Wholes(&'a PrimitiveArray<Int64Type>),
    Unsigned(&'a PrimitiveArray<UInt64Type>),
}

fn by_type(leaf: &ArrayRef) -> Numbers<'_> {
    if let Some(doubles) = leaf.as_primitive_opt::<Float64Type>() {
        return Numbers::Doubles(doubles);
    }
    leaf.as_primitive_opt::<UInt64Type>()
        .map_or_else(|| Numbers::Wholes(leaf.as_primitive::<Int64Type>()), Numbers::Unsigned)
}

fn ranges(bounds: &[usize]) -> impl Iterator<Item = Range<usize>> {
    bounds.iter().zip(bounds.iter().skip(1)).map(|(start, end)| *start..*end)
}

/// The values that are there, each with its place.
fn present<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    range: Range<usize>,
) -> impl Iterator<Item = (usize, T::Native)> {
    let values = array.values().get(range.clone()).unwrap_or_default();
    range.zip(values.iter().copied()).filter(|(place, _)| array.is_valid(*place))
}

fn truth(all: bool, leaf: &ArrayRef, bounds: &[usize]) -> BooleanArray {
    let truth = leaf.as_boolean();
    let there = truth.nulls().map(NullBuffer::inner);
    // What decides: a value that is true for any, one that is false for all.
    let bits = if all { !truth.values() } else { truth.values().clone() };
    let bits = there.map_or_else(|| bits.clone(), |there| &bits & there);
    let mut decisive = bits.set_indices().peekable();
    let mut rows = ranges(bounds);
    let found = BooleanBuffer::collect_bool(bounds.len().saturating_sub(1), |_| {
        let range = rows.next().unwrap_or(0..0);
        let mut has = false;
        while decisive.next_if(|place| *place < range.end).is_some() {
            has = true;
        }
        has != all
    });
    BooleanArray::from(found)
}

fn mean(numbers: &PrimitiveArray<Float64Type>, range: Range<usize>) -> f64 {
    let (sum, count) = present(numbers, range).fold((0.0, 0.0), |(sum, count), (_, value)| (sum + value, count + 1.0));
    sum / count
}

fn sums<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    bounds: &[usize],
    at: &At<'_>,
    add: impl Fn(T::Native, T::Native) -> Option<T::Native>,
) -> Result<PrimitiveArray<T>> {
    let mut found = Vec::with_capacity(bounds.len());
    for (row, range) in ranges(bounds).enumerate() {
        let sum = present(array, range).try_fold(T::Native::default(), |sum, (_, value)| add(sum, value));
        found.push(sum.ok_or_else(|| at.error(row, "a sum of whole numbers does not fit into 64 bits"))?);
    }
    Ok(PrimitiveArray::new(found.into(), None))
}

/// The place and the value of the smallest or largest value. NaN is passed over, unless there is nothing else.
fn extreme<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    range: Range<usize>,
    is_min: bool,
) -> Option<(usize, T::Native)> {
    present(array, range).reduce(|best, next| {
        let (low, high) = if is_min { (next.1, best.1) } else { (best.1, next.1) };
        let is_nan = |value: T::Native| value.partial_cmp(&value).is_none();
        let is_better = low < high || (is_nan(best.1) && !is_nan(next.1));
        if is_better { next } else { best }
    })
}

fn extremes<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, bounds: &[usize], is_min: bool) -> PrimitiveArray<T> {
    ranges(bounds).map(|range| extreme(array, range, is_min).map(|(_, value)| value)).collect()
}

fn places<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, bounds: &[usize], is_min: bool) -> Int64Array {
    let place = |range: Range<usize>| {
        let start = range.start;
        extreme(array, range, is_min).and_then(|(place, _)| i64::try_from(place - start).ok())
    };
    ranges(bounds).map(place).collect()
}
