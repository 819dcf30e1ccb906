//! The format of a file: ROOT or Parquet.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rootfile::{Error, Result};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A ROOT file.
    Root,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// The format of an existing file, by its first bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has neither format.
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

    /// The format that a file's name ends with.
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
