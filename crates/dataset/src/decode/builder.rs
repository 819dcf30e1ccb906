//! Fills a column with the entries of baskets.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::{Error, Result};

use super::column_plan::ColumnPlan;
use super::program::model::EntryLayout;
use super::program::op::Op;
use super::program::types::Number;
use super::run::column::Column;
use super::run::entries;
use super::run::pick::{self, SelectedEntries};
use super::run::value::shape_mismatch;
use crate::tree::basket::{BasketData, Entries};

/// A column that is being filled with entries.
#[derive(Debug)]
pub struct ColumnBuilder {
    plan: ColumnPlan,
    column: Column,
    room: Room,
}

/// Bytes of a column that grows: whether the system has room for them is asked before they are needed, since buffers that fail to
/// grow end the process.
#[derive(Clone, Copy, Debug, Default)]
struct Room {
    taken: usize,
    asked: usize,
}

/// Bytes of an offset, which each entry may have.
const OFFSET: usize = 8;
/// Below this many bytes nothing is asked.
const SMALL: usize = 64 << 20;

impl Room {
    /// Takes more bytes. Asks for twice as many as are taken, because buffers grow by doubling.
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > self.asked.max(SMALL) {
            self.asked = self.taken.saturating_mul(2);
            let asked = Vec::<u8>::new().try_reserve_exact(self.asked);
            asked.map_err(|_| Error::memory(self.asked as u64))?;
        }
        Ok(())
    }
}

impl ColumnPlan {
    /// An empty column with room for `entries` entries that take about `bytes` bytes in their baskets, uncompressed.
    pub fn start(&self, entries: usize, bytes: usize) -> ColumnBuilder {
        let mut column = Column::new(&self.program().shape, entries);
        column.reserve_bytes(bytes);
        ColumnBuilder { column, plan: self.clone(), room: Room::default() }
    }
}

impl ColumnBuilder {
    /// Decodes the entries `range` of a basket, by their numbers within the basket. `counts` has for each of the plan's
    /// [`counters`](ColumnPlan::counters) the values of these entries, one after the other: one value for each entry, or the
    /// items where the counter's own column is a list.
    ///
    /// # Errors
    ///
    /// If the basket does not have the entries, or if its bytes do not fit the plan. The column is then unusable.
    pub fn append(&mut self, basket: &BasketData, range: Range<usize>, counts: &[Vec<u64>]) -> Result<()> {
        if range.end > basket.count as usize || range.start > range.end {
            return Err(Error::request("entries that the basket does not have"));
        }
        if range.is_empty() {
            return Ok(());
        }
        let share = basket.data.len() / (basket.count as usize).max(1);
        self.room.take((share + OFFSET).saturating_mul(range.len())).map_err(|e| self.of_branch(e))?;
        let program = self.plan.program();
        let appended = match (&mut self.column, program.layout, &program.op) {
            (Column::Bytes { offsets, bytes }, EntryLayout::Each, Op::Opaque) => {
                entries::opaque(offsets, bytes, basket, range)
            }
            (column, EntryLayout::Fixed, op) => entries::fixed(op, column, basket, range),
            (column, EntryLayout::Each, Op::TObjectBits) if basket.entries == Entries::Fixed(4) => {
                entries::fixed(&Op::Number(Number::U32), column, basket, range)
            }
            (Column::List { offsets, items, .. }, EntryLayout::Items, op) => {
                entries::items(op, offsets, items, basket, range)
            }
            (column, EntryLayout::Each, _) => {
                entries::reserve(program, column, basket, range.clone())?;
                entries::each(program, column, basket, range, counts)
            }
            _ => Err(shape_mismatch()),
        };
        appended.map_err(|e| self.of_branch(e))
    }

    /// Decodes entries that are not consecutive, by their numbers in the tree, in ascending order. `first` is the number of the
    /// basket's first entry. `counts` are as for [`append`](Self::append), of all entries from the first to the last of `numbers`.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append).
    pub fn append_scattered(
        &mut self,
        basket: &BasketData,
        first: u64,
        numbers: &[u64],
        counts: &[Vec<u64>],
    ) -> Result<()> {
        let selected = SelectedEntries::new(basket, first, numbers)?;
        let share = basket.data.len() / (basket.count as usize).max(1);
        self.room.take((share + OFFSET).saturating_mul(numbers.len())).map_err(|e| self.of_branch(e))?;
        let program = self.plan.program();
        let appended = match (&mut self.column, program.layout, &program.op) {
            (Column::Bytes { offsets, bytes }, EntryLayout::Each, Op::Opaque) => {
                entries::opaque(offsets, bytes, basket, selected.iter())
            }
            (column, EntryLayout::Fixed, op) => pick::fixed(op, column, basket, selected),
            (column, EntryLayout::Each, Op::TObjectBits) if basket.entries == Entries::Fixed(4) => {
                pick::fixed(&Op::Number(Number::U32), column, basket, selected)
            }
            (Column::List { offsets, items, .. }, EntryLayout::Items, op) => {
                pick::items(op, offsets, items, basket, selected)
            }
            (column, EntryLayout::Each, _) => entries::each(program, column, basket, selected.iter(), counts),
            _ => Err(shape_mismatch()),
        };
        appended.map_err(|e| self.of_branch(e))
    }

    fn of_branch(&self, e: Error) -> Error {
        e.object(format!("branch {}", self.plan.field().name()))
    }

    /// Appends default values (zeros, empty lists, empty strings) for entries that no basket has.
    ///
    /// # Errors
    ///
    /// If a value would be a large array, or the system has no memory for them.
    pub fn append_missing(&mut self, entries: usize) -> Result<()> {
        self.room
            .take(self.column.width().saturating_mul(OFFSET).saturating_mul(entries))
            .map_err(|e| self.of_branch(e))?;
        self.column.push_default(entries)
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The Arrow array of all appended entries.
    ///
    /// # Errors
    ///
    /// If the values do not form an array of the field's type.
    pub fn finish(self) -> Result<ArrayRef> {
        let name = self.plan.field().name().clone();
        self.column.finish().map_err(|e| e.object(format!("branch {name}")))
    }
}

#[cfg(test)]
mod tests {
    use rootfile::ErrorKind;

    use super::*;

    #[test]
    fn memory_that_no_system_has_is_an_error() {
        let mut room = Room::default();
        room.take(SMALL).unwrap();
        assert!(matches!(room.take(usize::MAX / 4).unwrap_err().kind(), ErrorKind::Memory(_)));
    }
}
