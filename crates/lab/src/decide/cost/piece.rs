//! Baskets and pages that codecs are tried on, and where in a column samples are taken.

use dataset::ntuple::element::Encoding;
use flow::uniform;
use rootfile::Result;

use super::bench::{CodecBench, Trial};
use super::column::Column;
use super::packing::Packing;
use crate::math::as_f64;

/// Bytes from one place; more come from several.
const PLACE: usize = 128 << 10;
/// Places at most.
const MOST_PLACES: usize = 4;

/// A basket or page that a codec is tried on.
#[derive(Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// Its bytes before compression.
    pub payload: &'a [u8],
    /// Bytes before compression of the same entries as the file has them: a packing may have fewer.
    pub raw: usize,
    /// For a page: how its elements are encoded, their number, and the seconds to encode them.
    pub page: Option<(&'a Encoding, usize, f64)>,
}

impl Piece<'_> {
    /// The result of a codec on the piece.
    pub fn trial(&self, packing: Packing, bench: &mut (dyn CodecBench + '_)) -> Result<Trial> {
        let trial = bench.trial(packing.compression, self.payload)?;
        let Some((encoding, elements, encode)) = self.page else { return Ok(trial) };
        Ok(Trial { decode: bench.decode_page(encoding, self.payload, elements)?, encode, ..trial })
    }
}

/// What is read of a column.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Bytes before compression, about.
    pub target: usize,
    /// Of these, bytes at one place at least.
    pub least: usize,
    /// Baskets of more bytes are skipped, since there is no memory for them.
    pub largest: usize,
    /// The places depend on it alone.
    pub seed: u64,
}

/// The places of a sample.
pub(super) struct Places {
    /// How many.
    pub count: usize,
    /// Entries of the column.
    entries: u64,
}

impl Places {
    /// For about `target` bytes of a column, at least `least` at each.
    pub fn new(column: &Column, target: usize, least: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
        let piece = (column.raw / column.count().max(1.0)) as usize;
        let count = (target / PLACE.max(piece).max(least)).clamp(1, MOST_PLACES);
        let entries = column.written().last().map_or(0, |b| b.first_entry + b.entries);
        Self { count, entries }
    }

    /// The index of the piece at a place, which depends on `seed` alone.
    pub fn piece(&self, column: &Column, place: usize, seed: u64) -> usize {
        let position = (as_f64(place as u64) + uniform(seed, place as u64)) / as_f64(self.count as u64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among entries")]
        let entry = (as_f64(self.entries) * position) as u64;
        column.baskets.partition_point(|b| b.first_entry <= entry).saturating_sub(1)
    }
}
