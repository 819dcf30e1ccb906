//! Baskets that are not compressed. Their entries are encoded behind the place of the basket's key, in the buffer that is written, and
//! stay there. What comes between two baskets, offsets and the next key, is put in when it is known where the first one ends, so
//! that few bytes behind it are moved.

use std::ops::Range;

use arrow_array::Array;
use rootfile::Result;
use rootfile::bytes::make_room;

use super::branch_fill::BranchFill;
use super::branch_plan::BranchPlan;
use super::made_basket::MadeBasket;
use crate::execute::encode::stream_fill::StreamFill;

/// Least and most bytes that are encoded before baskets are cut. Fewer cost a call each, and of more than half a basket many are
/// moved when it ends.
const PORTION: Range<u32> = 4 << 10..64 << 10;

impl BranchFill {
    /// Adds entries, and makes the baskets that they fill.
    pub(super) fn encode_stored(&mut self, plan: &BranchPlan, array: &dyn Array, rows: Range<usize>) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let end = rows.end.min(at.saturating_add(self.portion()));
            if self.count == 0 {
                let key = self.finished.bytes.len() + plan.header.keylen();
                make_room(&mut self.finished.bytes, plan.header.keylen());
                self.finished.bytes.resize(key, 0);
                self.entries.start = key;
            }
            let before = self.finished.bytes.len();
            make_room(&mut self.finished.bytes, self.entry_bytes * (end - at));
            std::mem::swap(&mut self.finished.bytes, &mut self.entries.bytes);
            let appended = self.encoder.append(array, at..end, &mut self.entries);
            std::mem::swap(&mut self.finished.bytes, &mut self.entries.bytes);
            appended?;
            self.entry_bytes = (self.finished.bytes.len() - before).div_ceil(end - at);
            let baskets = self.cut(end - at)?;
            self.end_stored(plan, &baskets)?;
            at = end;
        }
        Ok(())
    }

    /// Entries to encode at once.
    fn portion(&self) -> usize {
        let portion = match self.entry_size.and_then(|size| u32::try_from(size).ok()) {
            // As many as the basket still takes: nothing is moved.
            Some(size) => usize::try_from(self.cutter.fixed(size)).unwrap_or(usize::MAX).saturating_sub(self.count),
            None => (self.basket_size / 2).clamp(PORTION.start, PORTION.end) as usize / self.entry_bytes.max(64),
        };
        portion.max(1)
    }

    /// Ends baskets: puts their offsets and keys, and the place for the next key, where they belong.
    pub(super) fn end_stored(&mut self, plan: &BranchPlan, baskets: &[Range<usize>]) -> Result<()> {
        let Some(end) = baskets.last().map(|basket| basket.end).filter(|end| *end > 0) else { return Ok(()) };
        let (keylen, has_rest) = (plan.header.keylen(), end < self.count);
        let (mut tails, mut offsets) = (Vec::with_capacity(baskets.len()), Vec::new());
        for (number, basket) in baskets.iter().enumerate() {
            let mut tail = Vec::new();
            self.tail(plan, basket.clone(), (&mut offsets, &mut tail))?;
            let gap = tail.len() + if has_rest || number + 1 < baskets.len() { keylen } else { 0 };
            tails.push((tail, gap));
        }
        let mut shift: usize = tails.iter().map(|(_, gap)| gap).sum();
        let mut moved = self.finished.bytes.len();
        make_room(&mut self.finished.bytes, shift);
        self.finished.bytes.resize(moved + shift, 0);
        // From the last one on, so that nothing is overwritten.
        for (basket, (_, gap)) in baskets.iter().zip(&tails).rev() {
            let end = self.entries.start + self.bytes_of(basket.clone()).end;
            self.finished.bytes.copy_within(end..moved, end + shift);
            shift -= gap;
            moved = end;
        }
        let mut start = self.entries.start - keylen;
        for (basket, (tail, _)) in baskets.iter().zip(&tails) {
            let header = self.header(plan, basket.clone())?;
            let payload = self.bytes_of(basket.clone()).len() + tail.len();
            let end = start + keylen + payload;
            if let Some(slot) = self.finished.bytes.get_mut(end - tail.len()..end) {
                slot.copy_from_slice(tail);
            }
            self.finished.end(header, payload, start..end, (self.column, self.first_entry))?;
            self.count_in(&MadeBasket { entries: basket.len() as u64, raw: end - start, packed: end - start });
            start = end;
        }
        self.forget(baskets);
        self.entries.start = start + keylen;
        Ok(())
    }
}
