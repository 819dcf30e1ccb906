//! Arrays that were read, and are handed over to Python one by one: each becomes Python's own, and can be written to if nothing else
//! refers to its memory.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::{PyErr, PyResult, pyclass, pymethods};

use crate::batch::{Batch, Node, node_of};
use crate::errors::arrow;

/// Arrays of equal length.
#[pyclass(frozen, module = "basketry._core")]
pub struct ReadBatch {
    schema: SchemaRef,
    rows: usize,
    /// None where an array was taken.
    columns: Mutex<Vec<Option<ArrayRef>>>,
}

impl ReadBatch {
    /// Of arrays that were read.
    pub fn new(batch: &RecordBatch) -> Self {
        let columns = batch.columns().iter().cloned().map(Some).collect();
        Self { schema: batch.schema(), rows: batch.num_rows(), columns: Mutex::new(columns) }
    }
}

#[pymethods]
impl ReadBatch {
    fn __len__(&self) -> usize {
        self.rows
    }

    /// Takes a column, as a tree of buffers. It can be taken once.
    fn take(&self, column: usize) -> PyResult<Node> {
        let mut columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let place = columns.get_mut(column).ok_or_else(|| PyIndexError::new_err("no such column"))?;
        let array = place.take().ok_or_else(taken)?;
        node_of(self.schema.field(column), &array)
    }

    /// Whether each column has a union somewhere, for which not all libraries have a type.
    fn variants(&self) -> Vec<bool> {
        self.schema.fields().iter().map(|field| has_union(field.data_type())).collect()
    }

    /// All columns, which are shared from now on.
    fn shared(&self) -> PyResult<Batch> {
        let columns = self.columns.lock().unwrap_or_else(PoisonError::into_inner);
        let columns: Vec<ArrayRef> = columns.iter().cloned().collect::<Option<_>>().ok_or_else(taken)?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options).map(Batch).map_err(arrow)
    }
}

fn has_union(kind: &DataType) -> bool {
    match kind {
        DataType::Union(..) => true,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => has_union(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_union(field.data_type())),
        _ => false,
    }
}

fn taken() -> PyErr {
    PyValueError::new_err("this column was taken already")
}
