//! The report of a split: the parts.

use std::path::PathBuf;

use serde::Serialize;

/// What a split made.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SplitReport {
    /// Path of the table in the file.
    pub table: String,
    /// The files, in the order of their first entries. The first has the other objects of the file.
    pub parts: Vec<SplitPart>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitPart {
    /// The file.
    pub path: PathBuf,
    /// The value of its entries, if the table is split by values.
    pub value: Option<String>,
    /// Number of entries.
    pub entries: u64,
    /// Bytes of the file.
    pub bytes: u64,
}
