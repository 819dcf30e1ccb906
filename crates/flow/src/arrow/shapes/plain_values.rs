//! Converts arrays to the plain types of trees (`shapes`): numbers for times, lists for bytes, no missing values.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float64Array, LargeListArray, LargeStringArray, StructArray, UInt8Array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType};
use arrow_select::zip::zip;
use rootfile::{Error, Hint, Result};

/// Converts an array to a plain type. Missing numbers become `fill`, and missing texts and lists become empty. Without
/// `fill`, missing values are an error.
pub(super) fn to_plain(array: &ArrayRef, wanted: &DataType, fill: Option<f64>) -> Result<ArrayRef> {
    match (array.data_type(), wanted) {
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parts = array.as_struct();
            allow(parts.nulls(), fill)?;
            let columns = parts.columns().iter().zip(fields).map(|(part, field)| {
                to_plain(part, field.data_type(), fill).map_err(|e| e.object(field.name().clone()))
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, None, parts.len()).map_err(refused)?))
        }
        (DataType::List(_), DataType::LargeList(_)) => {
            let list = array.as_list::<i32>();
            let offsets = list.offsets().iter().map(|&offset| i64::from(offset)).collect();
            listed(offsets, list.values(), list.nulls(), wanted, fill)
        }
        (DataType::LargeList(_), DataType::LargeList(_)) => {
            let list = array.as_list::<i64>();
            listed(list.offsets().to_vec(), list.values(), list.nulls(), wanted, fill)
        }
        (DataType::Map(..), DataType::LargeList(_)) => {
            let map = array.as_map();
            let offsets = map.offsets().iter().map(|&offset| i64::from(offset)).collect();
            let entries: ArrayRef = Arc::new(map.entries().clone());
            listed(offsets, &entries, map.nulls(), wanted, fill)
        }
        (DataType::Binary | DataType::LargeBinary | DataType::BinaryView, DataType::LargeList(_)) => {
            let bytes = converted(array, &DataType::LargeBinary)?;
            let bytes = bytes.as_binary::<i64>();
            let items: ArrayRef = Arc::new(numbers(bytes.values().clone()));
            listed(bytes.offsets().to_vec(), &items, bytes.nulls(), wanted, fill)
        }
        (DataType::FixedSizeBinary(_), DataType::FixedSizeList(field, size)) => {
            let bytes = array.as_fixed_size_binary();
            allow(bytes.nulls(), fill)?;
            let items = Arc::new(numbers(Buffer::from(bytes.value_data())));
            Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(field), *size, items, None).map_err(refused)?))
        }
        (DataType::FixedSizeList(_, size), DataType::LargeList(_)) => {
            let list = array.as_fixed_size_list();
            let size = i64::from(*size);
            let offsets = std::iter::successors(Some(0), |at| Some(at + size)).take(list.len() + 1).collect();
            allow(list.nulls(), fill)?;
            listed(offsets, list.values(), None, wanted, fill)
        }
        (DataType::FixedSizeList(..), DataType::FixedSizeList(field, size)) => {
            let list = array.as_fixed_size_list();
            allow(list.nulls(), fill)?;
            let items = to_plain(list.values(), field.data_type(), fill)?;
            Ok(Arc::new(FixedSizeListArray::try_new(Arc::clone(field), *size, items, None).map_err(refused)?))
        }
        _ => filled(&converted(array, wanted)?, fill),
    }
}

fn numbers(bytes: Buffer) -> UInt8Array {
    UInt8Array::new(ScalarBuffer::from(bytes), None)
}

fn converted(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, wanted, &strict).map_err(|e| Error::request(e.to_string()))
}

/// Fails on missing values, unless a replacement is given.
fn allow(nulls: Option<&NullBuffer>, fill: Option<f64>) -> Result<()> {
    match nulls.map_or(0, NullBuffer::null_count) {
        0 => Ok(()),
        _ if fill.is_some() => Ok(()),
        missing => {
            let fill = Hint::named("fill-null").that("NUMBER writes that instead (texts and lists become empty)");
            let drop = Hint::named("drop").that("leaves the column out");
            let ways = format!("{}, {}", fill.clause(), drop.clause());
            let what = format!("has missing values ({missing} at once), which a tree cannot hold; {ways}");
            Err(Error::request(what).hint(fill).hint(drop))
        }
    }
}

fn listed(
    offsets: Vec<i64>,
    items: &ArrayRef,
    nulls: Option<&NullBuffer>,
    wanted: &DataType,
    fill: Option<f64>,
) -> Result<ArrayRef> {
    let DataType::LargeList(field) = wanted else { return Err(Error::unsupported("lists of another kind")) };
    allow(nulls, fill)?;
    let mut ends = offsets.windows(2).zip(nulls.into_iter().flatten());
    if ends.any(|(ends, there)| !there && ends[0] != ends[1]) {
        return Err(Error::corrupt("lists that are missing and have items"));
    }
    // Items outside these lists are ignored.
    let (first, last) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
    let place = |offset: i64| usize::try_from(offset).map_err(|_| Error::corrupt("lists with negative offsets"));
    let (start, end) = (place(first)?, place(last)?);
    let items = to_plain(&items.slice(start, end.saturating_sub(start)), field.data_type(), fill)?;
    let offsets = OffsetBuffer::new(offsets.into_iter().map(|offset| offset - first).collect());
    Ok(Arc::new(LargeListArray::try_new(Arc::clone(field), offsets, items, None).map_err(refused)?))
}

/// The array with missing values replaced.
fn filled(array: &ArrayRef, fill: Option<f64>) -> Result<ArrayRef> {
    let Some(nulls) = array.logical_nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(Arc::clone(array));
    };
    allow(Some(&nulls), fill)?;
    let number: ArrayRef = Arc::new(Float64Array::from(vec![fill.unwrap_or(0.0)]));
    let value = match array.data_type() {
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(vec![""])) as ArrayRef,
        of => converted(&number, of).ok().filter(|made| is_value(made, fill.unwrap_or(0.0))).ok_or_else(|| {
            let fill = Hint::number("fill-null", fill.unwrap_or(0.0));
            Error::request(format!("{fill} is no {of}")).hint(fill)
        })?,
    };
    let there = arrow_array::BooleanArray::new(nulls.into_inner(), None);
    zip(&there, array, &arrow_array::Scalar::new(value)).map_err(refused)
}

/// Whether a replacement is the number that was given, up to the digits of a floating-point number.
fn is_value(made: &ArrayRef, number: f64) -> bool {
    let back = converted(made, &DataType::Float64).ok();
    let back =
        back.as_ref().and_then(|back| back.as_primitive_opt::<Float64Type>()).map_or(f64::NAN, |back| back.value(0));
    if made.data_type().is_floating() { back.is_finite() == number.is_finite() } else { back == number }
}

fn refused(error: ArrowError) -> Error {
    Error::corrupt(error.to_string())
}
