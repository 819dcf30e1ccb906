//! A tree that Python fills, and the fill context of one thread or task.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use arrow_array::RecordBatch;
use flow::write::{FillContext, TableId, Watch};
use pyo3::{Bound, PyResult, Python, pyclass, pymethods};
use rootfile::{Error, Owned, Result};

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

/// The fill context of one thread or task, of the process that began it. If dropped before `finish`, it abandons the output.
#[pyclass(frozen, module = "basketry._core")]
pub struct Context(Owned<Lent>);

/// A context, and the tree that it fills.
struct Lent {
    filling: Arc<Filling>,
    context: Mutex<State>,
    watch: Watch,
}

enum State {
    Idle(Box<FillContext>),
    /// A thread uses it.
    InUse,
    /// It was finished, or given up.
    Ended,
}

impl Context {
    pub(crate) fn new(filling: Arc<Filling>, context: FillContext) -> Self {
        let watch = context.watch();
        Self(Owned::new(Lent { filling, watch, context: Mutex::new(State::Idle(Box::new(context))) }))
    }

    fn lent(&self) -> PyResult<&Lent> {
        let way_out = "fill contexts are used by the threads of one process";
        self.0.owner().check("the fill context", way_out).map_err(exception)?;
        self.0.get().ok_or_else(|| exception(ended()))
    }
}

impl Lent {
    /// Takes the context out, until it is put back.
    fn take(&self) -> Result<FillContext> {
        let mut state = lock(&self.context);
        match std::mem::replace(&mut *state, State::InUse) {
            State::Idle(context) => Ok(*context),
            State::InUse => Err(Error::request("the fill context is in use by another thread")),
            State::Ended => {
                *state = State::Ended;
                Err(ended())
            }
        }
    }

    fn put(&self, context: Option<FillContext>) {
        *lock(&self.context) = context.map_or(State::Ended, |context| State::Idle(Box::new(context)));
    }
}

#[cold]
fn ended() -> Error {
    Error::request("the fill context is finished")
}

#[pymethods]
impl Context {
    /// Adds entries.
    fn fill(&self, py: Python<'_>, batch: &Bound<'_, Batch>) -> PyResult<()> {
        let lent = self.lent()?;
        let (context, filled) = fill(py, lent.take().map_err(exception)?, &lent.filling, &batch.get().0);
        lent.put(context);
        filled
    }

    /// Ends the cluster.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let lent = self.lent()?;
        let mut context = lent.take().map_err(exception)?;
        let flushed = py.detach(|| context.flush());
        lent.put(flushed.is_ok().then_some(context));
        flushed.map_err(exception)
    }

    /// Ends the last cluster.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let lent = self.lent()?;
        let context = lent.take().map_err(exception)?;
        let finished = py.detach(|| context.finish());
        lent.put(None);
        finished.map_err(exception)
    }

    /// Whether a thread uses it now.
    #[getter]
    fn in_use(&self) -> bool {
        self.0.get().is_some_and(|lent| matches!(*lock(&lent.context), State::InUse))
    }

    /// Abandons the output. In a forked process nothing is to be done.
    fn abandon(&self, why: &str) {
        if let Some(Ok(context)) = self.0.get().map(Lent::take) {
            context.abandon(why);
            self.0.get().into_iter().for_each(|lent| lent.put(None));
        }
    }

    /// Where its time went, in nanoseconds.
    fn metrics(&self) -> PyResult<Vec<(&'static str, u64)>> {
        let seen = self.lent()?.watch.metrics();
        Ok(vec![
            ("entries", seen.entries),
            ("encoding_ns", seen.encoding_ns),
            ("compressing_ns", seen.compressing_ns),
            ("waiting_ns", seen.waiting_ns),
            ("handing_ns", seen.handing_ns),
        ])
    }
}
