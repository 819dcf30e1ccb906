//! The report on a join: what each table on the right gave, and which keys are on one side only.

use serde::Serialize;

use crate::keys::EntryOfKey;
use crate::rewrite::summary::Summary;

/// Most entries that are listed for each side.
pub(super) const MOST_LISTED: usize = 1000;

/// Which entries of the left table are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// All of them.
    #[default]
    Left,
    /// Those with a partner in each table on the right.
    Inner,
}

/// The report on a join.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Joined {
    /// Version of the report.
    pub schema: u32,
    /// The columns of the key, by their names in the left table.
    pub key: Vec<String>,
    /// Which entries of the left table are written.
    pub how: How,
    /// The path of the left table.
    pub tree: String,
    /// Its entries; of a range of keys those with one.
    pub entries: u64,
    /// The entries that are written.
    pub written: u64,
    /// The tables on the right, in the order in which they are named.
    pub right: Vec<JoinedTable>,
    /// The name of the table in the output, where that has the columns of the tables on the right alone, as a friend of the left one.
    pub friend: Option<String>,
    /// The output.
    pub output: Summary,
}

/// A table on the right of a join.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JoinedTable {
    /// The path of the table.
    pub tree: String,
    /// The columns of the key, by their names here.
    pub key: Vec<String>,
    /// Its files.
    pub files: u64,
    /// Its entries; of a range of keys those with one.
    pub entries: u64,
    /// The columns that it gives, by their names in the output.
    pub columns: Vec<String>,
    /// Those of them that have other names in their own table.
    pub renamed: Vec<RenamedColumn>,
    /// Entries of the left table with a partner here.
    pub matched: u64,
    /// Entries of the left table whose keys are not here. In a left join they get zeros, empty lists and empty texts.
    pub missing: u64,
    /// The first 1000 of them, in the order of their keys.
    pub missing_entries: Vec<KeyedEntry>,
    /// Entries here whose keys the left table does not have: they are not in the output.
    pub unused: u64,
    /// The first of each key among them, in the order of their keys, and 1000 at most.
    pub unused_entries: Vec<KeyedEntry>,
    /// Entries here with the key of an earlier one, which is the one that is taken.
    pub repeated: u64,
}

/// A column that has another name in the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RenamedColumn {
    /// Its name in its own table.
    pub column: String,
    /// Its name in the output.
    pub name: String,
}

/// An entry, and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KeyedEntry {
    /// The values of the key.
    pub key: Vec<String>,
    /// The entry.
    pub entry: EntryOfKey,
}
