//! The format of a file: ROOT or Parquet.

use std::path::Path;

use rootfile::{Error, Result, open_source, public_path, url};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A ROOT file.
    Root,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// The format of an existing file, by its first bytes. A file on another machine is not opened for that if its name tells
    /// the format.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has neither format.
    pub fn of(path: &Path) -> Result<Self> {
        if let Some(named) = url(path).and_then(|_| Self::named(&public_path(path))) {
            return Ok(named);
        }
        let first = open_source(path)?.read(0, 4).map_err(|_| neither(path))?;
        match first.as_slice() {
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
