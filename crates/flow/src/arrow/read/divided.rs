//! The columns of a request as threads read them: a column that is much of the request is read in parts of its members, where it has
//! such, and put together again. Else its pieces would be read in turns, and threads would open the same pages. It costs the ends of
//! lists once for each part, and the pieces of the parts: where that is much, or memory is scarce, columns are read as they are.

use std::sync::Arc;

use arrow_array::ArrayRef;
use dataset::table::piece::Piece;
use dataset::table::{MOST_PARTS, TableColumn};
use rootfile::{Error, Result};

use super::cost::ReadCost;
use super::dataset::{Dataset, ReadColumn};
use super::request::RequestedEntries;
use super::tasks::memory_needs;
use crate::execute::budget::Budget;

/// A column is divided from so many parts of a thread's share on.
const SHARE: u64 = 4;
/// Fewer bytes are not worth reading the ends of lists several times.
const LEAST: u64 = 128 << 10;
/// What the parts of a column take beyond the column is at most one part in this many of its bytes.
const AGAIN: u64 = 16;
/// A column is divided where the memory is as many times as large as what reading needs.
const AMPLE: u64 = 4;

/// The array of a column or its error, and its cost.
pub(super) type ColumnResult = (Result<ArrayRef>, ReadCost);

/// The columns of a request, some of them divided.
pub(super) struct Divided<'a> {
    /// Each whole column or part.
    pub columns: Vec<ReadColumn<'a>>,
    /// Their plans.
    pub plans: Vec<TableColumn>,
    /// How many of them each column of the request has.
    in_parts: Vec<usize>,
}

impl<'a> Divided<'a> {
    /// Columns with these plans.
    pub fn new(
        dataset: &'a Dataset,
        plans: &[TableColumn],
        requested: &RequestedEntries<'_>,
        budget: Budget,
    ) -> Result<Self> {
        let missing = || Error::request("a column without pieces");
        let whole: Vec<ReadColumn<'a>> =
            plans.iter().map(|plan| dataset.read_column(plan.node()).ok_or_else(missing)).collect::<Result<_>>()?;
        let mut divided = Self { columns: Vec::new(), plans: Vec::new(), in_parts: Vec::new() };
        let bytes: Vec<u64> = match budget.threads {
            0 | 1 => vec![0; whole.len()],
            _ => whole.iter().map(|read| requested.bytes(read.column)).collect(),
        };
        let all = bytes.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        for ((read, plan), bytes) in whole.into_iter().zip(plans).zip(bytes) {
            let is_much = bytes >= LEAST && bytes.saturating_mul(budget.threads as u64).saturating_mul(SHARE) > all;
            let pays = is_much && pays(&read, requested, bytes) && is_ample(dataset, &read, requested, budget);
            match if pays { dataset.read_parts(plan.node()) } else { None } {
                Some(parts) => {
                    divided.in_parts.push(parts.len());
                    divided.plans.extend(parts.iter().map(|part| part.plan.clone()));
                    divided.columns.extend(parts);
                }
                None => {
                    divided.in_parts.push(1);
                    divided.plans.push(plan.clone());
                    divided.columns.push(read);
                }
            }
        }
        Ok(divided)
    }

    /// Whether each is the first of its column.
    pub fn are_first(&self) -> Vec<bool> {
        self.in_parts.iter().flat_map(|number| (0..*number).map(|part| part == 0)).collect()
    }

    /// The results of the columns of the request, which have these plans.
    pub fn joined(&self, plans: &[TableColumn], done: Vec<ColumnResult>) -> Vec<ColumnResult> {
        let mut done = done.into_iter();
        let join = |(number, plan): (&usize, &TableColumn)| {
            let parts: Vec<ColumnResult> = done.by_ref().take(*number).collect();
            let mut spent = ReadCost::default();
            parts.iter().for_each(|(_, cost)| spent += *cost);
            let arrays: Result<Vec<ArrayRef>> = parts.into_iter().map(|(array, _)| array).collect();
            let array = arrays.and_then(|arrays| match (arrays.as_slice(), plan) {
                ([whole], _) => Ok(Arc::clone(whole)),
                (parts, plan) => plan.joined(parts),
            });
            (array, spent)
        };
        self.in_parts.iter().zip(plans).map(join).collect()
    }
}

/// Whether the parts of a column of so many bytes take little more than the column.
fn pays(read: &ReadColumn<'_>, requested: &RequestedEntries<'_>, bytes: u64) -> bool {
    let Some(again) = read.plan.bytes_again() else { return false };
    let again = again.saturating_mul(requested.count(&requested.span()));
    again.saturating_mul(AGAIN) <= bytes
}

/// Whether there is memory for the pieces of its parts, which the least memory of a request does not count.
fn is_ample(dataset: &Dataset, read: &ReadColumn<'_>, requested: &RequestedEntries<'_>, budget: Budget) -> bool {
    let pieces = (read.column.source.pieces.len() * MOST_PARTS * size_of::<Piece>()) as u64;
    let scratch = memory_needs(read.column, read.column.source.overlapping(&requested.span()));
    let needed = dataset.metadata().saturating_add(pieces).saturating_add(scratch);
    needed.saturating_mul(AMPLE) <= budget.memory
}
