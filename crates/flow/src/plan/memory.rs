//! What a plan needs of memory while it runs, besides its metadata.

use dataset::tree::basket::{BasketHeader, Peek};

use super::table::TablePlan;
use crate::column::{Column, Piece, Shape};
use crate::engine::{Asked, Depth, depth, spans_several};

/// How much larger than on average in its basket an entry that varies in length is thought to be, at most.
const UNEVEN: u64 = 16;
/// How much larger than now baskets may become under another codec.
const WORSE: u64 = 4;
/// What the weakest codec makes of bytes that are all the same: one of so many.
const SMALLEST: u64 = 128;
/// Bytes that a column may need without a look at each of its clusters and baskets.
const EXACT: u64 = 4 << 20;
/// Bytes of a record that are read for its header.
const HEADER: usize = 4096;

impl TablePlan {
    /// Bytes of baskets that are kept since more than two clusters use them.
    pub fn kept(&self) -> u64 {
        let of_column = |column: &Column| {
            let wide = column.pieces.iter().filter(|piece| spans_several(piece, &self.bounds));
            wide.map(|piece| column.unpacked(piece)).max().unwrap_or(0)
        };
        let recoded = self.recodes.iter().flat_map(|recode| &recode.sources).map(|source| &source.column);
        self.columns.iter().chain(recoded).map(of_column).sum()
    }

    /// Bytes of buffers that one thread needs at most, by what is known of basket sizes. `check` says whether records
    /// that are copied are decompressed on the way.
    pub fn scratch(&self, check: bool) -> u64 {
        let longest = self.bounds.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0).max(1);
        let of_column = |column: &Column| match regrouping(column, &self.bounds, longest) {
            // Only where it matters is the depth of each cluster looked at, and the headers of large baskets.
            much if much > EXACT => much.min(self.by_depth(column, longest, check)),
            little => little,
        };
        let recodes = self.recodes.iter().map(|recode| recode.scratch(longest)).max().unwrap_or(0);
        // Besides: a window of copies or finished baskets, and the codecs' own state.
        self.columns.iter().map(of_column).max().unwrap_or(0).max(recodes) + (8 << 20)
    }

    /// Bytes that a column needs by what is done in each of its clusters: most where entries are put into new baskets,
    /// and the record alone where it is copied.
    fn by_depth(&self, column: &Column, longest: u64, check: bool) -> u64 {
        let (mut at, mut most) = (0, 0);
        let mut regroups = false;
        for (i, bound) in self.bounds.windows(2).enumerate() {
            let [start, end] = *bound else { continue };
            let packed = self.packed.get(i).copied().unwrap_or(false);
            let asked = Asked { entries: start..end, packed, copies_fit: self.copies_fit };
            let range = column.overlapping_next(&mut at, &asked.entries);
            let pieces = column.pieces.get(range.clone()).unwrap_or_default();
            let depth = match pieces.is_empty() {
                true => continue,
                false => depth(column, &range, &asked),
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
        if regroups { regrouping(column, &self.bounds, longest) } else { most }
    }

    /// Bytes for a record that is copied; nothing where only its header could tell, and that cannot be read.
    fn copying(&self, column: &Column, piece: &Piece, check: bool) -> Option<u64> {
        let record = u64::from(piece.nbytes);
        let decompresses = match check || column.unpacked(piece) <= EXACT {
            true => check,
            false => self.header(piece, |header| column.check(piece, header).unwrap_or(true))?,
        };
        Some(record + if decompresses { self.unpacked(column, piece)? } else { 0 })
    }

    /// The same for a record that is compressed anew; nothing if it needs to be put together anew.
    fn recompressing(&self, column: &Column, piece: &Piece) -> Option<u64> {
        let same = |header: &Peek<'_>| {
            usize::from(header.keylen) == column.keylen()
                && header.io_bits == column.io_bits
                && !column.check(piece, header).unwrap_or(true)
        };
        let raw = self.unpacked(column, piece)?;
        self.header(piece, same)?.then(|| u64::from(piece.nbytes) + raw + packed(column, raw, piece.nbytes.into()))
    }

    /// Bytes of a piece's entries in memory, as its header says.
    fn unpacked(&self, column: &Column, piece: &Piece) -> Option<u64> {
        let places = if column.has_offsets { 4 * piece.entries } else { 0 };
        Some(u64::from(self.header(piece, |header| header.objlen)?).max(piece.nbytes.into()).saturating_add(places))
    }

    /// Something of the header of a piece's record, if there is one.
    fn header<T>(&self, piece: &Piece, what: impl FnOnce(&Peek<'_>) -> T) -> Option<T> {
        if piece.is_embedded() {
            return None;
        }
        let file = self.files.get(usize::try_from(piece.file).ok()?)?;
        let start = file.read(piece.seek, (piece.nbytes as usize).min(HEADER)).ok()?;
        BasketHeader::peek(&start).ok().map(|header| what(&header))
    }
}

/// Bytes that a column needs at most where all of its entries are put into new baskets.
fn regrouping(column: &Column, bounds: &[u64], longest: u64) -> u64 {
    let record = column.pieces.iter().map(|p| u64::from(p.nbytes)).max().unwrap_or(0);
    // A basket that many clusters use is there once for all threads; where there are several, one thread may be ahead
    // with the next.
    let several = column.pieces.iter().filter(|piece| spans_several(piece, bounds)).nth(1).is_some();
    let own = column.pieces.iter().filter(|piece| several || !spans_several(piece, bounds));
    let raw = own.map(|p| column.unpacked(p)).max().unwrap_or(0);
    let kept = column.pieces.iter().map(|p| column.unpacked(p)).max().unwrap_or(0);
    let total: u64 = column.pieces.iter().map(|p| column.expanded(p)).sum();
    let entries = column.recorded_entries().max(1);
    let entry = column.largest_entry().saturating_mul(if column.has_offsets { UNEVEN } else { 1 });
    let basket = match column.shape {
        Shape::Size(size) | Shape::Keep(size) => {
            // A buffer said to be large holds no more than there is.
            let asked = u64::from(size.max(column.packed_size.unwrap_or(0))).min(column.tot_bytes);
            let cluster = entry.saturating_mul(longest).min(total);
            // An entry is whole in a basket.
            asked.max(entry.min(raw.max(kept))).min(cluster)
        }
        Shape::PerCluster => total.div_ceil(entries).saturating_mul(longest).min(total),
    };
    record + raw + basket + packed(column, basket.max(raw), record)
}

/// Bytes after compression of so many, which `record` bytes are made of now.
fn packed(column: &Column, raw: u64, record: u64) -> u64 {
    match column.compression.is_none() {
        true => raw,
        false => raw.min(record.saturating_mul(WORSE) + raw / SMALLEST),
    }
}
