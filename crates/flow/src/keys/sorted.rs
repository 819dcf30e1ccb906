//! The entries of one table, of one or more files, in the order of their keys: for who writes a table in this order. Entries of one key
//! stay in the order of the inputs.

use std::path::Path;

use dataset::EntrySet;
use rootfile::{Error, Hint, Result, public_path};

use super::columns::{KeyColumns, KeyReading, KeyStep};
use super::key_type::{KeyType, Span};
use super::merged::Merged;
use super::row::Row;
use super::sort_key::SortKey;
use super::sorter::Sorter;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::order::{Order, OrderBuilder};

/// The part of the memory that an order may take.
const ORDER: u64 = 8;

/// What is sorted by, and how.
pub(crate) struct SortJob<'a> {
    pub key: &'a SortKey,
    /// Whether the entries of each file are to be in order already.
    pub is_sorted: bool,
    pub budget: Budget,
    /// The file beside which rows wait that have no room.
    pub beside: Option<&'a Path>,
}

/// The rows of a table, each with its key, in their order.
pub(crate) struct SortedRows {
    pub of: KeyType,
    pub rows: Merged,
}

/// The order of some entries of a table by their keys.
///
/// # Errors
///
/// The columns cannot be read, the values take more bits than a key has, or a file is not in order that is to be.
pub(crate) fn sorted_entries(columns: &KeyColumns, entries: &EntrySet, job: &SortJob<'_>) -> Result<Order> {
    let SortedRows { mut rows, .. } = sorted_rows(columns, entries, job)?;
    let all = columns.dataset().entries();
    let mut order = OrderBuilder::new(&[all], job.budget.memory / ORDER, job.beside);
    rows.each_block(|rows| rows.iter().try_for_each(|row| order.push_entry(row.place())))?;
    order.finish()
}

/// The rows of some entries of a table, sorted by their keys.
///
/// # Errors
///
/// As for [`sorted_entries`].
pub(crate) fn sorted_rows(columns: &KeyColumns, entries: &EntrySet, job: &SortJob<'_>) -> Result<SortedRows> {
    let SortJob { key, is_sorted, .. } = *job;
    let mut order = is_sorted.then(|| InOrder::new(columns.dataset(), key));
    let reading = KeysInOrder { columns, entries, budget: job.budget, beside: job.beside };
    let (of, rows) = reading.sorted(&|arrays| key.ordered(arrays), &mut |of, keys, step| match &mut order {
        Some(order) => order.take(of, keys, step),
        None => Ok(()),
    })?;
    Ok(SortedRows { of, rows })
}

/// Reads the keys of some entries of a table in their order.
pub(super) struct KeysInOrder<'a> {
    pub columns: &'a KeyColumns,
    pub entries: &'a EntrySet,
    pub budget: Budget,
    pub beside: Option<&'a Path>,
}

/// What is looked at before it is sorted: keys of this type, step by step.
type Look<'a> = &'a mut dyn FnMut(&KeyType, &[u128], &KeyStep<'_>) -> Result<()>;

impl KeysInOrder<'_> {
    /// The rows of all keys, sorted. `change` makes the values that are packed of those that are read.
    pub fn sorted(
        &self,
        change: &dyn Fn(&[arrow_array::ArrayRef]) -> Vec<arrow_array::ArrayRef>,
        look: Look<'_>,
    ) -> Result<(KeyType, Merged)> {
        let Self { columns, entries, budget, beside } = *self;
        let sorter = Sorter::new(budget, 1, beside)?;
        let own = Budget { memory: budget.memory / 2, ..budget };
        let all = columns.dataset().entries();
        let selection = Some(entries).filter(|entries| entries.len() < all);
        let reading = KeyReading { entries: 0..all, selection, budget: own, team: sorter.team() };
        let parts = columns.parts();
        let of = match KeyType::of_types(parts) {
            Some(of) => of,
            None => {
                let mut spans = vec![Span::NONE; parts.len()];
                let looked = columns.each_step(&reading, &mut |step| {
                    let more = KeyType::spans(parts, &change(&step.arrays))?;
                    spans.iter_mut().zip(more).for_each(|(known, more)| *known = known.with(more));
                    Ok(())
                });
                looked.map_err(|e| budget.in_whole(e, 2))?;
                KeyType::of_values(parts, &spans)?
            }
        };
        let mut filling = sorter.filling();
        let read = columns.each_step(&reading, &mut |step| {
            let keys = of.pack(&change(&step.arrays), step.rows.count)?;
            look(&of, &keys, step)?;
            filling.add(keys.into_iter().zip(step.entries()).map(|(key, entry)| Row::new(key, entry)))
        });
        read.map_err(|e| budget.in_whole(e, 2))?;
        drop(filling);
        Ok((of, sorter.finish()?))
    }
}

/// Finds the first entry of a file that is before an earlier one.
struct InOrder<'a> {
    dataset: &'a Dataset,
    key: &'a SortKey,
    /// The first entry of the file, and the one behind its last.
    file: usize,
    first: u64,
    end: u64,
    last: Option<u128>,
}

impl<'a> InOrder<'a> {
    fn new(dataset: &'a Dataset, key: &'a SortKey) -> Self {
        let end = dataset.entries_by_file().first().copied().unwrap_or(0);
        Self { dataset, key, file: 0, first: 0, end, last: None }
    }

    fn take(&mut self, of: &KeyType, keys: &[u128], step: &KeyStep<'_>) -> Result<()> {
        for (key, entry) in keys.iter().zip(step.entries()) {
            while entry >= self.end {
                let Some(more) = self.dataset.entries_by_file().get(self.file + 1) else { break };
                (self.file, self.first, self.end, self.last) = (self.file + 1, self.end, self.end + more, None);
            }
            if let Some(before) = self.last.filter(|before| before > key) {
                return Err(self.refusal(of, entry, [before, *key]));
            }
            self.last = Some(*key);
        }
        Ok(())
    }

    fn refusal(&self, of: &KeyType, entry: u64, keys: [u128; 2]) -> Error {
        let [before, here] = keys.map(|key| self.key.texts(of, key).join(":"));
        let (hint, key) = (Hint::named(self.key.names().option()), self.key);
        let message = format!(
            "{hint} {key}: is not sorted: entry {} has the key {here}, and one before it {before}; `basketry sort` sorts any inputs",
            entry - self.first
        );
        let error = Error::request(message).hint(hint).object(self.dataset.path());
        match self.dataset.paths().get(self.file) {
            Some(path) => error.file(public_path(path)),
            None => error,
        }
    }
}
