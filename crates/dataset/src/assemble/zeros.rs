//! Arrays of zeros, empty lists and empty strings: the values that ROOT reads for members that were not written.

use std::sync::Arc;

use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, LargeStringArray,
    PrimitiveArray, StructArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use arrow_schema::DataType;
use rootfile::{Error, Result};

/// Most values that are added.
const MOST: usize = 1 << 20;

/// `n` default values of a type without nulls.
pub(crate) fn zeros(data_type: &DataType, n: usize) -> Result<ArrayRef> {
    fn numbers<T: ArrowPrimitiveType>(n: usize) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_value(T::Native::default(), n))
    }
    let many = || Error::unsupported(format!("{n} objects with a member that was not written"));
    if n > MOST {
        return Err(many());
    }
    let wrong = |e| Error::corrupt(format!("zeros do not make a column: {e}"));
    let offsets = || OffsetBuffer::<i64>::new_zeroed(n);
    Ok(match data_type {
        DataType::Boolean => Arc::new(BooleanArray::new(BooleanBuffer::new_unset(n), None)),
        DataType::Int8 => numbers::<Int8Type>(n),
        DataType::UInt8 => numbers::<UInt8Type>(n),
        DataType::Int16 => numbers::<Int16Type>(n),
        DataType::UInt16 => numbers::<UInt16Type>(n),
        DataType::Int32 => numbers::<Int32Type>(n),
        DataType::UInt32 => numbers::<UInt32Type>(n),
        DataType::Int64 => numbers::<Int64Type>(n),
        DataType::UInt64 => numbers::<UInt64Type>(n),
        DataType::Float32 => numbers::<Float32Type>(n),
        DataType::Float64 => numbers::<Float64Type>(n),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::try_new(offsets(), Buffer::default(), None).map_err(wrong)?),
        DataType::LargeBinary => {
            Arc::new(LargeBinaryArray::try_new(offsets(), Buffer::default(), None).map_err(wrong)?)
        }
        DataType::LargeList(item) => {
            let items = zeros(item.data_type(), 0)?;
            Arc::new(LargeListArray::try_new(Arc::clone(item), offsets(), items, None).map_err(wrong)?)
        }
        DataType::FixedSizeList(item, size) => {
            let all = usize::try_from(*size).ok().and_then(|size| size.checked_mul(n)).ok_or_else(many)?;
            let items = zeros(item.data_type(), all)?;
            let array = FixedSizeListArray::try_new_with_length(Arc::clone(item), *size, items, None, n);
            Arc::new(array.map_err(wrong)?)
        }
        DataType::Struct(fields) if fields.is_empty() => Arc::new(StructArray::new_empty_fields(n, None)),
        DataType::Struct(fields) => {
            let columns = fields.iter().map(|field| zeros(field.data_type(), n)).collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(wrong)?)
        }
        other => return Err(Error::unsupported(format!("zeros of type {other}"))),
    })
}
