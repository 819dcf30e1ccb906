//! The entries of a table, step by step: what is read of some columns for them, and their numbers. Without a column nothing is read, and
//! entries are only counted. What is done with a step is not known here.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::parts::EvaluatedRows;
use crate::arrow::read::{BatchSize, NamedTable, ReadCost, Request};
use crate::execute::budget::Budget;
use crate::execute::progress::unwatched;

/// Bytes of columns that are read at a time, for all threads.
pub(crate) const STEP: u64 = 32 << 20;
/// Bytes that an expression makes of a byte that is read, at most: a number, and its place in a list or the number of its entry.
pub(crate) const MADE: u64 = 16;
/// Entries of a step where no column is read.
const UNREAD: u64 = 1 << 16;
/// Largest table whose entries are counted without their columns: a file may claim any number.
const MOST_UNREAD: u64 = 1 << 36;

/// Which entries are read, and how.
pub(crate) struct Steps<'a> {
    pub table: &'a dyn NamedTable,
    /// Their columns.
    pub columns: &'a [usize],
    pub entries: Range<u64>,
    /// Only these of them.
    pub selection: Option<&'a EntrySet>,
    pub budget: Budget,
    /// Bytes that are read at a time, at most.
    pub bytes: u64,
    /// Bytes that are made of a byte that is read, at most: numbers have 8 bytes, where a column may have one. A step takes at most half of
    /// the memory with all of them.
    pub made: u64,
    pub team: Option<Arc<ThreadPool>>,
    /// Entries of the tables before this one, where several are one after the other.
    pub before: u64,
}

/// Some entries.
pub(crate) struct StepRows {
    /// The values of the columns.
    pub arrays: Vec<ArrayRef>,
    /// What reading each column cost.
    pub spent: Vec<ReadCost>,
    count: usize,
    first: u64,
    numbers: Option<Vec<u64>>,
    before: u64,
}

impl StepRows {
    pub fn rows(&self) -> EvaluatedRows<'_> {
        let Self { count, first, before, .. } = *self;
        EvaluatedRows { count, first, numbers: self.numbers.as_deref(), before }
    }
}

impl Steps<'_> {
    /// Calls `take` with each step, until it has enough.
    ///
    /// # Errors
    ///
    /// A column cannot be read, or `take` fails.
    pub fn each(&self, mut take: impl FnMut(&StepRows) -> Result<ControlFlow<()>>) -> Result<()> {
        let end = self.entries.end.min(self.table.entries());
        let entries = self.entries.start.min(end)..end;
        let mut rank = self.selection.map_or(0, |set| set.rank(entries.start));
        let mut first = entries.start;
        let mut step = |arrays: Vec<ArrayRef>, spent: Vec<ReadCost>, count: usize| {
            let ranks = rank..rank + count as u64;
            let numbers = self.selection.map(|set| set.runs(ranks.clone()).flatten().collect());
            let taken = take(&StepRows { arrays, spent, count, first, numbers, before: self.before });
            (rank, first) = (ranks.end, first + count as u64);
            taken
        };
        if self.columns.is_empty() {
            let mut left = self.selection.map_or(end - entries.start, |set| set.count(&entries));
            if left > MOST_UNREAD {
                return Err(Error::request(format!("the table has too many entries to look at each: {left}")));
            }
            while left > 0 {
                let count = UNREAD.min(left);
                if step(Vec::new(), Vec::new(), usize::try_from(count).unwrap_or(usize::MAX))?.is_break() {
                    break;
                }
                left -= count;
            }
            return Ok(());
        }
        let (columns, selection) = (self.columns.to_vec(), self.selection.cloned());
        let request = Request { columns, entries, selection, budget: self.budget, progress: &unwatched };
        let bytes = self.bytes.min(self.budget.memory / 2 / self.made.saturating_add(1));
        for read in self.table.batches(request, BatchSize::Bytes(bytes), self.team.clone()) {
            let read = read?;
            if step(read.batch.columns().to_vec(), read.spent, read.batch.num_rows())?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
