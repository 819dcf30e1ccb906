//! A folder for temporary files, as a class of Python.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::{PyResult, pyclass, pymethods};

use crate::errors::exception;
use crate::lock::lock;

/// A folder that is removed with its object; where a process is killed, by the next one that makes a folder in the same place.
#[pyclass(frozen, module = "basketry._core")]
pub struct ScratchFolder {
    folder: Mutex<Option<rootfile::ScratchFolder>>,
    /// Where it is, or was.
    #[pyo3(get)]
    path: PathBuf,
}

#[pymethods]
impl ScratchFolder {
    /// A folder in a folder, or where the system has temporary files.
    #[new]
    fn new(within: Option<PathBuf>) -> PyResult<Self> {
        let made = within.as_deref().map_or_else(rootfile::ScratchFolder::new, rootfile::ScratchFolder::within);
        let folder = made.map_err(exception)?;
        Ok(Self { path: folder.path().to_path_buf(), folder: Mutex::new(Some(folder)) })
    }

    /// Removes it, unless that was done before, or another process made it.
    fn remove(&self) {
        drop(lock(&self.folder).take());
    }
}
