//! What a reading takes from other machines.

use rootfile::Traffic;
use serde::Serialize;

/// What went over the network in a reading. Requests wait and arrive side by side, so their times may be more than that of the
/// reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Network {
    /// Requests. One may be for several ranges.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Seconds from sending requests to the first byte of their replies, added up.
    pub latency: f64,
    /// Seconds from the first to the last byte of replies, added up.
    pub transfer: f64,
}

impl Network {
    /// What was added to the counts.
    pub fn between(before: &Traffic, after: &Traffic) -> Self {
        Self {
            requests: after.requests - before.requests,
            bytes: after.bytes - before.bytes,
            latency: (after.latency - before.latency).as_secs_f64(),
            transfer: (after.transfer - before.transfer).as_secs_f64(),
        }
    }
}
