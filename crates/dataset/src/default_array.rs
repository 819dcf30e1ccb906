//! The values of a field that a file does not have: zeroes, empty lists, nothing. How many bytes they take is the caller's to limit.

use std::sync::Arc;

use arrow_array::{ArrayRef, make_array, new_null_array};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use rootfile::{Error, Result};

/// Most values of members that objects lack: a file may claim any number of objects.
const MOST_UNWRITTEN: usize = 1 << 20;

/// What a nullable field has where there is no value.
#[derive(Clone, Copy)]
enum Absent {
    Null,
    Zero,
}

/// An array of `len` default values: nulls if the field may have them.
///
/// # Errors
///
/// If the type has no defaults, or if there is no memory for so many.
pub fn default_array(field: &Field, len: usize) -> Result<ArrayRef> {
    reserve(field.data_type(), len)?;
    array(field, len, Absent::Null)
}

/// `len` default values of a type without nulls: what ROOT reads for members that were not written.
///
/// # Errors
///
/// As [`default_array`], and if they are very many.
pub(crate) fn unwritten(data_type: &DataType, len: usize) -> Result<ArrayRef> {
    let each = values(data_type).and_then(|each| each.checked_mul(len));
    if each.is_none_or(|all| all > MOST_UNWRITTEN) {
        return Err(Error::unsupported(format!("{len} objects with a member that was not written")));
    }
    Ok(make_array(data(data_type, len, Absent::Zero)?))
}

/// Most values of one kind in a value of a type.
fn values(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::FixedSizeList(item, size) => values(item.data_type())?.checked_mul(usize::try_from(*size).ok()?),
        DataType::Struct(fields) => fields.iter().try_fold(1, |most, field| Some(values(field.data_type())?.max(most))),
        _ => Some(1),
    }
}

/// Makes sure that there is memory for so many values: arrays end the process where there is none.
fn reserve(data_type: &DataType, len: usize) -> Result<()> {
    // Lists have an offset more.
    let bytes = width(data_type).and_then(|width| width.checked_mul(len.checked_add(1)?));
    match bytes.map(|bytes| Vec::<u8>::new().try_reserve_exact(bytes)) {
        Some(Ok(())) => Ok(()),
        _ => Err(Error::memory(bytes.map_or(u64::MAX, |bytes| bytes as u64))),
    }
}

/// Bytes of a default value of a type, and of its null.
fn width(data_type: &DataType) -> Option<usize> {
    let own = match data_type {
        DataType::FixedSizeList(item, size) => width(item.data_type())?.checked_mul(usize::try_from(*size).ok()?)?,
        DataType::Struct(fields) => {
            fields.iter().try_fold(0usize, |sum, field| sum.checked_add(width(field.data_type())?))?
        }
        DataType::Union(fields, _) => {
            let none = fields.iter().find(|(tag, _)| *tag == 0).map_or(Some(0), |(_, field)| width(field.data_type()));
            none?.checked_add(5)?
        }
        other => other.primitive_width().unwrap_or(8),
    };
    own.checked_add(1)
}

fn array(field: &Field, len: usize, absent: Absent) -> Result<ArrayRef> {
    Ok(match (field.data_type(), absent) {
        // Arrow has no nulls of unions.
        (union @ DataType::Union(..), _) => make_array(data(union, len, absent)?),
        (other, Absent::Null) if field.is_nullable() => new_null_array(other, len),
        (other, _) => make_array(data(other, len, absent)?),
    })
}

