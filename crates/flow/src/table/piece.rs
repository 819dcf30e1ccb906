//! Pieces of columns: runs of entries, each in one record of an input file.

use std::ops::Range;
use std::sync::Arc;

use rootfile::Source;

/// Consecutive entries of a column in one record of an input. Only selected entries count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First entry, counted over all inputs.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Offset of the record. 0 for a basket inside the tree's record.
    pub seek: u64,
    /// Bytes of the record.
    pub nbytes: u32,
    /// Index of its file.
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

    /// Whether it has a record of its own in a file.
    pub fn is_in_file(&self) -> bool {
        self.file != FILL && !self.is_embedded()
    }

    /// Its file, and where its record is there.
    pub fn place(&self) -> (u32, Range<u64>) {
        (self.file, self.seek..self.seek.saturating_add(self.nbytes.into()))
    }

    /// Whether it is inside the tree's record.
    pub fn is_embedded(&self) -> bool {
        self.seek == 0
    }
}

/// File index of pieces that are in no file: they hold the column's default entry.
pub const FILL: u32 = u32::MAX;

/// The bytes of all inputs.
pub type Files = [Arc<dyn Source>];

/// Whether more than two clusters have entries of a piece. Without a cache it would be decompressed for each of them.
pub(crate) fn spans_several(piece: &Piece, bounds: &[u64]) -> bool {
    let first = bounds.partition_point(|&bound| bound <= piece.first_entry);
    bounds.get(first + 1).is_some_and(|&second| second < piece.end())
}
