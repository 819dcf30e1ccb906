//! The tables of many files, opened one by one in a thread of their own: while one is in use the next one is opened, and no more.

use std::sync::{Arc, Mutex, PoisonError};

use flow::read::JoinedTable;
use pyo3::{PyRef, PyResult, Python, pyclass, pymethods};
use rootfile::{Owner, Result};

use crate::errors::exception;
use crate::interrupt::Worker;
use crate::table::{Inputs, Table, follow_of, inputs};

type Opening = Worker<Result<JoinedTable>>;

/// An iterator over the tables of files, each with the columns that its file has. It can be used once.
#[pyclass(frozen, module = "basketry._core")]
pub struct Tables {
    work: Mutex<Option<Arc<Opening>>>,
    /// A forked process has no thread that opens.
    owner: Owner,
}

impl Tables {
    fn taken(&self) -> Option<Arc<Opening>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[pymethods]
impl Tables {
    /// Begins to open the first of these files.
    #[new]
    fn new(files: Inputs, follow_urls: bool) -> PyResult<Self> {
        let (files, follow) = (inputs(files), follow_of(follow_urls));
        let work = Worker::begin(move |watch, send: &std::sync::mpsc::SyncSender<_>| {
            for opened in JoinedTable::in_turn(files, follow) {
                // Nobody asks for more, or the receiver is gone.
                if send.send(opened).is_err() || watch.tell(0).is_break() {
                    return;
                }
            }
        })?;
        Ok(Self { work: Mutex::new(Some(Arc::new(work))), owner: Owner::this() })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        self.owner.check("the opening of files", "begin it anew here").map_err(exception)?;
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(work) = work else { return Ok(None) };
        let Some(opened) = work.next(py)? else {
            self.taken();
            return Ok(None);
        };
        opened.map(|table| Some(Table::of(table))).map_err(exception)
    }

    /// Opens no more files, and closes the one that was opened ahead.
    fn close(&self, py: Python<'_>) {
        if let Some(work) = self.taken().filter(|_| self.owner.is_this()) {
            py.detach(|| work.end());
        }
    }
}
