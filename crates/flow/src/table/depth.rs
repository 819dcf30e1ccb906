//! The depth at which a column's entries of one cluster are opened: the shallowest that gives the requested layout.

use std::ops::Range;

use super::column::Column;
use super::piece::Piece;
use super::target::Shape;

/// How deep a column's entries are opened in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Records are moved as they are.
    Copy,
    /// Records are decompressed and compressed anew.
    Recompress,
    /// Entries are put into new baskets.
    Regroup,
    /// Entries are decoded and encoded in another form.
    Recode,
}

/// How many clusters of a column are treated at each depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Depths {
    /// Copied.
    pub copy: u64,
    /// Recompressed.
    pub recompress: u64,
    /// Regrouped.
    pub regroup: u64,
    /// Recoded.
    pub recode: u64,
}

impl Depths {
    /// Counts one more.
    pub fn count(&mut self, depth: Depth) {
        match depth {
            Depth::Copy => self.copy += 1,
            Depth::Recompress => self.recompress += 1,
            Depth::Regroup => self.regroup += 1,
            Depth::Recode => self.recode += 1,
        }
    }
}

impl std::ops::Add for Depths {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            copy: self.copy + other.copy,
            recompress: self.recompress + other.recompress,
            regroup: self.regroup + other.regroup,
            recode: self.recode + other.recode,
        }
    }
}

/// A cluster of the output, as far as the choice of depth goes.
#[derive(Clone, Debug)]
pub(crate) struct OutputCluster {
    /// Its entries.
    pub entries: Range<u64>,
    /// Whether it is put together from several clusters of the inputs.
    pub packed: bool,
    /// Whether records may be copied.
    pub copies_fit: bool,
}

/// The shallowest depth that brings a column's entries of one cluster, which these pieces hold, into the asked layout.
pub(crate) fn depth(column: &Column, range: &Range<usize>, asked: &OutputCluster) -> Depth {
    let entries = &asked.entries;
    let pieces = column.source.pieces.get(range.clone()).unwrap_or_default();
    let whole = |p: &Piece| p.first_entry >= entries.start && p.end() <= entries.end && !p.is_embedded();
    let whole = column.source.takes_whole(range) && pieces.iter().all(whole);
    if column.is_misread() || !whole || !shape_fits(column, pieces, asked.packed) {
        return Depth::Regroup;
    }
    let as_asked =
        |p: &Piece| usize::try_from(p.file).ok().and_then(|f| column.target.met_by_file.get(f)).is_some_and(|a| *a);
    if asked.copies_fit && pieces.iter().all(as_asked) {
        return Depth::Copy;
    }
    Depth::Recompress
}

/// Whether the baskets there are, are as asked. Their sizes before compression are estimated: only their
/// records know them.
fn shape_fits(column: &Column, pieces: &[Piece], packed: bool) -> bool {
    // A basket that the next one's first half would still fit into was closed too early.
    let full = |size: u32| {
        let enough = |pair: &[Piece]| {
            column.source.expanded_bytes(&pair[0]) + column.source.expanded_bytes(&pair[1]) / 2 > u64::from(size)
        };
        pieces.windows(2).all(enough)
    };
    match column.target.shape {
        // Baskets cannot be joined where a branch has fewer entries than its tree.
        Shape::Keep(size) => !packed || has_gap(pieces) || full(column.target.packed_size.unwrap_or(size)),
        Shape::PerCluster => pieces.len() <= 1,
        Shape::Size(size) => {
            let most = u64::from(size) + u64::from(size) / 8;
            full(size) && pieces.iter().all(|p| column.source.expanded_bytes(p) <= most || p.entries == 1)
        }
    }
}

fn has_gap(pieces: &[Piece]) -> bool {
    pieces.windows(2).any(|pair| pair[0].end() != pair[1].first_entry)
}
