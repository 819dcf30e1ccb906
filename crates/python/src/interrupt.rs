//! Runs work in a thread of its own, while the calling thread lets other Python code run and listens for Ctrl-C.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::types::PyAnyMethods;
use pyo3::{Py, PyAny, PyErr, PyResult, Python};
use rootfile::Result;

use crate::errors::exception;

/// How long Ctrl-C may go unheard.
const LISTEN: Duration = Duration::from_millis(50);
/// How long to wait for work that was told to stop. It checks after about each basket, and removes its unfinished output.
/// If the process ends before, its unfinished output is removed then.
const GRACE: Duration = Duration::from_secs(2);

/// What work and the calling thread tell each other.
#[derive(Default)]
pub struct Watch {
    /// Set once work should stop.
    cancelled: AtomicBool,
    /// How much is done, in units of the work.
    done: AtomicU64,
}

impl Watch {
    /// Notes that more is done, and says whether the work goes on.
    pub fn tell(&self, more: u64) -> ControlFlow<()> {
        self.done.fetch_add(more, Ordering::Relaxed);
        match self.cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Tells the work to stop.
    fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// A function of Python's that is called with how much was done since the last call. What it raises ends the work.
pub type Told = Option<Py<PyAny>>;

/// Work in a thread that returns results one by one, each after the one before is taken. When dropped, it is told to stop.
pub struct Worker<T> {
    results: Mutex<Receiver<T>>,
    watch: Arc<Watch>,
}

impl<T: Send + 'static> Worker<T> {
    /// Begins work in a thread.
    pub fn begin(work: impl FnOnce(&Watch, &SyncSender<T>) + Send + 'static) -> PyResult<Self> {
        let watch = Arc::<Watch>::default();
        let (send, results) = sync_channel(0);
        let shared = Arc::clone(&watch);
        let started = thread::Builder::new().name("basketry".to_owned()).spawn(move || work(&shared, &send));
        started.map_err(|e| exception(e.into()))?;
        Ok(Self { results: Mutex::new(results), watch })
    }

    /// The next result, or none if there are no more. Other Python code runs while it is waited for. If a signal
    /// handler raises, as Python's own does on Ctrl-C, the work is told to stop and the exception propagates.
    pub fn next(&self, py: Python<'_>) -> PyResult<Option<T>> {
        self.next_telling(py, &None)
    }

    /// Like `next`; tells a function how much is done, too.
    fn next_telling(&self, py: Python<'_>, told: &Told) -> PyResult<Option<T>> {
        loop {
            let waited = py.detach(|| self.wait(LISTEN));
            let tells = || match (told, self.watch.done.swap(0, Ordering::Relaxed)) {
                (Some(told), done @ 1..) => told.bind(py).call1((done,)).map(drop),
                _ => Ok(()),
            };
            match waited {
                Ok(done) => return tells().map(|()| Some(done)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| tells()).inspect_err(|_| {
                    self.watch.cancel();
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

    /// Tells the work to stop, and waits a while until it has: then it holds nothing any more.
    pub fn end(&self) {
        self.watch.cancel();
        let until = Instant::now() + GRACE;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            // What it still hands over is dropped.
            if self.wait(left).is_err() {
                return;
            }
        }
    }

    fn wait(&self, time: Duration) -> std::result::Result<T, RecvTimeoutError> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time)
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        self.watch.cancel();
    }
}

/// Does `work`, listening for Ctrl-C.
pub fn listening<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    telling(py, &None, work)
}

/// Like `listening`; tells a function how much is done, too.
pub fn telling<T: Send + 'static>(
    py: Python<'_>,
    told: &Told,
    work: impl FnOnce(&Watch) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    // A result after the caller gave up is dropped.
    let worker = Worker::begin(move |watch, send| drop(send.send(work(watch))))?;
    worker.next_telling(py, told)?.ok_or_else(internal_error)?.map_err(exception)
}

#[cold]
fn internal_error() -> PyErr {
    PyRuntimeError::new_err("internal error (the message is above); please report it")
}
