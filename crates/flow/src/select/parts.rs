//! Rows that are evaluated in parts, on all threads: the parts do not depend on their number, and neither do values and errors.

use std::ops::Range;

use arrow_array::ArrayRef;
use expr::Entries;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rootfile::{Error, Hint, Result};

use crate::arrow::read::NamedTable;

/// Entries that one thread evaluates together.
const PART: usize = 1 << 14;

/// Rows whose entries have these numbers.
#[derive(Clone, Copy, Debug)]
pub struct EvaluatedRows<'a> {
    /// How many.
    pub count: usize,
    /// The number of the first entry.
    pub first: u64,
    /// The numbers of all, if they do not follow each other.
    pub numbers: Option<&'a [u64]>,
    /// Entries of the tables before this one, where several are one after the other: expressions count them as well.
    pub before: u64,
}

impl EvaluatedRows<'_> {
    /// The arrays of a part.
    pub(super) fn arrays(&self, arrays: &[ArrayRef], part: &Range<usize>) -> Vec<ArrayRef> {
        arrays.iter().map(|array| array.slice(part.start, part.len())).collect()
    }

    /// The number of the entry in a row.
    pub(super) fn entry(&self, row: usize) -> u64 {
        self.numbers.map_or(self.first + row as u64, |all| all.get(row).copied().unwrap_or(0))
    }

    /// The entry behind the last.
    pub(super) fn end(&self) -> u64 {
        self.count.checked_sub(1).map_or(self.first, |last| self.entry(last) + 1)
    }

    /// How many rows from one on are those of entries before this one.
    pub(super) fn before(&self, row: usize, entry: u64) -> usize {
        let rest = self.count.saturating_sub(row);
        match self.numbers {
            Some(numbers) => numbers.get(row..).unwrap_or_default().partition_point(|number| *number < entry),
            None => usize::try_from(entry.saturating_sub(self.entry(row))).map_or(rest, |rows| rows.min(rest)),
        }
    }

    /// The numbers of the entries of a part.
    pub(crate) fn entries(&self, part: &Range<usize>) -> Entries<'_> {
        let entries = match self.numbers {
            Some(numbers) => Entries::from(numbers.get(part.clone()).unwrap_or_default()),
            None => Entries::from(self.first + part.start as u64),
        };
        entries.behind(self.before)
    }
}

/// Fails for columns with fewer values than the table has entries: none of an expression has a value there. The option and the path of
/// the table are for the message.
pub(crate) fn refuse_incomplete(
    table: &dyn NamedTable,
    columns: &[usize],
    option: &'static str,
    path: &str,
) -> Result<()> {
    let Some(name) = incomplete(table, columns) else { return Ok(()) };
    let hint = Hint::named(option);
    let message = format!("{hint} takes columns with a value for each entry; this one has fewer");
    Err(Error::request(message).hint(hint).object(format!("branch {name} of {path}")))
}

/// The name of the first of these columns that has fewer values than the table has entries.
pub(super) fn incomplete<'a>(table: &'a dyn NamedTable, columns: &[usize]) -> Option<&'a str> {
    let column = columns.iter().find(|column| !table.is_complete(**column))?;
    Some(table.field(*column).map_or("", |field| field.name().as_str()))
}

/// The arrays of some columns, among those that are read.
pub(crate) fn columns_of(read: &[usize], arrays: &[ArrayRef], columns: &[usize]) -> Vec<ArrayRef> {
    let place = |column: &usize| read.iter().position(|one| one == column);
    columns.iter().filter_map(|column| arrays.get(place(column)?).cloned()).collect()
}

/// Does something for each part of so many rows. The error is that of the first part that has one.
pub(super) fn in_parts<T: Send>(
    team: Option<&ThreadPool>,
    rows: usize,
    one: impl Fn(&Range<usize>) -> Result<T> + Sync,
) -> Result<Vec<(Range<usize>, T)>> {
    let parts: Vec<Range<usize>> = (0..rows).step_by(PART).map(|at| at..(at + PART).min(rows)).collect();
    let done: Vec<Result<T>> = match team.filter(|_| parts.len() > 1) {
        Some(team) => team.install(|| parts.par_iter().map(&one).collect()),
        None => parts.iter().map(&one).collect(),
    };
    parts.into_iter().zip(done).map(|(part, done)| Ok((part, done?))).collect()
}
