//! What an index says of itself in the metadata of its file: the key, the files whose entries it has, and the first key of each row group.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result, url};
use serde::{Deserialize, Serialize};

use crate::keys::KeyedFile;
use crate::keys::key_type::{KeyPart, KeyType, Span};

/// The key of the record in the metadata of the file.
pub(super) const RECORD: &str = "basketry.index";
/// Its version.
pub(super) const VERSION: u32 = 1;
/// The columns besides those of the key.
pub(super) const FILE: &str = "file";
pub(super) const ENTRY: &str = "entry";

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexRecord {
    pub version: u32,
    /// The columns of the key, which are the first columns of the file.
    pub key: Vec<String>,
    /// The files, by their numbers in the column `file`.
    pub files: Vec<KeyedFile>,
    /// The least and the largest value that each column of the key has room for, as bits that compare as the values do.
    pub spans: Vec<[u64; 2]>,
    /// The first key of each row group, 32 hexadecimal digits each.
    pub firsts: Vec<String>,
}

impl IndexRecord {
    /// Reads it.
    pub fn of(text: &str) -> Result<Self> {
        let record: Self =
            serde_json::from_str(text).map_err(|e| Error::corrupt(format!("no record of an index: {e}")))?;
        match record.version {
            VERSION => Ok(record),
            other => {
                Err(Error::unsupported(format!("is an index of version {other}, and this is for version {VERSION}")))
            }
        }
    }

    pub fn to_text(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|e| Error::unsupported(format!("internal error: {e}")))
    }

    /// The room of each column of a type.
    pub fn spans_of(of: &KeyType) -> Vec<[u64; 2]> {
        of.parts().iter().map(KeyPart::room).map(|Span { least, most }| [least, most]).collect()
    }

    /// The type of its keys, whose columns are these parts.
    pub fn key_type(&self, parts: &[KeyPart]) -> Result<KeyType> {
        KeyType::of_values(parts, &self.rooms())
    }

    pub fn rooms(&self) -> Vec<Span> {
        self.spans.iter().map(|[least, most]| Span { least: *least, most: *most }).collect()
    }

    /// The first keys of the row groups, which must ascend.
    pub fn first_keys(&self) -> Result<Vec<u128>> {
        let read = |text: &String| u128::from_str_radix(text, 16);
        let firsts: std::result::Result<Vec<u128>, _> = self.firsts.iter().map(read).collect();
        firsts.ok().filter(|firsts| firsts.is_sorted()).ok_or_else(|| Error::corrupt("its first keys are not in order"))
    }

    /// The numbers of the files by their paths.
    pub fn numbers(&self) -> FileNumbers<'_> {
        let by_path = self.files.iter().enumerate().map(|(number, file)| (file.path.as_path(), number)).collect();
        FileNumbers { by_path, resolved: OnceCell::new() }
    }
}

/// The numbers of the files of an index by their paths. A file is found under any of its names on this machine.
#[derive(Default)]
pub(super) struct FileNumbers<'a> {
    by_path: HashMap<&'a Path, usize>,
    /// The same by the paths without links. They are looked for when a path is not there.
    resolved: OnceCell<HashMap<PathBuf, usize>>,
}

impl FileNumbers<'_> {
    /// The number of the file of a path.
    pub fn of(&self, path: &Path) -> Result<Option<usize>> {
        let absolute = absolute(path)?;
        if let Some(number) = self.by_path.get(absolute.as_path()) {
            return Ok(Some(*number));
        }
        let resolved = self.resolved.get_or_init(|| {
            let paths = self.by_path.iter().map(|(path, number)| (without_links(path), *number));
            paths.filter_map(|(path, number)| Some((path?, number))).collect()
        });
        Ok(without_links(&absolute).and_then(|path| resolved.get(&path).copied()))
    }
}

/// A path that means the same in every folder.
pub(super) fn absolute(path: &Path) -> Result<PathBuf> {
    match url(path) {
        Some(_) => Ok(path.to_owned()),
        None => std::path::absolute(path).map_err(|e| Error::from(e).file(path)),
    }
}

/// The path of a file on this machine without links; none of a file that is not there.
pub(super) fn without_links(path: &Path) -> Option<PathBuf> {
    if url(path).is_some() { None } else { path.canonicalize().ok() }
}
