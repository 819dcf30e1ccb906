//! A monitor of this process.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use lab::monitor::{self, Options};
use pyo3::exceptions::PyValueError;
use pyo3::{PyResult, Python, pyclass, pymethods};
use rootfile::Owned;

use crate::errors::exception;
use crate::lock::lock;

/// The monitor, until it has ended, in the process that it watches. One that is forked has none.
#[pyclass(frozen, module = "basketry._core")]
pub struct Monitor(Owned<Mutex<Option<monitor::Monitor>>>);

impl Monitor {
    /// Tells the running monitor, if this is its process.
    fn tell(&self, tell: impl Fn(&monitor::Monitor)) {
        if let Some(running) = self.0.get() {
            lock(running).as_ref().into_iter().for_each(tell);
        }
    }
}

#[pymethods]
impl Monitor {
    /// Begins: where samples go and whether a file there is replaced, seconds between two, whether with proportional
    /// memory; files that are named, and whether others are found.
    #[new]
    fn new(
        py: Python<'_>,
        output: (Option<PathBuf>, bool),
        every: f64,
        pss: bool,
        files: (Vec<PathBuf>, bool),
    ) -> PyResult<Self> {
        let every = Duration::try_from_secs_f64(every).ok().filter(|every| *every >= Duration::from_millis(1));
        let every = every.ok_or_else(|| PyValueError::new_err("every must be at least 0.001 seconds"))?;
        let ((output, overwrite), (files, discover)) = (output, files);
        let options = Options { output, overwrite, every, pss, files, discover };
        let started = py.detach(|| monitor::Monitor::begin(&options)).map_err(exception)?;
        Ok(Self(Owned::new(Mutex::new(Some(started)))))
    }

    fn events(&self, more: u64) {
        self.tell(|monitor| monitor.events(more));
    }

    fn mark(&self, py: Python<'_>, name: &str) {
        py.detach(|| self.tell(|monitor| monitor.mark(name)));
    }

    /// Ends, and returns the summary as JSON, with what went wrong with the record; nothing, if it has ended before.
    fn end(&self, py: Python<'_>, exit_code: i64) -> PyResult<Option<(String, Option<String>)>> {
        self.0.owner().check("the monitor", "it watches and ends there").map_err(exception)?;
        let running = self.0.get().and_then(|running| lock(running).take());
        let ended = py.detach(|| running.map(|monitor| monitor.end(exit_code)));
        let Some(ended) = ended.transpose().map_err(exception)? else { return Ok(None) };
        let trouble = ended.trouble.map(|trouble| trouble.to_string());
        Ok(Some((ended.summary.json().map_err(exception)?, trouble)))
    }
}
