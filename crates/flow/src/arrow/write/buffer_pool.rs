//! Recycles cluster buffers across threads: allocators do not share freed memory between threads. Pooled buffers take only
//! memory that no context reserves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::table_fill::PoolKey;

/// Buffers of clusters that are in the file. The newest come last.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<PooledBuffers>>);

/// The buffers of one cluster.
#[derive(Debug)]
struct PooledBuffers {
    plan: PoolKey,
    buffers: Vec<Vec<u8>>,
    bytes: u64,
}

impl BufferPool {
    fn lock(&self) -> MutexGuard<'_, Vec<PooledBuffers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the buffers of a cluster that was written.
    pub fn put(&self, plan: PoolKey, buffers: Vec<Vec<u8>>) {
        let bytes = buffers.iter().map(|buffer| buffer.capacity() as u64).sum();
        self.lock().push(PooledBuffers { plan, buffers, bytes });
    }

    /// Buffers for a cluster by this plan.
    pub fn take(&self, plan: &PoolKey) -> Option<Vec<Vec<u8>>> {
        let mut pooled = self.lock();
        let found = pooled.iter().rposition(|pooled| Arc::ptr_eq(&pooled.plan, plan))?;
        Some(pooled.remove(found).buffers)
    }

    /// Drops the oldest buffers above `most` bytes.
    pub fn trim(&self, most: u64) {
        let mut pooled = self.lock();
        let mut bytes: u64 = pooled.iter().map(|pooled| pooled.bytes).sum();
        while bytes > most && !pooled.is_empty() {
            bytes -= pooled.remove(0).bytes;
        }
    }

    /// Drops the buffers of a plan.
    pub fn forget(&self, plan: &PoolKey) {
        self.lock().retain(|pooled| !Arc::ptr_eq(&pooled.plan, plan));
    }
}
