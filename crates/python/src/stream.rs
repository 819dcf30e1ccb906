//! A stream of batches that Python hands over by Arrow's C interface.

use std::sync::{Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::ArrayStreamReader;
use arrow_array::{Array, ArrayReader, ArrayRef, new_empty_array};
use pyo3::exceptions::PyValueError;
use pyo3::types::PyAny;
use pyo3::{Bound, PyRef, PyResult, Python, pyclass, pymethods};

use crate::batch::Batch;
use crate::errors::arrow;
use crate::input_arrays::reader;
use crate::records::of_columns;

/// A table that comes batch by batch from something that is a stream of Arrow's.
#[pyclass(frozen, module = "basketry._core")]
pub struct Stream(Mutex<ArrayStreamReader>);

fn batch(array: &ArrayRef) -> PyResult<Batch> {
    let table = array.as_struct_opt().filter(|table| table.null_count() == 0);
    let table = table.ok_or_else(|| PyValueError::new_err(format!("expected a table, not {}", array.data_type())))?;
    let names = table.fields().iter().map(|field| field.name().clone()).collect();
    of_columns(names, table.columns().to_vec(), table.len()).map(Batch)
}

#[pymethods]
impl Stream {
    #[new]
    fn new(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(Mutex::new(reader(source)?)))
    }

    /// No entries, but the columns.
    fn empty(&self) -> PyResult<Batch> {
        let stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batch(&new_empty_array(stream.field().data_type()))
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let next = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).next());
        next.transpose().map_err(arrow)?.map(|array| batch(&array)).transpose()
    }
}
