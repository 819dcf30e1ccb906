//! Resources that one or several writers share: memory, buffers, and threads that help to encode.

use std::sync::Arc;

use rayon::ThreadPool;
use rootfile::Result;

use super::buffer_pool::BufferPool;
use super::memory_limiter::MemoryLimiter;
use crate::execute::allocator;
use crate::execute::budget::Budget;
use crate::execute::encode::compressors::Compressors;

/// Memory that one or several writers share: all clusters of all their trees that are filled or wait to be written.
#[derive(Clone, Debug)]
pub struct WritePool {
    memory_limiter: Arc<MemoryLimiter>,
    buffer_pool: Arc<BufferPool>,
    compressors: Arc<Compressors>,
    team: Option<Arc<ThreadPool>>,
}

impl WritePool {
    /// A pool of the budget's memory. The caller brings the threads and fills a context with each: the budget's number of
    /// threads is not used.
    pub fn new(budget: Budget) -> Self {
        allocator::keep(budget.memory / 8);
        Self {
            memory_limiter: Arc::new(MemoryLimiter::new(budget.memory)),
            buffer_pool: Arc::default(),
            compressors: Arc::new(Compressors::new(budget.memory)),
            team: None,
        }
    }

    /// A pool with threads of its own, as many as the budget says. All of them encode and compress each cluster, for callers
    /// that fill from one thread. The bytes are the same as with one thread.
    pub fn with_team(budget: Budget) -> Result<Self> {
        let team = if budget.threads < 2 { None } else { Some(Arc::new(budget.team()?)) };
        Ok(Self { team, ..Self::new(budget) })
    }

    pub(crate) fn memory_limiter(&self) -> Arc<MemoryLimiter> {
        Arc::clone(&self.memory_limiter)
    }

    pub(crate) fn buffer_pool(&self) -> Arc<BufferPool> {
        Arc::clone(&self.buffer_pool)
    }

    pub(crate) fn compressors(&self) -> Arc<Compressors> {
        Arc::clone(&self.compressors)
    }

    pub(crate) fn team(&self) -> Option<Arc<ThreadPool>> {
        self.team.clone()
    }
}

impl Default for WritePool {
    fn default() -> Self {
        Self::new(Budget::default())
    }
}
