//! Runs work in a thread of its own, while the calling thread lets other Python code run and listens for Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult, Python};
use rootfile::Result;

use crate::errors::exception;

/// How long Ctrl-C may go unheard.
const LISTEN: Duration = Duration::from_millis(50);
/// How long to wait for work that was told to stop. It checks after about each basket, and removes its unfinished output.
/// If the process ends before, its unfinished output is removed then.
const GRACE: Duration = Duration::from_secs(2);

/// Set once work should stop.
pub type Cancelled = Arc<AtomicBool>;

/// Work in a thread that returns results one by one, each after the one before is taken. When dropped, it is told to stop.
pub struct Worker<T> {
    results: Mutex<Receiver<T>>,
    cancelled: Cancelled,
}

impl<T: Send + 'static> Worker<T> {
    /// Begins work in a thread.
    pub fn begin(work: impl FnOnce(&Cancelled, &SyncSender<T>) + Send + 'static) -> PyResult<Self> {
        let cancelled = Cancelled::default();
        let (send, results) = sync_channel(0);
        let flag = Arc::clone(&cancelled);
        let started = thread::Builder::new().name("basketry".to_owned()).spawn(move || work(&flag, &send));
        started.map_err(|e| exception(e.into()))?;
        Ok(Self { results: Mutex::new(results), cancelled })
    }

    /// The next result, or none if there are no more. Other Python code runs while it is waited for. If a signal
    /// handler raises, as Python's own does on Ctrl-C, the work is told to stop and the exception propagates.
    pub fn next(&self, py: Python<'_>) -> PyResult<Option<T>> {
        loop {
            match py.detach(|| self.wait(LISTEN)) {
                Ok(done) => return Ok(Some(done)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| {
                    self.cancelled.store(true, Ordering::Relaxed);
                    // Whatever it still has to say, the exception says more.
                    let _ = py.detach(|| self.wait(GRACE));
                })?,
            }
        }
    }

    /// The next result, for a caller that may not hold the interpreter.
    pub fn next_blocking(&self) -> Option<T> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    fn wait(&self, time: Duration) -> std::result::Result<T, RecvTimeoutError> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time)
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Does `work`, listening for Ctrl-C.
pub fn listening<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Cancelled) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    // A result after the caller gave up is dropped.
    let worker = Worker::begin(move |cancelled, send| drop(send.send(work(cancelled))))?;
    worker.next(py)?.ok_or_else(internal_error)?.map_err(exception)
}

#[cold]
fn internal_error() -> PyErr {
    PyRuntimeError::new_err("internal error (the message is above); please report it")
}
