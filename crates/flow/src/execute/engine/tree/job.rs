//! The work of one rewrite of a tree: its columns, cut at clusters.

use std::ops::Range;
use std::sync::Arc;

use dataset::table::piece::Piece;
use rootfile::Source;

use super::recode_job::Recode;
use crate::table::depth::OutputCluster;
use crate::table::tree::column::Column;

impl Job<'_> {
    /// Whether the cluster that holds an entry is packed from several.
    pub fn is_packed(&self, entry: u64) -> bool {
        let cluster = self.bounds.partition_point(|&bound| bound <= entry).checked_sub(1);
        cluster.and_then(|cluster| self.packed.get(cluster)).copied().unwrap_or(false)
    }

    /// What is added to the process-identifier numbers in a piece. Default entries hold no references.
    pub fn pid_offset(&self, piece: &Piece) -> u16 {
        piece.file().and_then(|file| self.pid_offsets.get(file as usize)).copied().unwrap_or(0)
    }

    /// A cluster of the output.
    pub fn cluster(&self, cluster: usize, entries: Range<u64>) -> OutputCluster {
        let packed = self.packed.get(cluster).copied().unwrap_or(false);
        OutputCluster { entries, packed, copies_fit: self.copies_fit }
    }
}

/// The work of the engine: columns, cut at clusters.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The inputs' bytes.
    pub files: &'a [Arc<dyn Source>],
    /// Added to the process-identifier numbers inside the entries of each file.
    pub pid_offsets: &'a [u16],
    /// Columns of the output.
    pub columns: &'a [Column],
    /// Columns of the inputs that are recoded.
    pub recodes: &'a [Recode],
    /// First entry of each cluster, and at the end the number of entries.
    pub bounds: &'a [u64],
    /// Whether each cluster is packed from several clusters of the inputs.
    pub packed: &'a [bool],
    /// Offset of the tree's directory.
    pub seek_pdir: u64,
    /// Whether records may be copied. False if their keys have no room for positions beyond 2 GB.
    pub copies_fit: bool,
    /// Whether copied records are decompressed, to check them.
    pub check: bool,
    /// The file that is updated in place: its records stay where they are.
    pub stays: Option<u32>,
    /// Number of process identifiers of each file. The offset in a basket's key is smaller.
    pub pids: &'a [u16],
}
