//! What a writer is doing, so that a stall can be seen: where time goes, and what is held.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

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

/// One fill context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ContextMetrics {
    /// Entries that were filled.
    pub entries: u64,
    /// Time spent on encoding and cutting baskets, in nanoseconds.
    pub encoding_ns: u64,
    /// Time spent on compressing, in nanoseconds.
    pub compressing_ns: u64,
    /// Time spent on waiting for memory, in nanoseconds.
    pub waiting_ns: u64,
    /// Time spent on handing clusters over, with what appending them took, in nanoseconds.
    pub handing_ns: u64,
}

/// The same, while the context is at work.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub entries: AtomicU64,
    pub encoding: AtomicU64,
    pub compressing: AtomicU64,
    pub waiting: AtomicU64,
    pub handing: AtomicU64,
}

impl Clocks {
    /// Does work of one thread that encodes, less what of it is compressing.
    pub fn encode<T>(&self, work: impl FnOnce() -> T) -> T {
        let (begun, compressed) = (Instant::now(), self.compressing.load(Ordering::Relaxed));
        let done = work();
        let compressing = self.compressing.load(Ordering::Relaxed) - compressed;
        add(&self.encoding, begun.elapsed().saturating_sub(Duration::from_nanos(compressing)));
        done
    }

    pub fn seen(&self) -> ContextMetrics {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ContextMetrics {
            entries: get(&self.entries),
            encoding_ns: get(&self.encoding),
            compressing_ns: get(&self.compressing),
            waiting_ns: get(&self.waiting),
            handing_ns: get(&self.handing),
        }
    }
}

/// Shows what a fill context does, to any thread and as long as it is wanted.
#[derive(Clone, Debug)]
pub struct Watch(Arc<Clocks>);

impl Watch {
    pub(super) fn new(clocks: &Arc<Clocks>) -> Self {
        Self(Arc::clone(clocks))
    }

    /// What it did so far.
    pub fn metrics(&self) -> ContextMetrics {
        self.0.seen()
    }
}

/// Adds a time to a counter of nanoseconds.
pub(super) fn add(counter: &AtomicU64, time: Duration) {
    counter.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}
