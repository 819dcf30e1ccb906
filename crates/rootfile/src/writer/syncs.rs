//! The time for which this process has waited until outputs were on disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Nanoseconds that this process waited for files to be on disk.
static WAITED: AtomicU64 = AtomicU64::new(0);

/// The time for which the threads of this process have waited until outputs were on disk, all together. What measures writers takes
/// it from their time, so that all are measured with the flush or without.
pub fn time_in_syncs() -> Duration {
    Duration::from_nanos(WAITED.load(Ordering::Relaxed))
}

/// Does a sync, whose time is counted.
pub(super) fn timed<T>(sync: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = sync();
    WAITED.fetch_add(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    done
}
