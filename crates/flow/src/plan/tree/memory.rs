//! Memory that a plan needs while it runs, besides its metadata.

use dataset::table::piece::Piece;
use dataset::tree::basket::{BasketHeader, Peek};
use rootfile::codec::MAX_BLOCK;

use super::model::TablePlan;
use crate::table::depth::{Depth, OutputCluster, depth};
use crate::table::memory::MOVING_THREAD;
use crate::table::piece::spans_several;
use crate::table::target::Shape;
use crate::table::tree::column::Column;

/// Largest size of a variable-length entry, as a multiple of the average in its basket.
const MAX_ENTRY_FACTOR: u64 = 16;
/// Largest growth of baskets under another codec.
const MAX_GROWTH: u64 = 4;
/// Compression factor of the weakest codec for constant bytes.
const CONSTANT_FACTOR: u64 = 128;
/// Below this many bytes the clusters and baskets of a column are not examined one by one.
const EXAMINE_ABOVE: u64 = 4 << 20;
/// Bytes of a record that are read for its header.
const HEADER: usize = 4096;

impl TablePlan {
    /// Bytes of baskets that are kept because more than two clusters use them.
    pub fn kept(&self) -> u64 {
        let of_column = |column: &Column| {
            let wide = column.source.pieces.iter().filter(|piece| spans_several(piece, &self.clusters.bounds));
            wide.map(|piece| column.unpacked(piece)).max().unwrap_or(0)
        };
        let recoded = self.recodes.iter().flat_map(|recode| &recode.sources).map(|source| &source.column);
        self.columns.iter().chain(recoded).map(of_column).sum()
    }

    /// Largest buffers that one thread needs, in bytes, by the known sizes of baskets. `check` says whether copied records are
    /// decompressed.
    pub fn scratch(&self, check: bool) -> u64 {
        let longest = self.clusters.bounds.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0).max(1);
        let of_column = |column: &Column| match regrouping(column, &self.clusters.bounds, longest) {
            // The depths of clusters and the headers of large baskets are examined only for large columns.
            much if much > EXAMINE_ABOVE => much.min(self.by_depth(column, longest, check)),
            little => little,
        };
        let recodes = self.recodes.iter().map(|recode| recode.scratch(longest)).max().unwrap_or(0);
        self.columns.iter().map(of_column).max().unwrap_or(0).max(recodes) + MOVING_THREAD
    }

    /// Bytes that a column needs by the depth of each of its clusters: most where entries are regrouped, and the record alone
    /// where it is copied.
    fn by_depth(&self, column: &Column, longest: u64, check: bool) -> u64 {
        let (mut at, mut most) = (0, 0);
        let mut regroups = false;
        for (i, bound) in self.clusters.bounds.windows(2).enumerate() {
            let [start, end] = *bound else { continue };
            let packed = self.clusters.packed.get(i).copied().unwrap_or(false);
            let cluster = OutputCluster { entries: start..end, packed, copies_fit: self.copies_fit };
            let range = column.source.overlapping_next(&mut at, &cluster.entries);
            let pieces = column.source.pieces.get(range.clone()).unwrap_or_default();
            let depth = match pieces.is_empty() {
                true => continue,
                false => depth(column, &range, &cluster),
            };
            for piece in pieces {
                let need = match depth {
                    Depth::Copy => self.copying(column, piece, check),
                    Depth::Recompress => self.recompressing(column, piece),
                    Depth::Regroup | Depth::Recode => None,
                };
                match need {
                    Some(need) => most = need.max(most),
                    None => regroups = true,
                }
            }
        }
        if regroups { regrouping(column, &self.clusters.bounds, longest) } else { most }
    }

    /// Bytes for copying a record. `None` if its header is needed and cannot be read.
    fn copying(&self, column: &Column, piece: &Piece, check: bool) -> Option<u64> {
        let record = u64::from(piece.packed_len());
        let decompresses = match check || column.unpacked(piece) <= EXAMINE_ABOVE {
            true => check,
            false => self.header(piece, |header| column.check(piece, header).unwrap_or(true))?,
        };
        Some(record + if decompresses { self.unpacked(column, piece)? } else { 0 })
    }

    /// Bytes for recompressing a record. `None` if it must be regrouped.
    fn recompressing(&self, column: &Column, piece: &Piece) -> Option<u64> {
        let same = |header: &Peek<'_>| {
            usize::from(header.keylen) == column.keylen()
                && header.io_bits == column.form.io_bits
                && header.has_boundaries() == column.form.has_offsets
                && !column.check(piece, header).unwrap_or(true)
        };
        let raw = self.unpacked(column, piece)?;
        self.header(piece, same)?
            .then(|| u64::from(piece.packed_len()) + raw + packed(column, raw, piece.packed_len().into()))
    }

    /// Bytes of a piece's entries in memory, by its header.
    fn unpacked(&self, column: &Column, piece: &Piece) -> Option<u64> {
        let places = if column.form.has_offsets { 4 * piece.entries } else { 0 };
        Some(
            u64::from(self.header(piece, |header| header.objlen)?)
                .max(piece.packed_len().into())
                .saturating_add(places),
        )
    }

    /// Reads the header of a piece's record, if there is one.
    fn header<T>(&self, piece: &Piece, read: impl FnOnce(&Peek<'_>) -> T) -> Option<T> {
        let record = piece.record()?;
        let file = self.files.get(record.file as usize)?;
        let start = file.read(record.offset, (record.len as usize).min(HEADER)).ok()?;
        BasketHeader::peek(&start).ok().map(|header| read(&header))
    }
}

