//! The state of a writer: the clusters of its tables that are not in the file yet, and what is known of those that are.

use std::sync::Arc;
use std::time::Duration;

use rootfile::{Error, Result};

use super::any_table::AnyTable;
use super::commit_order::CommitOrder;
use super::finished_cluster::FinishedCluster;
use crate::execute::encode::clocks::Clocks;

pub(super) struct State {
    pub tables: Vec<TableQueue>,
    /// The first error.
    pub error: Option<String>,
    /// The same, if no call has returned it: it came on a thread that nobody waits for.
    pub unreported: Option<Error>,
    pub clocks: Vec<Arc<Clocks>>,
    /// Number of contexts that are not finished.
    pub open: usize,
    /// Whether a thread is appending clusters.
    pub appending: bool,
    pub totals: Totals,
}

/// The clusters of one table that are not in the file yet.
pub(super) struct TableQueue {
    pub table: Arc<dyn AnyTable>,
    pub commits: CommitOrder<FinishedCluster>,
    /// Bytes that the largest cluster took while it was filled.
    pub largest: u64,
}

/// Totals of the clusters in the file.
#[derive(Default)]
pub(super) struct Totals {
    pub entries: u64,
    pub clusters: u64,
    pub bytes: u64,
    /// Bytes of clusters that wait to be appended.
    pub queued: u64,
    pub appending: Duration,
}

impl State {
    /// The next cluster of any table that can be appended.
    pub fn next(&mut self) -> Option<FinishedCluster> {
        let cluster = self.tables.iter_mut().find_map(|queue| queue.commits.next())?;
        self.totals.queued = self.totals.queued.saturating_sub(cluster.reserved);
        Some(cluster)
    }

    /// The queue of a table.
    pub fn table(&mut self, table: usize) -> Result<&mut TableQueue> {
        self.tables.get_mut(table).ok_or_else(|| Error::request("a table of another writer"))
    }

    /// Fails if the output was given up.
    pub fn check(&mut self) -> Result<()> {
        if let Some(error) = self.unreported.take() {
            return Err(error);
        }
        match &self.error {
            Some(why) => Err(Error::request(format!("the output was given up: {why}"))),
            None => Ok(()),
        }
    }
}
