//! Reading in steps: the next step is read while Python works on the current one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use flow::Remembering;
use flow::read::{BatchSize, JoinedTable};
use pyo3::exceptions::PyValueError;
use pyo3::types::{PyAny, PyCapsule};
use pyo3::{Bound, PyRef, PyResult, Python, pyclass, pymethods};
use rootfile::{Owner, Result};

use crate::batch::{capsule_of_schema, capsule_of_stream};
use crate::errors::exception;
use crate::interrupt::Worker;
use crate::read_batch::ReadBatch;
use crate::request::ReadRequest;

type Work = Worker<Result<Step>>;

/// What was read of a step.
struct Step {
    batch: RecordBatch,
    /// The entry behind the step.
    stop: u64,
}

/// An iterator over batches, and a stream of Arrow's. It can be used once.
#[pyclass(frozen, module = "basketry._core")]
pub struct Steps {
    work: Mutex<Option<Arc<Work>>>,
    schema: SchemaRef,
    /// The entry behind the steps so far.
    stop: AtomicU64,
    /// A forked process has no thread that reads.
    owner: Owner,
}

impl Steps {
    /// Begins to read.
    pub fn begin(table: Arc<JoinedTable>, request: ReadRequest, step: BatchSize, schema: SchemaRef) -> PyResult<Self> {
        let stop = AtomicU64::new(request.entries.start);
        let work = Worker::begin(move |watch, send: &std::sync::mpsc::SyncSender<_>| {
            let (remembers, progress) = (request.remembers, |entries| watch.tell(entries));
            let request = request.request(&progress);
            let mut seen = remembers.then(|| Remembering::new(&*table, &request).ok()).flatten();
            let mut batches = table.batches(request, step);
            while let Some(read) = batches.next() {
                seen.iter_mut().zip(&read).for_each(|(seen, read)| seen.take(read));
                // The receiver is gone, or wants no more.
                if send.send(read.map(|batch| Step { batch, stop: batches.at() })).is_err() || watch.tell(0).is_break()
                {
                    return;
                }
            }
        })?;
        Ok(Self { work: Mutex::new(Some(Arc::new(work))), schema, stop, owner: Owner::this() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Work>>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Steps {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<ReadBatch>> {
        self.owner.check("the reading in steps", "begin it anew here").map_err(exception)?;
        let Some(work) = self.lock().clone() else { return Ok(None) };
        match work.next(py)? {
            Some(read) => {
                let Step { batch, stop } = read.map_err(exception)?;
                self.stop.store(stop, Ordering::Relaxed);
                Ok(Some(ReadBatch::new(&batch)))
            }
            None => {
                self.lock().take();
                Ok(None)
            }
        }
    }

    /// The entry behind the steps so far: a step may have entries that are not selected.
    #[getter]
    fn stop(&self) -> u64 {
        self.stop.load(Ordering::Relaxed)
    }

    /// Stops reading, and closes what was open for it.
    fn close(&self, py: Python<'_>) {
        let work = self.lock().take().filter(|_| self.owner.is_this());
        if let Some(work) = work {
            py.detach(|| work.end());
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule_of_schema(py, &self.schema)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore the requested schema: types stay as they are.
        drop(requested_schema);
        self.owner.check("the reading in steps", "begin it anew here").map_err(exception)?;
        let work = self.lock().take().ok_or_else(|| PyValueError::new_err("these steps have been read already"))?;
        let reader = Reader { work, schema: Arc::clone(&self.schema) };
        capsule_of_stream(py, FFI_ArrowArrayStream::new(Box::new(reader)))
    }
}

/// The remaining steps.
struct Reader {
    work: Arc<Work>,
    schema: SchemaRef,
}

impl Iterator for Reader {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.work.next_blocking()?;
        let batch = read.map(|step| step.batch).map_err(|e| ArrowError::ExternalError(Box::new(e)));
        // A column whose bytes do not fit its plan becomes bytes, which is an error in a stream of fixed schema.
        Some(batch.and_then(|batch| RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec())))
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
