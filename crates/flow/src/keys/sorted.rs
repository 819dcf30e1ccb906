//! The entries of one table, of one or more files, in the order of their keys: for who writes a table in this order. Entries of one key
//! stay in the order of the inputs.

use std::path::Path;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rootfile::{Error, Hint, Result, public_path};

use super::columns::{KeyColumns, KeyReading, KeyStep};
use super::files::joined;
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

/// The order of some entries of a table by their keys.
///
/// # Errors
///
/// The columns cannot be read, the values take more bits than a key has, or a file is not in order that is to be.
pub(crate) fn sorted_entries(columns: &KeyColumns, entries: &EntrySet, job: &SortJob<'_>) -> Result<Order> {
    let SortJob { key, is_sorted, budget, beside } = *job;
    let all = columns.dataset().entries();
    let change = |arrays: &[ArrayRef]| key.ordered(arrays);
    let reading = KeysInOrder { columns, entries, budget, beside };
    let of = key_type(&[reading], &change)?;
    let mut in_order = is_sorted.then(|| InOrder::new(columns.dataset(), key));
    let mut rows = reading.sorted(&of, &change, &mut |of, keys, step| match &mut in_order {
        Some(in_order) => in_order.take(of, keys, step),
        None => Ok(()),
    })?;
    let mut order = OrderBuilder::new(&[all], budget.memory / ORDER, beside);
    rows.each_block(|rows| rows.iter().try_for_each(|row| order.push_entry(row.place())))?;
    order.finish()
}

/// Reads the keys of some entries of a table in their order.
#[derive(Clone, Copy)]
pub(super) struct KeysInOrder<'a> {
    pub columns: &'a KeyColumns,
    pub entries: &'a EntrySet,
    pub budget: Budget,
    pub beside: Option<&'a Path>,
}

/// Makes the values that are packed of those that are read.
pub(super) type Change<'a> = &'a dyn Fn(&[ArrayRef]) -> Vec<ArrayRef>;

/// What is looked at before it is sorted: keys of this type, step by step.
type Look<'a> = &'a mut dyn FnMut(&KeyType, &[u128], &KeyStep<'_>) -> Result<()>;

/// The type of a key that has the values of several tables.
pub(super) fn key_type(tables: &[KeysInOrder<'_>], change: Change<'_>) -> Result<KeyType> {
    let parts = tables.iter().map(|table| table.columns.parts().to_vec());
    let parts = parts.reduce(|known, more| joined(&known, &more)).unwrap_or_default();
    if let Some(of) = KeyType::of_types(&parts) {
        return Ok(of);
    }
    let mut spans = vec![Span::NONE; parts.len()];
    for table in tables {
        table.each_step(&mut |step| {
            let more = KeyType::spans(&parts, &change(&step.arrays))?;
            spans.iter_mut().zip(more).for_each(|(known, more)| *known = known.with(more));
            Ok(())
        })?;
    }
    KeyType::of_values(&parts, &spans)
}

impl KeysInOrder<'_> {
    /// The rows of all keys, sorted.
    pub fn sorted(&self, of: &KeyType, change: Change<'_>, look: Look<'_>) -> Result<Merged> {
        let sorter = Sorter::new(self.budget, 1, self.beside)?;
        let mut filling = sorter.filling();
        self.each_step(&mut |step| {
            let keys = of.pack(&change(&step.arrays), step.rows.count)?;
            look(of, &keys, step)?;
            filling.add(keys.into_iter().zip(step.entries()).map(|(key, entry)| Row::new(key, entry)))
        })?;
        drop(filling);
        sorter.finish()
    }

    fn each_step(&self, take: &mut dyn FnMut(&KeyStep<'_>) -> Result<()>) -> Result<()> {
        let Self { columns, entries, budget, .. } = *self;
        let all = columns.dataset().entries();
        let selection = Some(entries).filter(|entries| entries.len() < all);
        let own = Budget { memory: budget.memory / 2, ..budget };
        let (entries, team) = (0..all, budget.helpers()?);
        let reading = KeyReading { entries, selection, budget: own, team, before: 0 };
        columns.each_step(&reading, take).map_err(|e| budget.in_whole(e, 2))
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
