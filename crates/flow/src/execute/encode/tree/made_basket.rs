//! A basket on its way from its branch to the finished ones: cut out, and made by any thread. What a branch does itself is not here.

use dataset::layout::Compression;
use dataset::tree::basket::BasketHeader;
use rootfile::Result;
use rootfile::codec::Compressor;

use crate::table::tree::chunk::Chunk;

/// A basket that was cut out of its branch.
pub(crate) struct CutBasket {
    pub(super) header: BasketHeader,
    pub(super) payload: Vec<u8>,
    pub(super) entries: u64,
    pub(super) column: usize,
    pub(super) compression: Compression,
}

/// The size of a basket that was made: entries, and bytes before and after compression.
pub(crate) struct MadeBasket {
    pub(super) entries: u64,
    pub(super) raw: usize,
    pub(super) packed: usize,
}

impl CutBasket {
    /// Makes it, as the only one of a chunk. Where it begins is known when it is added to others.
    pub(super) fn make(self, compressor: &mut Compressor) -> Result<(Chunk, MadeBasket)> {
        let Self { header, payload, entries, column, compression } = self;
        let (mut chunk, raw) = (Chunk::default(), header.keylen() + payload.len());
        chunk.put(header, &payload, (column, 0), compression, compressor)?;
        // It may wait for pieces before it.
        chunk.bytes.shrink_to_fit();
        let packed = chunk.bytes.len();
        Ok((chunk, MadeBasket { entries, raw, packed }))
    }
}
