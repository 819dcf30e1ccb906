//! The report of an edit: what changed, and the files that were written.

use std::path::PathBuf;

use serde::Serialize;

/// What an edit did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Edited {
    /// The files that were written or removed, in this order.
    pub files: Vec<EditedFile>,
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Directories that were not copied or removed, as that was not asked for.
    pub left_out: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A file that an edit wrote or removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EditedFile {
    /// Its path.
    pub path: PathBuf,
    /// Bytes before; none if the file was not there.
    pub bytes_before: Option<u64>,
    /// Bytes now; none if the file was removed.
    pub bytes_after: Option<u64>,
    /// Bytes that were written; none if the file was removed.
    pub bytes_written: Option<u64>,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// An object or directory was copied.
    Copied,
    /// It was moved.
    Moved,
    /// It was removed.
    Removed,
    /// A directory was made.
    Made,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its kind.
    pub kind: ChangeKind,
    /// The file.
    pub file: PathBuf,
    /// The path of the object or directory in it.
    pub object: String,
    /// Its class, that of the newest cycle.
    pub class: String,
    /// Its cycles, as they were in the source.
    pub cycles: Vec<i16>,
    /// The file from which it came, if it was copied or moved.
    pub from_file: Option<PathBuf>,
    /// Its path there.
    pub from_object: Option<String>,
}
