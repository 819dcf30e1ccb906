//! Metrics of a writer at work: where time goes, and how much memory is in use.

use std::sync::Arc;

use crate::execute::encode::clocks::{Clocks, ContextMetrics};

/// Metrics of a writer at work.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Metrics {
    /// Entries in the file.
    pub entries: u64,
    /// Clusters in the file.
    pub clusters: u64,
    /// Bytes of the file so far.
    pub file_bytes: u64,
    /// Bytes of finished clusters that wait for earlier ones.
    pub queue_bytes: u64,
    /// Bytes of the budget in use, by all writers that share it.
    pub held_bytes: u64,
    /// Largest number of bytes in use so far.
    pub peak_held_bytes: u64,
    /// Number of contexts that wait for memory now.
    pub waiting: usize,
    /// Total time spent on appending, in nanoseconds.
    pub appending_ns: u64,
    /// All fill contexts so far, in the order in which they began.
    pub contexts: Vec<ContextMetrics>,
}

/// A handle to the metrics of a fill context, for any thread. It may outlive the context.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Clocks>);

impl Watch {
    pub(crate) fn new(clocks: &Arc<Clocks>) -> Self {
        Self(Arc::clone(clocks))
    }

    /// The metrics so far.
    pub fn metrics(&self) -> ContextMetrics {
        self.0.snapshot()
    }
}
