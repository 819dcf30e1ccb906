//! Entries with the key of another, found among rows in their order. The first of them in the order of files is no duplicate, all others are.

use std::path::PathBuf;

use serde::Serialize;

use super::key_type::KeyType;
use super::row::Row;

/// Most duplicates that are listed.
const MOST_LISTED: usize = 1000;

/// The entries of some tables that have the key of another.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DuplicateKeys {
    /// The path of the table.
    pub path: String,
    /// The columns of the key.
    pub key: Vec<String>,
    /// Entries that were looked at.
    pub entries: u64,
    /// Those that have the key of an earlier entry.
    pub duplicates: u64,
    /// Keys that several entries have.
    pub repeated: u64,
    /// The duplicates in the order of their keys, the first 1000 of them.
    pub listed: Vec<Duplicate>,
}

/// An entry that has the key of an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// The values of the key.
    pub key: Vec<String>,
    /// The entry.
    pub entry: EntryOfKey,
    /// The first entry with the key, in the order of the files.
    pub first: EntryOfKey,
}

/// An entry of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EntryOfKey {
    /// The file.
    pub file: PathBuf,
    /// The number of the entry in the table of the file.
    pub entry: u64,
}

impl DuplicateKeys {
    /// A sentence about the first of them, if there is one.
    pub fn first(&self) -> Option<String> {
        let Duplicate { key, entry, first } = self.listed.first()?;
        let at = |place: &EntryOfKey| format!("entry {} of {}", place.entry, place.file.display());
        Some(format!("{} is the key of {} and of {}", key.join(":"), at(first), at(entry)))
    }
}

/// Finds duplicates. `place` says which entry a row is of.
pub(crate) struct DuplicateFinder<'a> {
    of: &'a KeyType,
    place: &'a dyn Fn(Row) -> EntryOfKey,
    /// The first row of the last key, and whether others have followed.
    first: Option<(Row, bool)>,
    found: DuplicateKeys,
}

impl<'a> DuplicateFinder<'a> {
    pub fn new(path: &str, of: &'a KeyType, place: &'a dyn Fn(Row) -> EntryOfKey) -> Self {
        let key = of.parts().iter().map(|part| part.name.clone()).collect();
        Self { of, place, first: None, found: DuplicateKeys { path: path.to_owned(), key, ..DuplicateKeys::default() } }
    }

    /// Takes the next row. Returns whether it is a duplicate.
    pub fn take(&mut self, row: Row) -> bool {
        self.found.entries += 1;
        let Some((first, is_repeated)) = self.first.as_mut().filter(|(first, _)| first.key() == row.key()) else {
            self.first = Some((row, false));
            return false;
        };
        self.found.repeated += u64::from(!*is_repeated);
        *is_repeated = true;
        self.found.duplicates += 1;
        if self.found.listed.len() < MOST_LISTED {
            let key = self.of.texts(row.key());
            let (entry, first) = ((self.place)(row), (self.place)(*first));
            self.found.listed.push(Duplicate { key, entry, first });
        }
        true
    }

    pub fn finish(self) -> DuplicateKeys {
        self.found
    }
}
