//! What to read of a data set.

use dataset::EntrySet;
use flow::Budget;
use flow::read::Request;
use pyo3::buffer::PyBuffer;
use pyo3::{PyResult, Python};

use crate::errors::exception;
use crate::interrupt::Cancelled;

/// A read request: columns, range of entries, selected entries, and budget.
#[derive(Clone)]
pub struct ReadRequest {
    pub columns: Vec<usize>,
    entries: std::ops::Range<u64>,
    selection: Option<EntrySet>,
    pub budget: Budget,
}

impl ReadRequest {
    /// The request, which looks at the flag.
    pub fn request(self, cancelled: &Cancelled) -> Request<'_> {
        let Self { columns, entries, selection, budget } = self;
        Request { columns, entries, selection, budget, cancelled: Some(cancelled) }
    }
}

/// The same as Python passes it: columns, first entry and end, selected entries, threads, bytes of memory.
pub type Ask = (Vec<usize>, u64, u64, Option<PyBuffer<u64>>, usize, u64);

/// The request that Python passes.
pub fn read_request(py: Python<'_>, (columns, start, stop, chosen, threads, memory): Ask) -> PyResult<ReadRequest> {
    let selection = match chosen {
        Some(chosen) => Some(EntrySet::sorted(chosen.to_vec(py)?).map_err(exception)?),
        None => None,
    };
    Ok(ReadRequest { columns, entries: start..stop, selection, budget: Budget::new(memory, threads) })
}
