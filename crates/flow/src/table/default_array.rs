//! The values of a field that a file does not have: zeroes, empty lists, nothing.

use std::sync::Arc;

use arrow_array::{ArrayRef, make_array, new_null_array};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use rootfile::{Error, Result};

/// An array of `len` default values.
pub(crate) fn default_array(field: &Field, len: usize) -> Result<ArrayRef> {
    Ok(match field.data_type() {
        // Arrow has no nulls of unions.
        union @ DataType::Union(..) => make_array(data(union, len)?),
        other if field.is_nullable() => new_null_array(other, len),
        other => make_array(data(other, len)?),
    })
}

fn data(data_type: &DataType, len: usize) -> Result<ArrayData> {
    let zeroes = |bytes: usize| Buffer::from(MutableBuffer::from_len_zeroed(bytes));
    let builder = ArrayData::builder(data_type.clone()).len(len);
    let child = |field: &Arc<Field>, len: usize| default_array(field, len).map(|array| array.to_data());
    let builder = match data_type {
        DataType::Boolean => builder.add_buffer(zeroes(len.div_ceil(8))),
        DataType::LargeUtf8 | DataType::LargeBinary => builder.add_buffer(zeroes((len + 1) * 8)).add_buffer(zeroes(0)),
        DataType::LargeList(item) => builder.add_buffer(zeroes((len + 1) * 8)).add_child_data(child(item, 0)?),
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
            Some(width) => builder.add_buffer(zeroes(len * width)),
            None => return Err(Error::unsupported(format!("defaults of type {other}"))),
        },
    };
    builder.build().map_err(|e| Error::unsupported(e.to_string()))
}
