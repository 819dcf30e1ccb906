//! A cluster that is filled and compressed, ready to be appended.

use std::sync::Arc;

use super::spill::Spilled;
use super::table_plan::TablePlan;
use crate::table::chunk::Chunk;
use crate::table::made_pages::ColumnPages;

/// A cluster that is ready to be written.
#[derive(Debug)]
pub(crate) struct FinishedCluster {
    /// The task that made it.
    pub task: u64,
    /// The plan by which it was filled.
    pub plan: Arc<TablePlan>,
    pub entries: u64,
    pub content: Content,
    /// Where its bytes are, if they are not in memory.
    pub spilled: Option<Spilled>,
    /// Bytes reserved for it now.
    pub reserved: u64,
    /// Largest memory that it took while it was filled.
    pub peak: u64,
}

/// What is written of a cluster.
#[derive(Debug)]
pub(crate) enum Content {
    /// Of a tree.
    Baskets {
        /// The baskets of each branch. Their entries count from the start of the cluster.
        chunks: Vec<Chunk>,
        /// The largest value of each branch that counts others, by index of the branch plan.
        maxima: Vec<u64>,
    },
    /// Of an RNTuple: the pages of each column.
    Pages(Vec<ColumnPages>),
}

impl Content {
    /// Bytes of its memory.
    pub fn memory(&self) -> u64 {
        match self {
            Self::Baskets { chunks, .. } => chunks.iter().map(|chunk| chunk.bytes.capacity() as u64).sum(),
            Self::Pages(columns) => columns.iter().map(|column| column.bytes.capacity() as u64).sum(),
        }
    }

    /// The buffer of each column.
    pub fn buffers(&mut self) -> Vec<&mut Vec<u8>> {
        match self {
            Self::Baskets { chunks, .. } => chunks.iter_mut().map(|chunk| &mut chunk.bytes).collect(),
            Self::Pages(columns) => columns.iter_mut().map(|column| &mut column.bytes).collect(),
        }
    }
}
