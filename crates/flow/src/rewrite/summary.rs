//! Reports of a rewrite: what was done, or what would be done.

use super::prepared::Skipped;
use crate::objects::Damaged;
use crate::plan::forecast::Forecast;
use crate::table::depth::Depths;
use crate::verify::cycles::OlderCycle;

/// What was done.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Bytes of all inputs.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// Trees of the output.
    pub tables: Vec<TableSummary>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Those of the notes that say what was not merged, or not carried over, or with a loss.
    pub unmerged: Vec<String>,
    /// Inputs that were left out since they cannot be read.
    pub skipped: Vec<Skipped>,
    /// Older cycles of the inputs' trees.
    pub older_cycles: Vec<OlderCycle>,
    /// What is damaged in the inputs that were not left out: objects and directories are missing from the output.
    pub damaged: Vec<Damaged>,
    /// Paths of the output's directories, each before what is below it; the top's is empty.
    #[serde(skip)]
    pub directories: Vec<String>,
    /// Whether an input says that it is compressed in another way than the output.
    #[serde(skip)]
    pub compressions_differ: bool,
}

impl Summary {
    /// Whether all that was asked for is in the output.
    pub fn is_whole(&self) -> bool {
        self.skipped.is_empty() && self.damaged.is_empty()
    }
}

/// What became of one tree.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct TableSummary {
    /// Path of the tree.
    pub path: String,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Baskets.
    pub baskets: u64,
    /// Bytes before compression.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// Clusters of columns by depth.
    pub depths: Depths,
}

/// What [`rewrite`] would do.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Outlook {
    /// Trees of the output.
    pub tables: Vec<Forecast>,
    /// Bytes of the trees' baskets now.
    pub bytes_before: u64,
    /// Bytes that are expected.
    pub bytes_after: u64,
    /// The smallest memory budget that would do.
    pub least_memory: u64,
    /// Memory that will be used at most, of the budget given.
    pub memory: u64,
    /// Threads that fit into it.
    pub threads: usize,
}
