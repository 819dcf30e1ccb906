//! A cluster that is filled and compressed, ready to be appended.

use super::spill::Spilled;
use super::table_fill::FilledCluster;

/// A cluster that is ready to be written.
pub(crate) struct FinishedCluster {
    /// The task that made it.
    pub task: u64,
    pub entries: u64,
    /// Its baskets or pages.
    pub content: Box<dyn FilledCluster>,
    /// Where its bytes are, if they are not in memory.
    pub spilled: Option<Spilled>,
    /// Bytes reserved for it now.
    pub reserved: u64,
    /// Largest memory that it took while it was filled.
    pub peak: u64,
}
