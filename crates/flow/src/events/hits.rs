//! What was found in the files: the entries of each, whichever way they were found.

use std::path::Path;

use crate::keys::KeyedFile;
use crate::keys::files::before_each;

/// An entry that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub key: u128,
    pub entry: u64,
}

/// What was found in one file.
#[derive(Clone, Debug)]
pub(super) struct Hits {
    pub file: KeyedFile,
    /// Entries of the files before it, among those in which events are looked for.
    pub before: u64,
    /// In the order of the entries.
    pub found: Vec<Found>,
}

impl Hits {
    /// The found entries of files in their order.
    pub fn of(files: impl IntoIterator<Item = (KeyedFile, Vec<Found>)>) -> Vec<Self> {
        let files: Vec<(KeyedFile, Vec<Found>)> = files.into_iter().collect();
        let before = before_each(files.iter().map(|(file, _)| file.entries));
        files.into_iter().zip(before).map(|((file, found), before)| Self { file, before, found }).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// The paths of files with hits.
pub(super) fn paths(hits: &[Hits]) -> Vec<&Path> {
    hits.iter().map(|hits| hits.file.path.as_path()).collect()
}
