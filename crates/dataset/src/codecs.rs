//! The codecs of one thread that opens pieces of columns, with buffers for what they decompress, and what that has cost.

use std::time::Duration;

use rootfile::codec::Decompressor;

/// Codecs and buffers of one thread.
#[derive(Default)]
pub struct Codecs {
    /// Decompresses the blocks of pages and baskets.
    pub decompressor: Decompressor,
    /// The record of a basket that was fetched last.
    pub record: Vec<u8>,
    /// The payload of a basket that was decompressed last.
    pub payload: Vec<u8>,
    /// The page that was decompressed last.
    pub(crate) scratch: Vec<u8>,
    /// A page in several keys, put together.
    pub(crate) joined: Vec<u8>,
    /// Buffers for pages that are kept while their other elements are asked for.
    pub(crate) spare: Vec<Vec<u8>>,
    /// What opening has cost since [`take_cost`](Self::take_cost).
    pub cost: OpenCost,
}

/// The cost of opening pieces, without the time for fetching their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenCost {
    /// Time spent on verifying checksums and decompressing.
    pub decompress: Duration,
    /// Pages or baskets opened.
    pub blocks: u64,
    /// Their bytes in the file.
    pub compressed: u64,
    /// Their bytes when decompressed.
    pub uncompressed: u64,
}

impl Codecs {
    /// Codecs without buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cost since the last call.
    pub fn take_cost(&mut self) -> OpenCost {
        std::mem::take(&mut self.cost)
    }
}
