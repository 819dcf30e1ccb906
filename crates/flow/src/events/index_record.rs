//! What an index says of itself in the metadata of its file: the key, the files whose entries it has, and the first key of each row group.

use std::collections::HashMap;
use std::path::Path;

use rootfile::{Error, Result};
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
    pub fn numbers(&self) -> HashMap<&Path, usize> {
        self.files.iter().enumerate().map(|(number, file)| (file.path.as_path(), number)).collect()
    }
}
