//! Record batches from columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema};
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
