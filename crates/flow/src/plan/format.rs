//! The format of a file: ROOT or Parquet. Nothing but its name or its first bytes is looked at.

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

    /// Whether a file is a Parquet file. What cannot be read is none, and no file is opened whose name ends as that of a ROOT file.
    pub fn is_parquet(path: &Path) -> bool {
        match Self::named(&public_path(path)) {
            Some(Self::Root) => false,
            Some(Self::Parquet) if url(path).is_some() => true,
            _ => url(path).is_none() && Self::of(path).is_ok_and(|format| format == Self::Parquet),
        }
    }

    /// Whether inputs are Parquet files: all of them, or none.
    ///
    /// # Errors
    ///
    /// If only some of them are.
    pub(crate) fn are_parquet<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<bool> {
        let mut first = None;
        for path in paths {
            let here = Self::is_parquet(path);
            if *first.get_or_insert(here) != here {
                let message = "is a Parquet file, and other inputs are ROOT files; convert them first";
                let message =
                    if here { message } else { "is no Parquet file, and other inputs are; convert them first" };
                return Err(Error::request(message).file(path));
            }
        }
        Ok(first.unwrap_or(false))
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
