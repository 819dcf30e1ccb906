//! Record batches from columns, and the parts of records as columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::{PyErr, PyResult};

use crate::errors::arrow;

/// A batch of columns of equal length.
pub fn of_columns(names: Vec<String>, arrays: Vec<ArrayRef>, rows: usize) -> PyResult<RecordBatch> {
    if let Some((name, array)) = names.iter().zip(&arrays).find(|(_, array)| array.len() != rows) {
        let first = names.first().map_or("", String::as_str);
        let why = format!("{name} has {} entries, where {first} has {rows}", array.len());
        return Err(PyErr::new::<PyValueError, _>(why));
    }
    let fields = names.into_iter().zip(&arrays);
    let fields: Vec<Field> = fields.map(|(name, a)| Field::new(name, a.data_type().clone(), true)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options).map_err(arrow)
}

/// The parts of a record, or of a list of records, each as a column; None of everything else.
pub fn parts(array: &ArrayRef) -> PyResult<Option<Vec<(String, ArrayRef)>>> {
    let named = |fields: &arrow_schema::Fields, columns: Vec<ArrayRef>| {
        Some(fields.iter().map(|field| field.name().clone()).zip(columns).collect())
    };
    let records = match array.data_type() {
        DataType::Struct(fields) => return Ok(named(fields, array.as_struct().columns().to_vec())),
        DataType::LargeList(_) => array.as_list::<i64>().values(),
        DataType::List(_) => array.as_list::<i32>().values(),
        _ => return Ok(None),
    };
    let DataType::Struct(fields) = records.data_type() else { return Ok(None) };
    let of_part = |part: &ArrayRef| {
        let item = Arc::new(Field::new("item", part.data_type().clone(), part.null_count() > 0));
        Ok::<_, PyErr>(match array.data_type() {
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                let made = arrow_array::LargeListArray::try_new(item, offsets, Arc::clone(part), nulls);
                Arc::new(made.map_err(arrow)?) as ArrayRef
            }
            _ => {
                let list = array.as_list::<i32>();
                let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
                let made = arrow_array::ListArray::try_new(item, offsets, Arc::clone(part), nulls);
                Arc::new(made.map_err(arrow)?)
            }
        })
    };
    let columns = records.as_struct().columns().iter().map(of_part).collect::<PyResult<Vec<_>>>()?;
    Ok(named(fields, columns))
}
