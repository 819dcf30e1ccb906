//! Buffers and codecs of one worker of the engine.

use rootfile::codec::Compressor;

use crate::execute::encode::tree::basket_builder::BasketBuilder;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::table::tree::chunk::Chunk;

/// Buffers and codecs of one worker.
pub(crate) struct WorkerScratch {
    pub fetcher: Fetcher,
    pub compressor: Compressor,
    pub builder: BasketBuilder,
    pub chunk: Chunk,
}

impl WorkerScratch {
    pub fn new() -> Self {
        Self {
            fetcher: Fetcher::new(),
            compressor: Compressor::new(),
            builder: BasketBuilder::default(),
            chunk: Chunk::default(),
        }
    }
}
