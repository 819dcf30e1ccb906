//! A monitor of this process.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use lab::monitor::{self, Options};
use pyo3::exceptions::PyValueError;
use pyo3::{PyResult, Python, pyclass, pymethods};

use crate::errors::exception;
use crate::lock::lock;

/// The monitor, until it has ended.
#[pyclass(frozen, module = "basketry._core")]
pub struct Monitor {
    monitor: Mutex<Option<monitor::Monitor>>,
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
        Ok(Self { monitor: Mutex::new(Some(started)) })
    }

    fn events(&self, more: u64) {
        if let Some(monitor) = lock(&self.monitor).as_ref() {
            monitor.events(more);
        }
    }

    fn mark(&self, py: Python<'_>, name: &str) {
        py.detach(|| {
            if let Some(monitor) = lock(&self.monitor).as_ref() {
                monitor.mark(name);
            }
        });
    }

    /// Ends, and returns the summary as JSON; nothing, if it has ended before.
    fn end(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let ended = py.detach(|| lock(&self.monitor).take().map(monitor::Monitor::end));
        let Some(ended) = ended.transpose().map_err(exception)? else { return Ok(None) };
        match ended.trouble {
            Some(trouble) => Err(exception(trouble)),
            None => ended.summary.json().map(Some).map_err(exception),
        }
    }
}
