//! What one or several writers share: memory, and threads that help whoever fills.

use std::sync::Arc;

use rayon::ThreadPool;
use rootfile::Result;

use super::gate::Gate;
use super::spares::Spares;
use crate::allocator;
use crate::budget::Budget;

/// Memory that one or several writers share: everything that is filled, compressed or waits to be written, of all
/// their trees together.
#[derive(Clone, Debug)]
pub struct WritePool {
    gate: Arc<Gate>,
    spares: Arc<Spares>,
    team: Option<Arc<ThreadPool>>,
}

impl WritePool {
    /// A pool of so much memory. Threads are the caller's, who fills a context with each: the budget's number of them is
    /// not looked at.
    pub fn new(budget: Budget) -> Self {
        allocator::keep(budget.memory / 8);
        Self { gate: Arc::new(Gate::new(budget.memory)), spares: Arc::default(), team: None }
    }

    /// A pool that has threads of its own besides, as many as the budget says: each cluster is encoded and compressed by
    /// all of them, for whoever has one thread only to fill with. The bytes are those that one thread writes.
    pub fn with_team(budget: Budget) -> Result<Self> {
        let team = if budget.threads < 2 { None } else { Some(Arc::new(budget.team()?)) };
        Ok(Self { team, ..Self::new(budget) })
    }

    pub(super) fn gate(&self) -> Arc<Gate> {
        Arc::clone(&self.gate)
    }

    pub(super) fn spares(&self) -> Arc<Spares> {
        Arc::clone(&self.spares)
    }

    pub(super) fn team(&self) -> Option<Arc<ThreadPool>> {
        self.team.clone()
    }
}

impl Default for WritePool {
    fn default() -> Self {
        Self::new(Budget::default())
    }
}
