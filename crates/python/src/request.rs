//! What to read of a data set.

use dataset::EntrySet;
use flow::read::Request;
use flow::{Budget, Progress};
use pyo3::buffer::PyBuffer;
use pyo3::{FromPyObject, PyResult, Python};

use crate::errors::exception;

/// A read request: columns, range of entries, selected entries, and budget.
#[derive(Clone)]
pub struct ReadRequest {
    pub columns: Vec<usize>,
    pub entries: std::ops::Range<u64>,
    pub selection: Option<EntrySet>,
    pub budget: Budget,
    pub remembers: bool,
}

impl ReadRequest {
    /// The request, which tells what is done.
    pub fn request(self, progress: Progress<'_>) -> Request<'_> {
        let Self { columns, entries, selection, budget, .. } = self;
        Request { columns, entries, selection, budget, progress }
    }
}

/// A reading, as Python asks for it: an object with these attributes (`python/basketry/reading/core_request.py`).
#[derive(FromPyObject)]
pub struct Reading {
    columns: Vec<usize>,
    start: u64,
    stop: u64,
    selection: Option<PyBuffer<u64>>,
    threads: usize,
    memory: u64,
    remembers: bool,
}

impl Reading {
    /// The request that it makes.
    pub fn request(self, py: Python<'_>) -> PyResult<ReadRequest> {
        let Self { columns, start, stop, selection, threads, memory, remembers } = self;
        let selection = match selection {
            Some(chosen) => Some(EntrySet::sorted(chosen.to_vec(py)?).map_err(exception)?),
            None => None,
        };
        Ok(ReadRequest { columns, entries: start..stop, selection, budget: Budget::new(memory, threads), remembers })
    }
}
