//! Converts an array to the type of its column without loss: offsets of another width, fields of records in another order,
//! numbers that fit. A lossy conversion fails with the path of the field. Floating-point numbers may lose digits if the
//! writer allows it.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, LargeListArray, StructArray, UnionArray, new_empty_array};
use arrow_buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, FieldRef, UnionMode};
use rootfile::{Error, Result};

/// Which arrays of other types a column accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Casting {
    /// Arrays whose values it can hold exactly: integers that fit, narrower floating-point numbers.
    #[default]
    Exact,
    /// Also arrays of the same kind (NumPy's `same_kind`, as in uproot's writer): wide floating-point numbers are rounded to
    /// narrow ones. Integers must fit all the same.
    SameKind,
}

/// Converts an array to a type.
pub(crate) fn conform(array: &ArrayRef, wanted: &DataType, casting: Casting) -> Result<ArrayRef> {
    if array.data_type() == wanted {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), wanted) {
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parts = array.as_struct();
            let columns = fields.iter().map(|field| {
                let name = field.name();
                let part = parts.column_by_name(name).ok_or_else(|| Error::request(format!("has no field {name}")))?;
                conform(part, field.data_type(), casting).map_err(|e| e.object(name.clone()))
            });
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let made = StructArray::try_new_with_length(fields.clone(), columns, parts.nulls().cloned(), parts.len());
            Ok(Arc::new(made.map_err(refused)?))
        }
        // Parts are told by their types, which count from 1: see the types of RNTuple fields.
        (DataType::Union(parts, UnionMode::Dense), DataType::Union(wanted, UnionMode::Dense))
            if parts.iter().map(|(tag, _)| tag).eq(wanted.iter().map(|(tag, _)| tag)) =>
        {
            let union = array.as_union();
            let child = |(tag, field): (i8, &FieldRef)| {
                conform(union.child(tag), field.data_type(), casting).map_err(|e| e.object(format!("part {tag}")))
            };
            let children = wanted.iter().map(child).collect::<Result<Vec<_>>>()?;
            let (tags, places) = (union.type_ids().clone(), union.offsets().cloned());
            let made = UnionArray::try_new(wanted.clone(), tags, places, children);
            Ok(Arc::new(made.map_err(refused)?))
        }
        (DataType::List(_), DataType::LargeList(field)) => {
            let list = array.as_list::<i32>();
            let offsets: Vec<i64> = list.offsets().iter().map(|offset| i64::from(*offset)).collect();
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            large_list(offsets, list.values(), (field, list.nulls()), casting)
        }
        (DataType::LargeList(_), DataType::LargeList(field)) => {
            let list = array.as_list::<i64>();
            large_list(list.offsets().clone(), list.values(), (field, list.nulls()), casting)
        }
        (DataType::FixedSizeList(_, size), DataType::FixedSizeList(field, wanted)) if size == wanted => {
            let items = conform(array.as_fixed_size_list().values(), field.data_type(), casting)?;
            let made = FixedSizeListArray::try_new(Arc::clone(field), *size, items, array.nulls().cloned());
            Ok(Arc::new(made.map_err(refused)?))
        }
        // Lists of one length, as NumPy gives them.
        (DataType::FixedSizeList(_, size), DataType::LargeList(field)) => {
            let lengths = std::iter::repeat_n(usize::try_from(*size).unwrap_or(0), array.len());
            let items = array.as_fixed_size_list().values();
            large_list(OffsetBuffer::from_lengths(lengths), items, (field, array.nulls()), casting)
        }
        // An empty array may have any type.
        _ if array.is_empty() => Ok(new_empty_array(wanted)),
        (from, _) if loses(from, wanted, casting) => {
            Err(Error::request(format!("is {from}, which cannot become {wanted} without loss; convert it first")))
        }
        _ => {
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, wanted, &strict).map_err(refused)
        }
    }
}

/// A list whose items are brought to the type of a field.
fn large_list(
    offsets: OffsetBuffer<i64>,
    items: &ArrayRef,
    (field, nulls): (&FieldRef, Option<&NullBuffer>),
    casting: Casting,
) -> Result<ArrayRef> {
    let items = conform(items, field.data_type(), casting)?;
    let made = LargeListArray::try_new(Arc::clone(field), offsets, items, nulls.cloned());
    Ok(Arc::new(made.map_err(refused)?))
}

/// Whether a conversion may change values. Integers are checked one by one when they are cast, floating-point numbers cannot
/// be.
fn loses(from: &DataType, to: &DataType, casting: Casting) -> bool {
    match (from, to) {
        (DataType::Float64, DataType::Float32) => casting == Casting::Exact,
        (from, to) if from.is_floating() => !to.is_floating(),
        (from, to) if from.is_integer() => !to.is_numeric(),
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, to) => !matches!(to, DataType::LargeUtf8),
        (DataType::Boolean, to) => !matches!(to, DataType::Boolean | DataType::UInt8 | DataType::Int8),
        (DataType::Null, _) => true,
        _ => false,
    }
}

fn refused(error: ArrowError) -> Error {
    Error::request(error.to_string())
}

#[cfg(test)]
mod tests {
    use arrow_array::types::{Float32Type, Int32Type};
    use arrow_array::{Float64Array, Int64Array, ListArray};

    use super::*;
    use arrow_schema::{Field, Fields};

    #[test]
    fn lists_of_records_are_converted() {
        let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![])]);
        let wanted = DataType::LargeList(Arc::new(Field::new("item", DataType::Int64, false)));
        let made = conform(&(Arc::new(lists) as ArrayRef), &wanted, Casting::Exact).unwrap();
        assert_eq!(made.data_type(), &wanted);
        assert_eq!(made.as_list::<i64>().offsets().as_ref(), [0, 2, 2]);
        let whole = |name: &str, n: i64| {
            (Arc::new(Field::new(name, DataType::Int64, false)), Arc::new(Int64Array::from(vec![n])) as ArrayRef)
        };
        let record: ArrayRef = Arc::new(StructArray::from(vec![whole("b", 2), whole("a", 1)]));
        let fields: Fields = ["a", "b"].map(|name| Field::new(name, DataType::Int32, false)).into_iter().collect();
        let made = conform(&record, &DataType::Struct(fields), Casting::Exact).unwrap();
        assert_eq!(made.as_struct().column(0).as_primitive::<Int32Type>().value(0), 1);
    }

    #[test]
    fn lossy_conversions_fail() {
        let half: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
        assert!(
            conform(&half, &DataType::Int32, Casting::Exact).is_err()
                && conform(&half, &DataType::Float32, Casting::Exact).is_err()
        );
        let wide: ArrayRef = Arc::new(Float64Array::from(vec![0.1, 1e300]));
        let rounded = conform(&wide, &DataType::Float32, Casting::SameKind).unwrap();
        assert_eq!(rounded.as_primitive::<Float32Type>().values().as_ref(), [0.1, f32::INFINITY]);
        assert!(conform(&half, &DataType::Int32, Casting::SameKind).is_err());
        let large: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40]));
        assert!(conform(&large, &DataType::Int32, Casting::Exact).unwrap_err().to_string().contains("1099511627776"));
        assert_eq!(conform(&large, &DataType::Float32, Casting::Exact).unwrap().as_primitive::<Float32Type>().len(), 1);
    }
}
