//! The input of a sweep: the tree that is copied and read, and its size.

use std::path::PathBuf;

use flow::convert::Format;
use flow::inputs::Input;
use flow::read::Dataset;
use rootfile::{Error, Result, url};
use serde::{Deserialize, Serialize};

/// The input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepInput {
    /// The file.
    pub input: PathBuf,
    /// Path of the tree.
    pub tree: String,
    /// Whether the file has other objects, which are copied as well.
    pub others: bool,
    /// Bytes of the file.
    pub bytes: u64,
    /// Entries of the tree that are copied, before a fraction is taken.
    pub entries: u64,
    /// Entries that the tree has.
    pub all_entries: u64,
    /// Columns of the first level.
    pub columns: usize,
}

impl SweepInput {
    /// The input of a command of the user, which may be anything, or nothing.
    pub fn of_command(input: Option<&str>) -> Self {
        let input = PathBuf::from(input.unwrap_or_default());
        // A file on this machine is known by its place and size.
        let input = std::fs::canonicalize(&input).unwrap_or(input);
        let bytes = std::fs::metadata(&input).map_or(0, |meta| meta.len());
        Self { input, bytes, ..Self::default() }
    }

    /// Opens an input. Without the name of a tree, the file must have exactly one tree, and its other objects are
    /// copied too.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is no ROOT file, or does not have exactly one tree and none is named.
    pub fn of(input: &Input, entries: Option<u64>) -> Result<Self> {
        if Format::is_parquet(&input.path) {
            let message = "is a Parquet file, and a sweep takes a ROOT file: rewrite it to one first";
            return Err(Error::unsupported(message).file(&input.path));
        }
        let dataset = Dataset::open(std::slice::from_ref(input))?;
        if url(&input.path).is_some() {
            return Err(
                Error::unsupported("a sweep reads its input many times: copy the file here first").file(&input.path)
            );
        }
        let all = dataset.entries();
        let path = std::fs::canonicalize(&input.path).map_err(|e| Error::from(e).file(&input.path))?;
        if all == 0 || entries == Some(0) {
            return Err(Error::request("no entries: there is nothing to measure").file(&input.path));
        }
        let bytes = std::fs::metadata(&path).map_err(|e| Error::from(e).file(&path))?.len();
        Ok(Self {
            input: path,
            tree: dataset.path().to_owned(),
            others: input.tree.is_none(),
            bytes,
            entries: entries.unwrap_or(all).min(all),
            all_entries: all,
            columns: dataset.schema().top().len(),
        })
    }
}
