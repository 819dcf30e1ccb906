//! Entry boundaries that were left out of baskets (`kGenerateOffsetMap`), found again from the branch's counter.
//!
//! With that feature ROOT does not write the offsets of a branch whose entries' lengths follow from another
//! branch (`TBasket::GetEntryOffset`, `TLeaf::GenerateOffsetArrayBase`): an entry has the counter's value times
//! the length of one item.

use std::sync::Arc;

use dataset::tree::basket::{BasketData, Entries};
use rootfile::{Error, Result};

use super::worker::Scratch;
use crate::column::{Column, Files, Piece};

/// How long the entries of a branch are, by its counter.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The counting branch.
    pub counter: Arc<Column>,
    /// Where the count lies in an entry of the counter, and in how many bytes.
    pub at: usize,
    /// Bytes of the count.
    pub width: usize,
    /// Bytes of an entry for each count.
    pub each: u32,
    /// Bytes of an entry besides.
    pub besides: u32,
    /// Bytes of one number, which is all that ROOT counts for each: where items are arrays it finds other offsets
    /// than it wrote by, and reads wrong values (seen with 6.40).
    pub number: u32,
}

impl Generated {
    /// Whether ROOT finds the right offsets, so that they may be left out.
    pub(crate) fn root_agrees(&self) -> bool {
        self.each == self.number && self.besides == 0
    }

    /// The boundaries of a piece's entries.
    pub(super) fn offsets(&self, files: &Files, piece: &Piece, data: &BasketData) -> Result<Entries> {
        let mut ends = vec![0u32];
        let wanted = piece.first_entry..piece.end();
        let mut scratch = Scratch::new();
        for index in self.counter.overlapping(&wanted) {
            let Some(counts) = self.counter.pieces.get(index) else { continue };
            let values = scratch.load(files, &self.counter, index)?;
            for entry in wanted.start.max(counts.first_entry)..wanted.end.min(counts.end()) {
                let i = usize::try_from(entry - counts.first_entry).unwrap_or(usize::MAX);
                let bytes = values.range(i).and_then(|r| values.data.get(r)).unwrap_or_default();
                let bytes = bytes.get(self.at..self.at + self.width).ok_or_else(short)?;
                let count = bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
                let len = u32::try_from(count).ok().and_then(|n| n.checked_mul(self.each)).ok_or_else(short)?;
                let last = ends.last().copied().unwrap_or(0);
                ends.push(last.checked_add(len).and_then(|n| n.checked_add(self.besides)).ok_or_else(short)?);
            }
        }
        let whole = ends.last().is_some_and(|end| *end as usize == data.data.len());
        if ends.len() != data.count as usize + 1 || !whole {
            return Err(Error::corrupt("entry lengths by the counter do not add up to the basket"));
        }
        Ok(Entries::Offsets(ends))
    }
}

#[cold]
fn short() -> Error {
    Error::corrupt("a counter that does not fit the entries it counts")
}
