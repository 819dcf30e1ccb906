//! Buffers and compressors of threads that encode.

use std::sync::{Arc, Mutex, PoisonError};

use rootfile::codec::Compressor;

use super::clocks::Clocks;

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

/// The scratch buffers of a context: one for each thread that works for it.
pub(crate) struct EncodeScratchPool {
    free: Mutex<Vec<EncodeScratch>>,
    pub clocks: Arc<Clocks>,
}

impl EncodeScratchPool {
    pub fn new(compressors: Vec<Compressor>, clocks: Arc<Clocks>) -> Self {
        let free =
            compressors.into_iter().map(|compressor| EncodeScratch::new(compressor, Arc::clone(&clocks))).collect();
        Self { free: Mutex::new(free), clocks }
    }

    /// Runs work with a free scratch, or with a new one if all are in use.
    pub fn with<T>(&self, work: impl FnOnce(&mut EncodeScratch) -> T) -> T {
        let lock = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = lock().pop();
        let mut scratch = free.unwrap_or_else(|| EncodeScratch::new(Compressor::new(), Arc::clone(&self.clocks)));
        let done = work(&mut scratch);
        lock().push(scratch);
        done
    }

    /// Bytes of their buffers.
    pub fn memory(&self) -> u64 {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.iter().map(|scratch| scratch.payload.capacity() as u64).sum()
    }

    /// The compressors, for another context.
    pub fn compressors(&self) -> Vec<Compressor> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.drain(..).map(|scratch| scratch.compressor).collect()
    }
}
