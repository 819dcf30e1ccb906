//! Entry offsets that were left out of baskets (`kGenerateOffsetMap`): how they follow from the branch's counter.
//!
//! With that feature ROOT does not write the offsets of a branch whose entries' lengths follow from another
//! branch (`TBasket::GetEntryOffset`, `TLeaf::GenerateOffsetArrayBase`): an entry has the counter's value times
//! the length of one item.

use std::sync::Arc;

use super::column::Column;

/// The lengths of a branch's entries by its counter.
#[derive(Clone, Debug)]
pub struct CountedOffsets {
    /// The counting branch.
    pub counter: Arc<Column>,
    /// Offset of the count in an entry of the counter.
    pub at: usize,
    /// Bytes of the count.
    pub width: usize,
    /// Bytes of an entry per count.
    pub each: u32,
    /// Bytes of an entry that do not depend on the count.
    pub besides: u32,
    /// Bytes of one number. ROOT assumes these bytes per count: where items are arrays it computes wrong offsets, and reads
    /// wrong values (seen with 6.40).
    pub number: u32,
}

impl CountedOffsets {
    /// Whether ROOT finds the right offsets, so that they may be left out.
    pub(crate) fn root_agrees(&self) -> bool {
        self.each == self.number && self.besides == 0
    }
}