fn data(data_type: &DataType, len: usize, absent: Absent) -> Result<ArrayData> {
    let zeroes = |bytes: usize| Buffer::from(MutableBuffer::from_len_zeroed(bytes));
    let sized = |each: usize, len: usize| {
        each.checked_mul(len).map(zeroes).ok_or_else(|| Error::unsupported("more values than an array can hold"))
    };
    let builder = ArrayData::builder(data_type.clone()).len(len);
    let child = |field: &Arc<Field>, len: usize| array(field, len, absent).map(|array| array.to_data());
    let builder = match data_type {
        DataType::Boolean => builder.add_buffer(zeroes(len.div_ceil(8))),
        DataType::LargeUtf8 | DataType::LargeBinary => {
            builder.add_buffer(sized(8, len.saturating_add(1))?).add_buffer(zeroes(0))
        }
        DataType::LargeList(item) => {
            builder.add_buffer(sized(8, len.saturating_add(1))?).add_child_data(child(item, 0)?)
        }
        DataType::FixedSizeList(item, size) => {
            let items = usize::try_from(*size).ok().and_then(|size| size.checked_mul(len));
            let items = items.ok_or_else(|| Error::unsupported("more values than an array can hold"))?;
            builder.add_child_data(child(item, items)?)
        }
        DataType::Struct(fields) => {
            let parts = fields.iter().map(|field| child(field, len)).collect::<Result<Vec<_>>>()?;
            builder.child_data(parts)
        }
        DataType::Union(fields, _) => {
            // Type 0 is a variant without a value.
            let parts = fields.iter().map(|(tag, field)| {
                let values = if tag == 0 { len } else { 0 };
                child(field, values)
            });
            let offsets: Vec<i32> = (0..i32::try_from(len).unwrap_or(i32::MAX)).collect();
            builder
                .add_buffer(zeroes(len))
                .add_buffer(Buffer::from_vec(offsets))
                .child_data(parts.collect::<Result<Vec<_>>>()?)
        }
        DataType::Null => builder,
        other => match other.primitive_width() {
            Some(width) => builder.add_buffer(sized(width, len)?),
            None => return Err(Error::unsupported(format!("defaults of type {other}"))),
        },
    };
    builder.build().map_err(|e| Error::unsupported(e.to_string()))
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_schema::{Fields, UnionFields, UnionMode};
    use rootfile::ErrorKind;

    use super::*;

    fn record(fields: Vec<Field>) -> DataType {
        DataType::Struct(Fields::from(fields))
    }

    #[test]
    fn nullable_fields_are_null_and_variants_without_a_value() {
        let fields = UnionFields::try_new(
            [0, 1],
            [Field::new("none", DataType::Null, true), Field::new("i", DataType::Int32, false)],
        );
        let union = DataType::Union(fields.unwrap(), UnionMode::Dense);
        let fields = vec![Field::new("o", DataType::Float64, true), Field::new("v", union, false)];
        let made = default_array(&Field::new("r", record(fields), false), 3).unwrap();
        let made = arrow_array::cast::AsArray::as_struct(&made);
        assert_eq!((made.column(0).null_count(), made.null_count()), (3, 0));
        let union = arrow_array::cast::AsArray::as_union(made.column(1));
        assert_eq!(union.type_ids().as_ref(), [0, 0, 0]);
    }

    #[test]
    fn only_unwritten_members_are_limited() {
        let item = Arc::new(Field::new("item", DataType::Int8, false));
        let array = DataType::FixedSizeList(item, 1000);
        assert_eq!(default_array(&Field::new("m", array.clone(), false), 1049).unwrap().len(), 1049);
        assert!(unwritten(&array, 1048).is_ok());
        assert!(unwritten(&array, 1049).is_err());
        assert!(unwritten(&DataType::Int8, MOST_UNWRITTEN + 1).is_err());
        assert_eq!(unwritten(&record(vec![Field::new("o", DataType::Int8, true)]), 2).unwrap().len(), 2);
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let item = Arc::new(Field::new("item", DataType::Float64, false));
        let large = DataType::FixedSizeList(Arc::clone(&item), i32::MAX);
        for data_type in [DataType::Float64, DataType::LargeUtf8, DataType::LargeList(item), large] {
            for (len, is_nullable) in [(usize::MAX, false), (usize::MAX / 4, false), (1 << 59, true)] {
                let found = default_array(&Field::new("x", data_type.clone(), is_nullable), len);
                assert!(matches!(found.unwrap_err().kind(), ErrorKind::Memory(_)), "{data_type} {len}");
            }
        }
    }
}
