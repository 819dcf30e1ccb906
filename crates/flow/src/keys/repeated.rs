//! The entries of one table, of one or more files, that have the key of an earlier entry: for who makes a table without them.

use std::path::{Path, PathBuf};

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rootfile::{Result, public_path};

use super::columns::KeyColumns;
use super::duplicates::{DuplicateFinder, DuplicateKeys, EntryOfKey};
use super::entry_bits::EntryBits;
use super::row::Row;
use super::sorted::{KeysInOrder, key_type};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;

/// What was found in a table.
pub(crate) struct RepeatedEntries {
    /// The entries without those that repeat a key.
    pub unique: EntrySet,
    pub found: DuplicateKeys,
}

/// Looks at the keys of some entries of a table. Sorted keys that have no room in the budget wait beside an output.
///
/// # Errors
///
/// The columns cannot be read, or the values take more bits than a key has.
pub(crate) fn repeated_entries(
    columns: &KeyColumns,
    entries: &EntrySet,
    budget: Budget,
    beside: Option<&Path>,
) -> Result<RepeatedEntries> {
    let dataset = columns.dataset();
    let reading = KeysInOrder { columns, entries, budget, beside };
    let of = key_type(&[reading], &<[ArrayRef]>::to_vec)?;
    let mut rows = reading.sorted(&of, &<[ArrayRef]>::to_vec, &mut |_, _, _| ())?;
    let all = dataset.entries();
    let place = |row: Row| place_in(dataset, row.place());
    let mut finder = DuplicateFinder::new(dataset.path(), &of, &place);
    let mut repeated = EntryBits::default();
    rows.each_block(|rows| {
        rows.iter().filter(|row| finder.take(**row)).for_each(|row| repeated.add(row.place()));
        Ok(())
    })?;
    let found = finder.finish();
    let unique = if found.duplicates == 0 { entries.clone() } else { repeated.without(entries, all) };
    Ok(RepeatedEntries { unique, found })
}

/// The file of an entry of a table, and its number there.
fn place_in(dataset: &Dataset, entry: u64) -> EntryOfKey {
    let mut left = entry;
    for (number, entries) in dataset.entries_by_file().iter().enumerate() {
        if left < *entries {
            let file = dataset.paths().get(number).map_or_else(PathBuf::new, |path| public_path(path).into_owned());
            return EntryOfKey { file, entry: left };
        }
        left -= entries;
    }
    EntryOfKey { file: PathBuf::new(), entry }
}
