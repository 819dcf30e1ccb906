//! Recycles cluster buffers across threads: allocators do not share freed memory between threads. Pooled buffers take only
//! memory that no context reserves.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::finished_cluster::Content;
use super::table_plan::TablePlan;

/// Buffers of clusters that are in the file. The newest come last.
#[derive(Debug, Default)]
pub(crate) struct BufferPool(Mutex<Vec<PooledBuffers>>);

/// The buffers of one cluster.
#[derive(Debug)]
struct PooledBuffers {
    table: Arc<TablePlan>,
    content: Content,
    bytes: u64,
}

impl BufferPool {
    fn lock(&self) -> MutexGuard<'_, Vec<PooledBuffers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the buffers of a cluster that was written.
    pub fn put(&self, table: &Arc<TablePlan>, content: Content) {
        let bytes = content.memory();
        self.lock().push(PooledBuffers { table: Arc::clone(table), content, bytes });
    }

    /// Buffers for a cluster of this table.
    pub fn take(&self, table: &Arc<TablePlan>) -> Option<Content> {
        let mut pooled = self.lock();
        let found = pooled.iter().rposition(|pooled| Arc::ptr_eq(&pooled.table, table))?;
        Some(pooled.remove(found).content)
    }

    /// Drops the oldest buffers above `most` bytes.
    pub fn trim(&self, most: u64) {
        let mut pooled = self.lock();
        let mut bytes: u64 = pooled.iter().map(|pooled| pooled.bytes).sum();
        while bytes > most && !pooled.is_empty() {
            bytes -= pooled.remove(0).bytes;
        }
    }

    /// Drops the buffers of a table.
    pub fn forget(&self, table: &Arc<TablePlan>) {
        self.lock().retain(|pooled| !Arc::ptr_eq(&pooled.table, table));
    }
}
