//! What reading cost: time by stage, and bytes. Times are the sum over threads.

use std::ops::AddAssign;
use std::time::Duration;

/// What was spent on a column, or on all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for bytes of files.
    pub fetch: Duration,
    /// Decompressing.
    pub decompress: Duration,
    /// Finding entries and decoding them.
    pub decode: Duration,
    /// Baskets read.
    pub baskets: u64,
    /// Bytes read.
    pub compressed: u64,
    /// Bytes before compression.
    pub uncompressed: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.fetch += other.fetch;
        self.decompress += other.decompress;
        self.decode += other.decode;
        self.baskets += other.baskets;
        self.compressed += other.compressed;
        self.uncompressed += other.uncompressed;
    }
}
