//! The cost of reading: time by stage, and bytes. Times are sums over threads.

use std::ops::AddAssign;
use std::time::Duration;

/// The cost of reading a column, or all columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCost {
    /// Time spent on waiting for bytes of files.
    pub fetch: Duration,
    /// Time spent on decompressing.
    pub decompress: Duration,
    /// Time spent on finding and decoding entries.
    pub decode: Duration,
    /// Baskets read.
    pub baskets: u64,
    /// Bytes read.
    pub compressed: u64,
    /// Bytes before compression.
    pub uncompressed: u64,
}

impl AddAssign for ReadCost {
    fn add_assign(&mut self, other: Self) {
        self.fetch += other.fetch;
        self.decompress += other.decompress;
        self.decode += other.decode;
        self.baskets += other.baskets;
        self.compressed += other.compressed;
        self.uncompressed += other.uncompressed;
    }
}
