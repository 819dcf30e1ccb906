//! A tree that Python fills, and the fill context of one thread or task.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use arrow_array::RecordBatch;
use flow::write::{FillContext, TableId, Watch};
use pyo3::{Bound, PyResult, Python, pyclass, pymethods};
use rootfile::Error;

use crate::batch::Batch;
use crate::errors::exception;
use crate::lock::lock;

/// Bytes of arrays between two looks for Ctrl-C.
const LISTEN: usize = 16 << 20;

/// A tree that is filled.
pub(crate) struct Filling {
    pub id: TableId,
    /// Idle contexts, with the thread that used each first.
    pub idle: Mutex<Vec<(ThreadId, FillContext)>>,
    pub entries: AtomicU64,
}

impl Filling {
    pub fn new(id: TableId) -> Self {
        Self { id, idle: Mutex::default(), entries: AtomicU64::new(0) }
    }
}

/// Fills a context, and gives it back if it can still be used: also after a batch that does not fit. An exception
/// after a part of the entries drops it, which abandons the output.
pub(crate) fn fill(
    py: Python<'_>,
    mut context: FillContext,
    filling: &Filling,
    batch: &RecordBatch,
) -> (Option<FillContext>, PyResult<()>) {
    let rows = batch.num_rows();
    let parts = batch.get_array_memory_size().div_ceil(LISTEN).max(1);
    let part = rows.div_ceil(parts).max(1);
    for from in (0..rows).step_by(part) {
        let part = batch.slice(from, part.min(rows - from));
        if let Err(e) = py.detach(|| context.fill(&part)) {
            let kept = Some(context).filter(|context| from == 0 && context.is_usable());
            return (kept, Err(exception(e)));
        }
        if let Err(e) = py.check_signals() {
            return (None, Err(e));
        }
    }
    filling.entries.fetch_add(rows as u64, Ordering::Relaxed);
    (Some(context), Ok(()))
}

/// The fill context of one thread or task. If dropped before `finish`, it abandons the output.
#[pyclass(frozen, module = "basketry._core")]
pub struct Context {
    filling: Arc<Filling>,
    context: Mutex<Option<FillContext>>,
    watch: Watch,
}

impl Context {
    pub(crate) fn new(filling: Arc<Filling>, context: FillContext) -> Self {
        Self { filling, watch: context.watch(), context: Mutex::new(Some(context)) }
    }

    /// Takes the context out, until it is put back.
    fn take(&self) -> PyResult<FillContext> {
        let gone = || Error::request("the fill context is finished, or in use by another thread");
        lock(&self.context).take().ok_or_else(gone).map_err(exception)
    }
}

#[pymethods]
impl Context {
    /// Adds entries.
    fn fill(&self, py: Python<'_>, batch: &Bound<'_, Batch>) -> PyResult<()> {
        let (context, filled) = fill(py, self.take()?, &self.filling, &batch.get().0);
        *lock(&self.context) = context;
        filled
    }

    /// Ends the cluster.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let mut context = self.take()?;
        py.detach(|| context.flush()).map_err(exception)?;
        *lock(&self.context) = Some(context);
        Ok(())
    }

    /// Ends the last cluster.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let context = self.take()?;
        py.detach(|| context.finish()).map_err(exception)
    }

    /// Abandons the output.
    fn abandon(&self, why: &str) {
        if let Some(context) = lock(&self.context).take() {
            context.abandon(why);
        }
    }

    /// Where its time went, in nanoseconds.
    fn metrics(&self) -> Vec<(&'static str, u64)> {
        let seen = self.watch.metrics();
        vec![
            ("entries", seen.entries),
            ("encoding_ns", seen.encoding_ns),
            ("compressing_ns", seen.compressing_ns),
            ("waiting_ns", seen.waiting_ns),
            ("handing_ns", seen.handing_ns),
        ]
    }
}
