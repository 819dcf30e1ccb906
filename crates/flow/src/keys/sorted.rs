//! The entries of one table, of one or more files, in the order of their keys: for who writes a table in this order. Entries of one key
//! stay in the order of the inputs. While the keys are read it is seen whether the inputs are sorted: then they need only be merged.

use std::fmt;
use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rootfile::{Result, public_path};
use serde::Serialize;

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

/// The memory budget that has room for so many bytes beside an order.
pub(crate) fn beside_order(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / (ORDER - 1)).saturating_add(1)
}

/// What is sorted by, and how.
pub(crate) struct SortJob<'a> {
    pub key: &'a SortKey,
    pub budget: Budget,
    /// The file beside which rows wait that have no room.
    pub beside: Option<&'a Path>,
}

/// An input whose entries are not in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnsortedInput {
    /// Path of the table.
    pub path: String,
    /// The file.
    pub file: PathBuf,
    /// The first entry that is before an earlier one.
    pub entry: u64,
    /// The values of its key.
    pub key: Vec<String>,
    /// Those of the entry before it.
    pub before: Vec<String>,
}

impl fmt::Display for UnsortedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, entry, key, before, .. } = self;
        let (file, key, before) = (file.display(), key.join(":"), before.join(":"));
        write!(f, "{file} is not sorted: entry {entry} has the key {key}, and the one before it {before}")
    }
}

/// The order of some entries of a table by their keys, and the first input that is not sorted by them.
///
/// # Errors
///
/// The columns cannot be read, or the values take more bits than a key has.
pub(crate) fn sorted_entries(
    columns: &KeyColumns,
    entries: &EntrySet,
    job: &SortJob<'_>,
) -> Result<(Order, Option<UnsortedInput>)> {
    let SortJob { key, budget, beside } = *job;
    let dataset = columns.dataset();
    let change = |arrays: &[ArrayRef]| key.ordered(arrays);
    let reading = KeysInOrder { columns, entries, budget, beside };
    let of = key_type(&[reading], &change)?;
    let mut sortedness = Sortedness::new(dataset, key);
    let mut rows = reading.sorted(&of, &change, &mut |of, keys, step| sortedness.look(of, keys, step))?;
    let mut order = OrderBuilder::new(&[dataset.entries()], budget.memory / ORDER, beside);
    rows.each_block(|rows| rows.iter().try_for_each(|row| order.push_entry(row.place())))?;
    let order = order.finish()?;
    Ok(match sortedness.found {
        None => (order.of_merged(dataset.entries_by_file()), None),
        found => (order, found),
    })
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
type Look<'a> = &'a mut dyn FnMut(&KeyType, &[u128], &KeyStep<'_>);

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
        let sorter = Sorter::new(self.budget.for_bytes(self.columns.bytes()), 1, self.beside)?;
        let mut filling = sorter.filling();
        self.each_step(&mut |step| {
            let keys = of.pack(&change(&step.arrays), step.rows.count)?;
            look(of, &keys, step);
            filling.add(keys.into_iter().zip(step.entries()).map(|(key, entry)| Row::new(key, entry)))
        })?;
        drop(filling);
        sorter.finish()
    }

    fn each_step(&self, take: &mut dyn FnMut(&KeyStep<'_>) -> Result<()>) -> Result<()> {
        let Self { columns, entries, budget, .. } = *self;
        let all = columns.dataset().entries();
        let selection = Some(entries).filter(|entries| entries.len() < all);
        let own = Budget { memory: budget.memory / 2, ..budget.for_bytes(columns.bytes()) };
        let (entries, team) = (0..all, own.helpers()?);
        let reading = KeyReading { entries, selection, budget: own, team, before: 0 };
        columns.each_step(&reading, take).map_err(|e| budget.in_whole(e, 2))
    }
}

/// Finds the first entry of a file that is before an earlier one.
struct Sortedness<'a> {
    dataset: &'a Dataset,
    key: &'a SortKey,
    /// The number of the file, its first entry, and the one behind its last.
    file: usize,
    first: u64,
    end: u64,
    last: Option<u128>,
    found: Option<UnsortedInput>,
}

impl<'a> Sortedness<'a> {
    fn new(dataset: &'a Dataset, key: &'a SortKey) -> Self {
        let end = dataset.entries_by_file().first().copied().unwrap_or(0);
        Self { dataset, key, file: 0, first: 0, end, last: None, found: None }
    }

    fn look(&mut self, of: &KeyType, keys: &[u128], step: &KeyStep<'_>) {
        for (key, entry) in keys.iter().zip(step.entries()) {
            if self.found.is_some() {
                return;
            }
            while entry >= self.end {
                let Some(more) = self.dataset.entries_by_file().get(self.file + 1) else { break };
                (self.file, self.first, self.end, self.last) = (self.file + 1, self.end, self.end + more, None);
            }
            if let Some(before) = self.last.replace(*key).filter(|before| before > key) {
                self.found = Some(UnsortedInput {
                    path: self.dataset.path().to_owned(),
                    file: self
                        .dataset
                        .paths()
                        .get(self.file)
                        .map_or_else(PathBuf::new, |path| public_path(path).into_owned()),
                    entry: entry - self.first,
                    key: self.key.texts(of, *key),
                    before: self.key.texts(of, before),
                });
            }
        }
    }
}
