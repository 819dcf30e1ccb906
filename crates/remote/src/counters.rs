//! What a file has asked for so far, and what its connection is like by that.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rootfile::Traffic;

/// Counters that all threads add to.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    bytes: AtomicU64,
    latency: AtomicU64,
    transfer: AtomicU64,
}

impl Counters {
    /// A request whose reply began after this time.
    pub fn answered(&self, after: Duration) {
        self.requests.fetch_add(1, Relaxed);
        self.latency.fetch_add(nanoseconds(after), Relaxed);
    }

    /// Bytes of a reply, which took this time from the first to the last.
    pub fn received(&self, bytes: u64, during: Duration) {
        self.bytes.fetch_add(bytes, Relaxed);
        self.transfer.fetch_add(nanoseconds(during), Relaxed);
    }

    pub fn traffic(&self) -> Traffic {
        let time = |counter: &AtomicU64| Duration::from_nanos(counter.load(Relaxed));
        Traffic {
            requests: self.requests.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            latency: time(&self.latency),
            transfer: time(&self.transfer),
        }
    }

    /// Bytes that could have been transferred while waiting for one reply: what another request costs.
    pub fn bytes_of_a_round_trip(&self) -> u64 {
        let traffic = self.traffic();
        let (latency, transfer) = (traffic.latency.as_nanos(), traffic.transfer.as_nanos().max(1));
        let bytes = latency * u128::from(traffic.bytes) / transfer / u128::from(traffic.requests.max(1));
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_in_bytes() {
        let counters = Counters::default();
        assert_eq!(counters.bytes_of_a_round_trip(), 0);
        for _ in 0..4 {
            counters.answered(Duration::from_millis(30));
            counters.received(100_000, Duration::from_millis(1));
        }
        assert_eq!(counters.bytes_of_a_round_trip(), 3_000_000);
        assert_eq!(counters.traffic().requests, 4);
    }
}
