//! Fills a column with the entries of baskets.

use std::ops::Range;

use arrow_array::ArrayRef;
use rootfile::{Error, Result};

use super::ColumnPlan;
use super::column::Column;
use super::entries;
use super::op::Op;
use super::pick::{self, Chosen};
use super::schema::Layout;
use super::types::Number;
use crate::tree::basket::{BasketData, Entries};

/// A column that is being filled with entries.
#[derive(Debug)]
pub struct ColumnBuilder {
    plan: ColumnPlan,
    column: Column,
}

impl ColumnBuilder {
    pub(super) fn new(plan: ColumnPlan, entries: usize, bytes: usize) -> Self {
        let mut column = Column::new(&plan.0.plan.shape, entries);
        column.reserve_bytes(bytes);
        Self { column, plan }
    }

    /// Decodes entries, given by their numbers within the basket. `counts` has for each of the plan's
    /// [`counters`](ColumnPlan::counters) its values of that range of entries, one after the other: one for each
    /// entry, or where the counter's own column is a list, its items. After an error the column is of no use.
    pub fn append(&mut self, basket: &BasketData, range: Range<usize>, counts: &[Vec<u64>]) -> Result<()> {
        if range.end > basket.count as usize || range.start > range.end {
            return Err(Error::request("entries that the basket does not have"));
        }
        if range.is_empty() {
            return Ok(());
        }
        let plan = &self.plan.0.plan;
        let appended = match (&mut self.column, plan.layout, &plan.op) {
            (Column::Bytes { offsets, bytes }, Layout::Each, Op::Opaque) => {
                entries::opaque(offsets, bytes, basket, range)
            }
            (column, Layout::Fixed, op) => entries::fixed(op, column, basket, range),
            (column, Layout::Each, Op::Bits) if basket.entries == Entries::Fixed(4) => {
                entries::fixed(&Op::Number(Number::U32), column, basket, range)
            }
            (Column::List { offsets, items, .. }, Layout::Items, op) => {
                entries::items(op, offsets, items, basket, range)
            }
            (column, Layout::Each, _) => {
                entries::reserve(plan, column, basket, range.clone())?;
                entries::each(plan, column, basket, range, counts)
            }
            _ => Err(misfit()),
        };
        appended.map_err(|e| self.of_branch(e))
    }

    /// Decodes entries that are no neighbours, given by their numbers in the tree, in ascending order; `first` is that
    /// of the basket's first entry. `counts` are as for [`append`](Self::append), of all entries from the first to the
    /// last of these.
    pub fn append_scattered(
        &mut self,
        basket: &BasketData,
        first: u64,
        numbers: &[u64],
        counts: &[Vec<u64>],
    ) -> Result<()> {
        let chosen = Chosen::new(basket, first, numbers)?;
        let plan = &self.plan.0.plan;
        let appended = match (&mut self.column, plan.layout, &plan.op) {
            (Column::Bytes { offsets, bytes }, Layout::Each, Op::Opaque) => {
                entries::opaque(offsets, bytes, basket, chosen.iter())
            }
            (column, Layout::Fixed, op) => pick::fixed(op, column, basket, chosen),
            (column, Layout::Each, Op::Bits) if basket.entries == Entries::Fixed(4) => {
                pick::fixed(&Op::Number(Number::U32), column, basket, chosen)
            }
            (Column::List { offsets, items, .. }, Layout::Items, op) => pick::items(op, offsets, items, basket, chosen),
            (column, Layout::Each, _) => entries::each(plan, column, basket, chosen.iter(), counts),
            _ => Err(misfit()),
        };
        appended.map_err(|e| self.of_branch(e))
    }

    fn of_branch(&self, e: Error) -> Error {
        e.object(format!("branch {}", self.plan.0.field.name()))
    }

    /// Adds entries that are in no basket: zeros, empty lists, empty texts.
    pub fn append_missing(&mut self, entries: usize) -> Result<()> {
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

    /// The Arrow array.
    pub fn finish(self) -> Result<ArrayRef> {
        let name = self.plan.0.field.name().clone();
        self.column.finish().map_err(|e| e.object(format!("branch {name}")))
    }
}

#[cold]
fn misfit() -> Error {
    Error::unsupported("a plan that does not fit its column")
}
