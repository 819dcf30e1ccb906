//! A cluster that is filled and compressed, ready to be appended.

use crate::table::chunk::Chunk;

/// A cluster that is ready to be written.
#[derive(Debug, Default)]
pub(crate) struct FinishedCluster {
    /// The task that made it.
    pub task: u64,
    pub entries: u64,
    /// Its baskets. Their entries count from the start of the cluster.
    pub chunks: Vec<Chunk>,
    /// The largest value of each branch that counts others, by index of the branch plan.
    pub maxima: Vec<u64>,
    /// Bytes reserved for it now.
    pub reserved: u64,
    /// Largest memory that it took while it was filled.
    pub peak: u64,
}
