//! Trees to Parquet and back, within a [`Budget`]: the same columns and entries, a row group for a cluster.
//!
//! To Parquet, [`read`](crate::arrow::read) decodes a row group's entries on all threads, `sink` encodes its columns on all
//! threads, and appends them in order. From Parquet (`from_parquet`), each thread reads row groups and fills them as a task of a
//! [`ParallelWriter`](crate::arrow::write::ParallelWriter). So the bytes of an output do not depend on the threads. How columns
//! lie in a Parquet file is known to the `parquet` crate alone; what a tree can hold of Arrow's types, to `types`.

mod codec;
mod columns;
mod from_parquet;
mod groups;
mod opened;
mod sink;
mod tasks;
mod to_parquet;
mod types;
mod values;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use dataset::Entries;
use dataset::glob::NameFilter;
use parquet::errors::ParquetError;
use rootfile::{Error, Result};
use serde::Serialize;

pub use crate::arrow::convert::codec::ParquetCodec;
pub use crate::arrow::convert::from_parquet::{FromParquet, from_parquet};
pub use crate::arrow::convert::to_parquet::{ToParquet, to_parquet};

use crate::execute::budget::Budget;
use crate::execute::progress::Progress;

/// What both directions are told.
#[derive(Clone)]
pub struct Conversion<'a> {
    /// Which columns.
    pub filter: NameFilter,
    /// Which entries, and the seed that draws them if they are a share.
    pub entries: (Entries, u64),
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an output that is there is replaced.
    pub overwrite: bool,
    /// Is told of bytes that were read.
    pub progress: Progress<'a>,
}

/// What was converted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Converted {
    /// Path of the tree that was read or written.
    pub tree: String,
    /// Entries that were converted.
    pub entries: u64,
    /// The columns that were written.
    pub columns: Vec<ConvertedColumn>,
    /// The columns that were not, though they were asked for.
    pub left_out: Vec<LeftOut>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// Row groups of the Parquet files that were read or written.
    pub row_groups: u64,
    /// Bytes that were read of the inputs.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
}

/// A column that was converted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConvertedColumn {
    /// Its name in the output.
    pub name: String,
    /// Its Arrow type.
    pub arrow: String,
}

/// A column that was not converted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why it was left out.
    pub why: String,
}

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A ROOT file.
    Root,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// The format of a file that is there, by its first bytes.
    pub fn of(path: &Path) -> Result<Self> {
        let mut first = [0; 4];
        let opened = File::open(path).map_err(|e| Error::from(e).file(path))?;
        opened.take(4).read_exact(&mut first).map_err(|_| neither(path))?;
        match &first {
            b"root" => Ok(Self::Root),
            b"PAR1" => Ok(Self::Parquet),
            _ => Err(neither(path)),
        }
    }

    /// The format that a file's name says it will have, if it does.
    pub fn named(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_string_lossy().to_lowercase();
        match extension.as_str() {
            "root" => Some(Self::Root),
            "parquet" | "parq" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }
}

#[cold]
fn neither(path: &Path) -> Error {
    Error::request("is neither a ROOT nor a Parquet file").file(path)
}

/// The key of a Parquet file's metadata that has the path of the tree it was made of.
const TREE_KEY: &str = "root.tree";

/// An error of the Parquet library's, which found something wrong in a file, or ours that went through it.
fn wrong(error: ParquetError) -> Error {
    match error {
        ParquetError::NYI(what) => Error::unsupported(what),
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(io) => match io.downcast::<Error>() {
                Ok(ours) => ours,
                Err(io) => io.into(),
            },
            Err(other) => Error::corrupt(other.to_string()),
        },
        ParquetError::General(what) | ParquetError::EOF(what) | ParquetError::ArrowError(what) => Error::corrupt(what),
        other => Error::corrupt(other.to_string()),
    }
}
