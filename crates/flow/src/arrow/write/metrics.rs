//! What a writer is doing, so that a stall can be seen: where time goes, and what is held.

use std::sync::Arc;

use crate::execute::encode::clocks::{Clocks, ContextMetrics};

/// A look at a writer at work.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Metrics {
    /// Entries in the file.
    pub entries: u64,
    /// Clusters in the file.
    pub clusters: u64,
    /// Bytes of the file so far.
    pub file_bytes: u64,
    /// Bytes of finished clusters that wait for those before them.
    pub queue_bytes: u64,
    /// Bytes that are taken of the budget, by all writers that share it.
    pub held_bytes: u64,
    /// The most that ever were.
    pub peak_held_bytes: u64,
    /// Fillers that wait for memory now.
    pub waiting: usize,
    /// Time spent on appending, all together, in nanoseconds.
    pub appending_ns: u64,
    /// Each fill context there was, in the order they were made.
    pub contexts: Vec<ContextMetrics>,
}

/// Shows what a fill context does, to any thread and as long as it is wanted.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Clocks>);

impl Watch {
    pub(crate) fn new(clocks: &Arc<Clocks>) -> Self {
        Self(Arc::clone(clocks))
    }

    /// What it did so far.
    pub fn metrics(&self) -> ContextMetrics {
        self.0.snapshot()
    }
}
