//! Time counters of one fill context.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The counters of a context at work.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    pub entries: AtomicU64,
    pub encoding: AtomicU64,
    pub compressing: AtomicU64,
    /// Time that helpers compressed.
    pub helped: AtomicU64,
    pub waiting: AtomicU64,
    pub handing: AtomicU64,
}

impl Clocks {
    /// Runs work of one thread, and counts its time without its own compressing as encoding.
    pub fn encode<T>(&self, work: impl FnOnce() -> T) -> T {
        let (started, compressed) = (Instant::now(), self.compressing.load(Ordering::Relaxed));
        let done = work();
        let compressing = self.compressing.load(Ordering::Relaxed) - compressed;
        add(&self.encoding, started.elapsed().saturating_sub(Duration::from_nanos(compressing)));
        done
    }

    pub fn snapshot(&self) -> ContextMetrics {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ContextMetrics {
            entries: get(&self.entries),
            encoding_ns: get(&self.encoding),
            compressing_ns: get(&self.compressing) + get(&self.helped),
            waiting_ns: get(&self.waiting),
            handing_ns: get(&self.handing),
        }
    }
}

/// Metrics of one fill context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ContextMetrics {
    /// Entries filled.
    pub entries: u64,
    /// Time spent on encoding and cutting baskets or pages, in nanoseconds.
    pub encoding_ns: u64,
    /// Time spent on compressing, in nanoseconds.
    pub compressing_ns: u64,
    /// Time spent on waiting for memory, in nanoseconds.
    pub waiting_ns: u64,
    /// Time spent on handing over and appending clusters, in nanoseconds.
    pub handing_ns: u64,
}

/// Adds a time to a counter of nanoseconds.
pub(crate) fn add(counter: &AtomicU64, time: Duration) {
    counter.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}
