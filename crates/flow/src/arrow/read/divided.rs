//! The columns of a request as threads read them: a column that is much of the request is read in parts of its members, where it has
//! such, and put together again. Else its pieces would be read in turns, and threads would open the same pages.

use std::sync::Arc;

use arrow_array::ArrayRef;
use dataset::table::TableColumn;
use rootfile::{Error, Result};

use super::cost::ReadCost;
use super::dataset::{Dataset, ReadColumn};
use super::request::RequestedEntries;

/// A column is divided from so many parts of a thread's share on.
const SHARE: u64 = 4;
/// Fewer bytes are not worth reading the ends of lists several times.
const LEAST: u64 = 128 << 10;

/// The array of a column or its error, and its cost.
pub(super) type ColumnResult = (Result<ArrayRef>, ReadCost);

/// The columns of a request, some of them divided.
pub(super) struct Divided<'a> {
    /// Each whole column or part.
    pub columns: Vec<ReadColumn<'a>>,
    /// Their plans.
    pub plans: Vec<TableColumn>,
    /// How many of them each column of the request has.
    numbers: Vec<usize>,
}

impl<'a> Divided<'a> {
    /// Columns with these plans, for so many threads.
    pub fn new(
        dataset: &'a Dataset,
        plans: &[TableColumn],
        requested: &RequestedEntries<'_>,
        threads: usize,
    ) -> Result<Self> {
        let missing = || Error::request("a column without pieces");
        let whole: Vec<ReadColumn<'a>> =
            plans.iter().map(|plan| dataset.read_column(plan.node()).ok_or_else(missing)).collect::<Result<_>>()?;
        let mut divided = Self { columns: Vec::new(), plans: Vec::new(), numbers: Vec::new() };
        let bytes: Vec<u64> = match threads {
            0 | 1 => vec![0; whole.len()],
            _ => whole.iter().map(|read| requested.bytes(read.column)).collect(),
        };
        let all = bytes.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        for ((read, plan), bytes) in whole.into_iter().zip(plans).zip(bytes) {
            let is_much = threads > 1 && bytes >= LEAST && bytes.saturating_mul(threads as u64 * SHARE) > all;
            let parts = if is_much { dataset.read_parts(plan.node()) } else { None };
            match parts {
                Some(parts) => {
                    divided.numbers.push(parts.len());
                    divided.plans.extend(parts.iter().map(|part| part.plan.clone()));
                    divided.columns.extend(parts);
                }
                None => {
                    divided.numbers.push(1);
                    divided.plans.push(plan.clone());
                    divided.columns.push(read);
                }
            }
        }
        Ok(divided)
    }

    /// Whether each is the first of its column.
    pub fn are_first(&self) -> Vec<bool> {
        self.numbers.iter().flat_map(|number| (0..*number).map(|part| part == 0)).collect()
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
                (parts, TableColumn::Field(plan)) => plan.joined(parts),
                _ => Err(Error::request("a column without pieces")),
            });
            (array, spent)
        };
        self.numbers.iter().zip(plans).map(join).collect()
    }
}
