//! Recycles cluster buffers across threads: allocators do not share freed memory between threads. Pooled buffers take only
//! memory that no context reserves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::tree_plan::TreePlan;
use crate::table::chunk::Chunk;

/// Buffers of clusters that are in the file. The newest come last.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<PooledBuffers>>);

/// The buffers of one cluster.
#[derive(Debug)]
struct PooledBuffers {
    tree: Arc<TreePlan>,
    chunks: Vec<Chunk>,
    bytes: u64,
}

impl BufferPool {
    fn lock(&self) -> MutexGuard<'_, Vec<PooledBuffers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the buffers of a cluster that was written.
    pub fn put(&self, tree: &Arc<TreePlan>, chunks: Vec<Chunk>) {
        let bytes = chunks.iter().map(|chunk| chunk.bytes.capacity() as u64).sum();
        self.lock().push(PooledBuffers { tree: Arc::clone(tree), chunks, bytes });
    }

    /// Buffers for a cluster of this tree.
    pub fn take(&self, tree: &Arc<TreePlan>) -> Option<Vec<Chunk>> {
        let mut pooled = self.lock();
        let found = pooled.iter().rposition(|pooled| Arc::ptr_eq(&pooled.tree, tree))?;
        Some(pooled.remove(found).chunks)
    }

    /// Drops the oldest buffers above `most` bytes.
    pub fn trim(&self, most: u64) {
        let mut pooled = self.lock();
        let mut bytes: u64 = pooled.iter().map(|pooled| pooled.bytes).sum();
        while bytes > most && !pooled.is_empty() {
            bytes -= pooled.remove(0).bytes;
        }
    }

    /// Drops the buffers of a tree.
    pub fn forget(&self, tree: &Arc<TreePlan>) {
        self.lock().retain(|pooled| !Arc::ptr_eq(&pooled.tree, tree));
    }
}
