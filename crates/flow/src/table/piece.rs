//! A run of entries of a column that lies in one record of an input file.

use std::sync::Arc;

use rootfile::Source;

/// Some consecutive entries of a column that lie in one record of an input. Where entries are chosen, only those count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First entry, counted over all inputs.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Offset of the record; 0 for a basket that lies in the tree's record.
    pub seek: u64,
    /// Bytes of the record.
    pub nbytes: u32,
    /// Which of the files of the job holds it.
    pub file: u32,
}

impl Piece {
    /// The entry after the last.
    pub fn end(&self) -> u64 {
        self.first_entry + self.entries
    }

    /// Whether another piece is the same record of the same file, with the same entries.
    pub fn is_at(&self, other: &Self) -> bool {
        let place = |p: &Self| (p.first_entry, p.entries, p.seek, p.nbytes);
        place(self) == place(other) && !self.is_embedded()
    }

    /// Whether it lies in the tree's record.
    pub fn is_embedded(&self) -> bool {
        self.seek == 0
    }
}

/// Number of no file: pieces of it hold the column's default entry.
pub const FILL: u32 = u32::MAX;

/// The bytes of all inputs.
pub type Files = [Arc<dyn Source>];

/// Whether more than two clusters have entries of a piece: it would be decompressed that often if nobody kept it.
pub(crate) fn spans_several(piece: &Piece, bounds: &[u64]) -> bool {
    let first = bounds.partition_point(|&bound| bound <= piece.first_entry);
    bounds.get(first + 1).is_some_and(|&second| second < piece.end())
}
