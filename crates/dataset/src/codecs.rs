//! The codecs of one thread that opens pieces of columns, with buffers for what they decompress, and what that has cost.

use std::sync::Arc;
use std::time::Duration;

use rootfile::codec::Decompressor;

use crate::page_cache::PageCache;

/// Most spare buffers.
const MOST_SPARE: usize = 64;

/// Codecs and buffers of one thread.
#[derive(Default)]
pub struct Codecs {
    /// Decompresses the blocks of pages and baskets.
    pub decompressor: Decompressor,
    /// The record of a basket that was fetched last. The buffer may be longer.
    pub record: Vec<u8>,
    /// Bytes of that record.
    pub record_len: usize,
    /// The payload of a basket that was decompressed last.
    pub payload: Vec<u8>,
    /// The page that was decompressed last.
    pub(crate) scratch: Vec<u8>,
    /// A page in several keys, put together.
    pub(crate) joined: Vec<u8>,
    /// Buffers for pages that are kept while their other elements are asked for.
    pub(crate) spare: Vec<Vec<u8>>,
    /// Where pages are kept for neighbouring pieces, if there are some.
    pub pages: Option<Arc<PageCache>>,
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

    /// Takes back the buffer of a page that is not needed any more.
    pub(crate) fn give_back(&mut self, buffer: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            self.spare.push(buffer);
        }
    }

    /// A buffer for a page of so many bytes that is kept: a spare one, unless it is so large that memory would lie idle.
    pub(crate) fn spare_for(&mut self, len: usize) -> Vec<u8> {
        let fits = |buffer: &Vec<u8>| (len..=len.saturating_mul(2)).contains(&buffer.capacity());
        self.spare.iter().rposition(fits).map(|place| self.spare.swap_remove(place)).unwrap_or_default()
    }

    /// The cost since the last call.
    pub fn take_cost(&mut self) -> OpenCost {
        std::mem::take(&mut self.cost)
    }
}
