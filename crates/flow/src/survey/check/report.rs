//! The report of a check.

use std::fmt;
use std::path::{Path, PathBuf};

use dataset::layout::Container;
use rootfile::text::printable;
use rootfile::{Error, public_path};

use crate::keys::DuplicateKeys;
use crate::plan::skipped::Skipped;

/// Most problems of a file that are listed.
const MOST_LISTED: usize = 1000;

/// The report on all files.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Checked {
    /// Version of the report.
    pub schema: u32,
    /// Whether everything was decompressed.
    pub deep: bool,
    /// Whether all files are whole.
    pub whole: bool,
    /// Files that are whole.
    pub ok: u64,
    /// Files with damage.
    pub damaged: u64,
    /// Files that cannot be opened, or are not ROOT files.
    pub unreadable: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// The files, in the order in which they were named.
    pub files: Vec<CheckedFile>,
    /// The entries of the whole files that have the key of another, where keys were asked for.
    pub keys: Option<DuplicateKeys>,
    /// Whole files that were left out of the look at keys, because they lack the table or the columns.
    pub skipped: Vec<Skipped>,
}

/// The condition of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Nothing is wrong, as far as was looked.
    #[default]
    Ok,
    /// Parts are damaged.
    Damaged,
    /// The file cannot be opened, or is not a ROOT file.
    Unreadable,
}

/// The report on a file.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct CheckedFile {
    /// The file.
    pub path: PathBuf,
    /// Its condition.
    pub condition: Condition,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its UUID.
    pub uuid: Option<String>,
    /// Entries of the newest cycles of its trees and RNTuples.
    pub entries: u64,
    /// Its trees and RNTuples, older cycles too.
    pub tables: Vec<CheckedTable>,
    /// Objects that are neither.
    pub objects: u64,
    /// Bytes of baskets, pages and objects that were decompressed, as they are on disk.
    pub bytes_decompressed: u64,
    /// Number of problems.
    pub problem_count: u64,
    /// The problems, the first 1000 of them.
    pub problems: Vec<Problem>,
    /// What could not be checked, and harmless oddities.
    pub notes: Vec<String>,
}

/// A tree or an RNTuple of a file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct CheckedTable {
    /// Its path.
    pub path: String,
    /// Its cycle.
    pub cycle: i16,
    /// Whether it is a tree or an RNTuple.
    pub container: Container,
    /// Its entries.
    pub entries: u64,
    /// Its baskets or pages.
    pub pieces: u64,
    /// Bytes of the baskets or pages on disk.
    pub bytes: u64,
}

/// Something that is wrong in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Problem {
    /// The object with its cycle; a directory or another part of the file in parentheses.
    pub object: String,
    /// The branch, with the branches above it.
    pub branch: Option<String>,
    /// The number of the basket in its branch.
    pub basket: Option<u64>,
    /// The field of an RNTuple.
    pub field: Option<String>,
    /// The number of the cluster.
    pub cluster: Option<u64>,
    /// The number of the page among those of a column of the field in the cluster.
    pub page: Option<u64>,
    /// The offset in the file.
    pub offset: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

impl Problem {
    /// A problem of an object. The error may name a part of the object, and the place in the file.
    pub(super) fn of(object: impl Into<String>, offset: Option<u64>, error: &Error) -> Self {
        let object = object.into();
        let message = error.message(ToString::to_string);
        let reason = match error.subject() {
            Some(part) if !is_of(&object, part) => format!("{}: {message}", printable(part)),
            _ => message,
        };
        Self { object, offset: error.offset().or(offset), reason, ..Self::default() }
    }
}

/// Whether an error's subject is the object itself: its name without cycle and directory.
fn is_of(object: &str, subject: &str) -> bool {
    let path = object.rsplit_once(';').map_or(object, |(path, _)| path);
    path == subject || path.rsplit('/').next() == Some(subject)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&printable(&self.object))?;
        for (what, name) in [("branch", &self.branch), ("field", &self.field)] {
            if let Some(name) = name {
                write!(f, ", {what} {}", printable(name))?;
            }
        }
        for (what, number) in [("cluster", self.cluster), ("basket", self.basket), ("page", self.page)] {
            if let Some(number) = number {
                write!(f, ", {what} {number}")?;
            }
        }
        if let Some(offset) = self.offset {
            write!(f, ", at byte {offset}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl CheckedFile {
    /// A file that cannot be opened.
    pub(super) fn unreadable(path: &Path, bytes: u64, error: &Error) -> Self {
        let problem = Problem::of("(file)", None, error);
        let condition = Condition::Unreadable;
        let path = public_path(path).into_owned();
        Self { path, condition, bytes, problem_count: 1, problems: vec![problem], ..Self::default() }
    }

    /// The report with its problems in the order of the file, and their sum.
    pub(super) fn finished(mut self) -> Self {
        self.problems.sort_by(|a, b| (a.offset, a).cmp(&(b.offset, b)));
        self.problem_count = self.problems.len() as u64;
        self.problems.truncate(MOST_LISTED);
        if self.problem_count > 0 && self.condition == Condition::Ok {
            self.condition = Condition::Damaged;
        }
        self
    }
}

impl Checked {
    pub(super) fn of(files: Vec<CheckedFile>, deep: bool) -> Self {
        let count = |condition| files.iter().filter(|file| file.condition == condition).count() as u64;
        let (ok, damaged, unreadable) = (count(Condition::Ok), count(Condition::Damaged), count(Condition::Unreadable));
        let bytes = files.iter().map(|file| file.bytes).sum();
        let (whole, keys, skipped) = (damaged + unreadable == 0, None, Vec::new());
        Self { schema: 1, deep, whole, ok, damaged, unreadable, bytes, files, keys, skipped }
    }
}
