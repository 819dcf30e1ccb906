//! The depth at which a column's entries of one cluster are opened: the shallowest that gives the requested layout.

use std::ops::Range;

use dataset::table::piece::Piece;

use super::target::Shape;
use super::tree::column::Column;

/// How deep the entries of a column are opened in a cluster.
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

/// Number of clusters of a column by depth.
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
    /// Counts one cluster.
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

/// A cluster of the output: what the choice of depth depends on.
#[derive(Clone, Debug)]
pub(crate) struct OutputCluster {
    /// Its entries.
    pub entries: Range<u64>,
    /// Whether it is packed from several clusters of the inputs.
    pub packed: bool,
    /// Whether records may be copied.
    pub copies_fit: bool,
}

/// The shallowest depth that gives a column's entries in one cluster the requested layout. `range` are their pieces.
pub(crate) fn depth(column: &Column, range: &Range<usize>, cluster: &OutputCluster) -> Depth {
    let entries = &cluster.entries;
    let pieces = column.source.pieces.get(range.clone()).unwrap_or_default();
    let whole = |p: &Piece| p.first_entry >= entries.start && p.end() <= entries.end && p.record().is_some();
    let whole = column.source.takes_whole(range) && pieces.iter().all(whole);
    if pieces.iter().any(|piece| column.source.recast(piece).is_some()) {
        return Depth::Regroup;
    }
    if column.is_misread() || !whole || !shape_fits(column, pieces, cluster.packed) {
        return Depth::Regroup;
    }
    let is_met = |p: &Piece| p.file().and_then(|f| column.target.met_by_file.get(f as usize)).is_some_and(|a| *a);
    if cluster.copies_fit && pieces.iter().all(is_met) {
        return Depth::Copy;
    }
    Depth::Recompress
}

/// Whether baskets have the requested shape already. Their sizes before compression are estimates: the exact sizes are
/// only in their records.
fn shape_fits(column: &Column, pieces: &[Piece], packed: bool) -> bool {
    // A basket is too small if half of the next one would still fit.
    let full = |size: u32| {
        let enough = |pair: &[Piece]| {
            column.source.expanded_bytes(&pair[0]) + column.source.expanded_bytes(&pair[1]) / 2 > u64::from(size)
        };
        pieces.windows(2).all(enough)
    };
    match column.target.shape {
        // Baskets cannot be joined across missing entries.
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
