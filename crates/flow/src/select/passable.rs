//! For programs that test entries by themselves: the entries that a condition cannot be true for need not be read, and what is read for a
//! test is remembered. Columns have numbers here, so that a name means what it means to the program.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use dataset::EntrySet;
use expr::{Expression, NamedColumn, Names};
use rayon::ThreadPool;
use rootfile::Result;

use super::cuts::{CUT, refused};
use super::decided::Decided;
use super::parts::EvaluatedRows;
use super::seen::Seen;
use crate::arrow::read::{NamedTable, Request};

/// The columns of a table by their numbers: `c3`.
struct Numbered<'a>(&'a dyn NamedTable);

impl Names for Numbered<'_> {
    fn column(&self, name: &str) -> Option<NamedColumn> {
        let number = name.strip_prefix('c')?.parse().ok()?;
        Some(NamedColumn { number, data_type: self.0.field(number)?.data_type().clone() })
    }

    fn alias(&self, _: &str) -> Option<String> {
        None
    }

    fn known(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The entries of a range, among those that are selected, for which a condition over columns by their numbers (`c3 > 5`) may be true, by
/// what is known of these. None if these are all. Nothing is read. Of a budget of `memory` bytes what is known may take a part.
///
/// # Errors
///
/// The text is no condition on such columns.
pub fn passable(
    table: &dyn NamedTable,
    condition: &str,
    entries: Range<u64>,
    selection: Option<&EntrySet>,
    memory: u64,
) -> Result<Option<EntrySet>> {
    let bound = Expression::parse(condition).and_then(|parsed| parsed.bind(&Numbered(table))?.condition());
    let bound = bound.map_err(|e| refused(&e, CUT))?;
    table.forget_changed(memory);
    let range = EntrySet::range(entries);
    let named = selection.map_or(range.clone(), |selected| selected.intersection(&range));
    Ok(Decided::of(table, &[(0, bound)], Some(&named), 0).passable(&named, table.entries()))
}

/// What is read in steps, of which the table remembers what is known.
pub struct Remembering<'a> {
    seen: Seen<'a>,
    /// The entries, and how many of them have been read.
    entries: EntrySet,
    read: u64,
    is_selected: bool,
    team: Option<Arc<ThreadPool>>,
}

impl<'a> Remembering<'a> {
    /// Begins with the first entry of a request. What is remembered has room within its budget.
    ///
    /// # Errors
    ///
    /// No threads can be had.
    pub fn new(table: &'a dyn NamedTable, request: &Request<'_>) -> Result<Self> {
        let Request { columns, entries, selection, budget, .. } = request;
        let range = EntrySet::range(entries.clone());
        let entries = selection.as_ref().map_or(range.clone(), |selected| selected.intersection(&range));
        let seen = Seen::new(table, columns, Some(&entries), *budget);
        Ok(Self { seen, entries, read: 0, is_selected: selection.is_some(), team: budget.helpers()? })
    }

    /// Looks at the next entries, given the values of all columns.
    pub fn take(&mut self, values: &RecordBatch) {
        let count = values.num_rows();
        let ranks = self.read..self.read + count as u64;
        let first = self.entries.nth(ranks.start).unwrap_or_default();
        let numbers: Option<Vec<u64>> = self.is_selected.then(|| self.entries.runs(ranks.clone()).flatten().collect());
        let rows = EvaluatedRows { count, first, numbers: numbers.as_deref(), before: 0 };
        self.read = ranks.end;
        self.seen.take(values.columns(), &rows, self.team.as_deref());
    }
}
