//! Buffers and compressors of threads that encode.

use std::sync::{Arc, Mutex, PoisonError};

use rootfile::codec::Compressor;

use super::clocks::Clocks;
use super::compressors::Compressors;

/// Buffers and compressor of one thread that makes baskets, for any branch.
pub(crate) struct EncodeScratch {
    pub compressor: Compressor,
    /// The payload of a basket with offsets, its part behind the entries, and the offsets.
    pub payload: Vec<u8>,
    pub tail: Vec<u8>,
    pub offsets: Vec<u32>,
    pub clocks: Arc<Clocks>,
}

impl EncodeScratch {
    pub fn new(compressor: Compressor, clocks: Arc<Clocks>) -> Self {
        Self { compressor, payload: Vec::new(), tail: Vec::new(), offsets: Vec::new(), clocks }
    }
}

/// The scratch buffers of a context: one for each thread that works for it. Compressors are lent by a stock.
pub(crate) struct EncodeScratchPool {
    free: Mutex<Vec<EncodeScratch>>,
    compressors: Arc<Compressors>,
    pub clocks: Arc<Clocks>,
}

impl EncodeScratchPool {
    pub fn new(compressors: Arc<Compressors>, clocks: Arc<Clocks>) -> Self {
        Self { free: Mutex::default(), compressors, clocks }
    }

    /// Runs work with a free scratch, or with a new one if all are in use. It waits for a compressor where memory is short, so
    /// the work must not ask for another scratch.
    pub fn with<T>(&self, work: impl FnOnce(&mut EncodeScratch) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut scratch = free.unwrap_or_else(|| EncodeScratch::new(Compressor::new(), Arc::clone(&self.clocks)));
        let mut lent = self.compressors.lend();
        std::mem::swap(&mut scratch.compressor, &mut lent.compressor);
        let done = work(&mut scratch);
        std::mem::swap(&mut scratch.compressor, &mut lent.compressor);
        drop(lent);
        lock().push(scratch);
        done
    }

    /// Bytes of their buffers.
    pub fn memory(&self) -> u64 {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.iter().map(|scratch| scratch.payload.capacity() as u64).sum()
    }

    /// Drops the buffers.
    pub fn drop_buffers(&self) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
