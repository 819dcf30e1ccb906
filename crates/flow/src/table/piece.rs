//! What pieces of columns are cut by: the files they are in, and the clusters that share them.

use std::sync::Arc;

use dataset::table::piece::Piece;
use rootfile::Source;

/// The bytes of all inputs.
pub type Files = [Arc<dyn Source>];

/// Whether more than two clusters have entries of a piece. Without a cache it would be decompressed for each of them.
pub(crate) fn spans_several(piece: &Piece, bounds: &[u64]) -> bool {
    let first = bounds.partition_point(|&bound| bound <= piece.first_entry);
    bounds.get(first + 1).is_some_and(|&second| second < piece.end())
}