/// Largest number of bytes that a column needs if all of its entries are regrouped.
fn regrouping(column: &Column, bounds: &[u64], longest: u64) -> u64 {
    let record = column.source.pieces.iter().map(|p| u64::from(p.packed_len())).max().unwrap_or(0);
    // Threads share a basket that many clusters use. If there are several such baskets, one thread may be ahead with the
    // next.
    let several = column.source.pieces.iter().filter(|piece| spans_several(piece, bounds)).nth(1).is_some();
    let own = column.source.pieces.iter().filter(|piece| several || !spans_several(piece, bounds));
    let raw = own.map(|p| column.unpacked(p)).max().unwrap_or(0);
    let kept = column.source.pieces.iter().map(|p| column.unpacked(p)).max().unwrap_or(0);
    let total: u64 = column.source.pieces.iter().map(|p| column.source.loaded_bytes(p)).fold(0, u64::saturating_add);
    let entries = column.source.recorded_entries().max(1);
    let entry =
        column.source.largest_entry().saturating_mul(if column.form.has_offsets { MAX_ENTRY_FACTOR } else { 1 });
    let basket = match column.target.shape {
        Shape::Size(size) | Shape::Keep(size) => {
            // A large recorded buffer size holds no more than the column's bytes.
            let requested = u64::from(size.max(column.target.packed_size.unwrap_or(0))).min(column.source.tot_bytes);
            let cluster = entry.saturating_mul(longest).min(total);
            // A basket holds at least one whole entry.
            requested.max(entry.min(raw.max(kept))).min(cluster)
        }
        Shape::PerCluster => total.div_ceil(entries).saturating_mul(longest).min(total),
    };
    record + raw + basket + packed(column, basket.max(raw), record)
}

/// Bytes after compression of `raw` bytes, which are `record` bytes now. While a block is compressed it has room for all of its bytes;
/// that of small baskets is part of what each thread has.
fn packed(column: &Column, raw: u64, record: u64) -> u64 {
    let block = if raw > MOVING_THREAD { raw.min(MAX_BLOCK as u64) } else { 0 };
    match column.target.compression.is_none() {
        true => raw,
        false => raw.min(record.saturating_mul(MAX_GROWTH) + raw / CONSTANT_FACTOR) + block,
    }
}
