//! Arrays in the scratch file, one behind the other, in Arrow's stream format: what is put there of a column is decoded as it was.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use rootfile::{Error, Result};

/// The bytes of an array.
///
/// # Errors
///
/// Its type has no place in the format.
pub(super) fn to_bytes(array: &ArrayRef) -> Result<Vec<u8>> {
    let written = || -> std::result::Result<Vec<u8>, ArrowError> {
        let schema = Arc::new(Schema::new(vec![Field::new("", array.data_type().clone(), true)]));
        let mut writer = StreamWriter::try_new(Vec::with_capacity(array.get_array_memory_size()), &schema)?;
        writer.write(&RecordBatch::try_new(schema, vec![Arc::clone(array)])?)?;
        writer.into_inner()
    };
    written().map_err(failed)
}

/// The array of these bytes, which is to be of this type.
///
/// # Errors
///
/// They are no such array.
pub(super) fn of_bytes(bytes: &[u8], data_type: &DataType) -> Result<ArrayRef> {
    let batch = StreamReader::try_new(bytes, None).map_err(failed)?.next().transpose().map_err(failed)?;
    let array = batch.and_then(|batch| batch.columns().first().cloned());
    array.filter(|array| array.data_type() == data_type).ok_or_else(|| Error::corrupt("is no array of the column"))
}

fn failed(why: ArrowError) -> Error {
    Error::unsupported(format!("an array on its way into another order: {why}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{Int32Array, LargeListArray, LargeStringArray};

    use super::*;

    #[test]
    fn arrays_come_back() {
        let lists =
            LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)]), Some(vec![])]);
        let arrays: [ArrayRef; 4] = [
            Arc::new(Int32Array::from(vec![1, 2, 3])),
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3)])),
            Arc::new(LargeStringArray::from(vec!["a", "", "b c"]).slice(1, 2)),
            Arc::new(lists),
        ];
        for array in arrays {
            let bytes = to_bytes(&array).unwrap();
            assert_eq!(&of_bytes(&bytes, array.data_type()).unwrap(), &array);
            assert!(of_bytes(&bytes, &DataType::Date32).is_err());
            assert!(of_bytes(&bytes[..bytes.len() / 2], array.data_type()).is_err());
        }
    }
}
