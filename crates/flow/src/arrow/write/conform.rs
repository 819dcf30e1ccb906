//! Converts an array to the type of its column without loss: offsets of another width, fields of records in another order,
//! numbers that fit. A lossy conversion fails with the path of the field. Floating-point numbers may lose digits if the
//! writer allows it, but finite ones stay finite.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
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
        // By the type of its values: as a whole it would pass as something else than numbers.
        (DataType::Dictionary(_, values), _) => conform(&cast(array, values)?, wanted, casting),
        (DataType::RunEndEncoded(_, values), _) => conform(&cast(array, values.data_type())?, wanted, casting),
        (DataType::ListView(item) | DataType::LargeListView(item), DataType::LargeList(_)) => {
            conform(&cast(array, &DataType::LargeList(Arc::clone(item)))?, wanted, casting)
        }
        (from, _) if !keeps(from, wanted, casting) => {
            Err(Error::request(format!("is {from}, which cannot become {wanted} without loss; convert it first")))
        }
        _ => {
            let made = cast(array, wanted)?;
            check_floats(array, &made, casting)?;
            Ok(made)
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

/// Whether a conversion keeps the meaning of values. Times, decimals and the like are none of these: only their owner knows in which
/// unit a number is wanted. That the values fit is checked one by one: of integers in the cast, of others in [`check_floats`].
fn keeps(from: &DataType, to: &DataType, casting: Casting) -> bool {
    match (from, to) {
        (DataType::Float64, DataType::Float32) => casting == Casting::SameKind,
        (from, to) if from.is_floating() => matches!(to, DataType::Float32 | DataType::Float64),
        (from, to) if from.is_integer() => to.is_integer() || to.is_floating(),
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, to) => matches!(to, DataType::LargeUtf8),
        (DataType::Boolean, to) => matches!(to, DataType::UInt8 | DataType::Int8),
        (DataType::Binary | DataType::FixedSizeBinary(_) | DataType::BinaryView, to) => *to == DataType::LargeBinary,
        // Keys and values have other names there.
        (DataType::Map(..), DataType::LargeList(_)) => true,
        _ => false,
    }
}

/// Checks numbers that became floating-point numbers: finite ones must stay finite, and integers be exact if the writer wants so.
fn check_floats(from: &ArrayRef, made: &ArrayRef, casting: Casting) -> Result<()> {
    if from.data_type().is_integer() && made.data_type().is_floating() && casting == Casting::Exact {
        // Those that were rounded come back as other integers, or as none.
        let back = cast(made, from.data_type())?;
        return match back.to_data() == from.to_data() {
            true => Ok(()),
            false => Err(Error::request(format!(
                "has integers of more digits than {} holds; convert it first",
                made.data_type()
            ))),
        };
    }
    let (Some(wide), Some(narrow)) = (from.as_primitive_opt::<Float64Type>(), made.as_primitive_opt::<Float32Type>())
    else {
        return Ok(());
    };
    let overflows = |(wide, narrow): (&f64, &f32)| narrow.is_infinite() && wide.is_finite();
    let pairs = wide.values().iter().zip(narrow.values());
    if !pairs.clone().any(overflows) {
        return Ok(());
    }
    match pairs.enumerate().find(|(i, pair)| wide.is_valid(*i) && overflows(*pair)) {
        None => Ok(()),
        Some((_, (value, _))) => Err(Error::request(format!(
            "has {value:e}, which is beyond the range of Float32; write it as Float64, or convert the values first"
        ))),
    }
}

fn cast(array: &ArrayRef, wanted: &DataType) -> Result<ArrayRef> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, wanted, &strict).map_err(refused)
}

fn refused(error: ArrowError) -> Error {
    Error::request(error.to_string())
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
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
        let fits: ArrayRef = Arc::new(Float64Array::from(vec![0.1, f64::INFINITY, 3.4e38]));
        let rounded = conform(&fits, &DataType::Float32, Casting::SameKind).unwrap();
        assert_eq!(rounded.as_primitive::<Float32Type>().values().as_ref(), [0.1, f32::INFINITY, 3.4e38]);
        for overflowing in [1e300, -3.41e38] {
            let wide: ArrayRef = Arc::new(Float64Array::from(vec![0.1, overflowing]));
            let why = conform(&wide, &DataType::Float32, Casting::SameKind).unwrap_err().to_string();
            assert!(why.contains(&format!("{overflowing:e}")) && why.contains("Float32"), "{why}");
            let coded =
                cast(&wide, &DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Float64))).unwrap();
            assert!(conform(&coded, &DataType::Float32, Casting::SameKind).is_err());
        }
        // What is missing has no value.
        let gap: ArrayRef = Arc::new(Float64Array::new(vec![0.5, 1e300].into(), Some(vec![true, false].into())));
        assert_eq!(conform(&gap, &DataType::Float32, Casting::SameKind).unwrap().null_count(), 1);
        let odd: ArrayRef = Arc::new(Int64Array::from(vec![(1 << 53) + 1]));
        assert!(conform(&odd, &DataType::Float64, Casting::Exact).is_err());
        assert!(conform(&odd, &DataType::Float64, Casting::SameKind).is_ok());
        let most: ArrayRef = Arc::new(Int64Array::from(vec![i64::MAX]));
        assert!(conform(&most, &DataType::Float64, Casting::Exact).is_err());
        let time: ArrayRef = Arc::new(arrow_array::TimestampMillisecondArray::from(vec![1]));
        assert!(conform(&time, &DataType::Int64, Casting::SameKind).is_err());
        assert!(conform(&half, &DataType::Int32, Casting::SameKind).is_err());
        let large: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40]));
        assert!(conform(&large, &DataType::Int32, Casting::Exact).unwrap_err().to_string().contains("1099511627776"));
        assert_eq!(conform(&large, &DataType::Float32, Casting::Exact).unwrap().as_primitive::<Float32Type>().len(), 1);
    }
}
