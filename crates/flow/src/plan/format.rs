//! The format of a file: ROOT or Parquet. Nothing but its name or its first bytes is looked at.

use std::path::Path;

use rootfile::{Error, Result, foreign, open_source, public_path, url};

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
        let source = open_source(path)?;
        let first = source.read(0, usize::try_from(source.size().min(512)).unwrap_or(512))?;
        match first.get(..4) {
            Some(b"root") => Ok(Self::Root),
            Some(b"PAR1") => Ok(Self::Parquet),
            _ => Err(neither(path, &first)),
        }
    }

    /// Whether a file is a Parquet file. What cannot be read, or is neither, is what its name says, and no file is opened whose name
    /// ends as that of a ROOT file.
    pub fn is_parquet(path: &Path) -> bool {
        let (known, named) = Self::known(path);
        known.or(named) == Some(Self::Parquet)
    }

    /// The format of an input, if it has one, and the one that its name ends with.
    fn known(path: &Path) -> (Option<Self>, Option<Self>) {
        let named = Self::named(&public_path(path));
        let known = match named {
            Some(Self::Root) => named,
            _ if url(path).is_some() => named.or(Some(Self::Root)),
            _ => Self::of(path).ok(),
        };
        (known, named)
    }

    /// Whether inputs are Parquet files: all of them, or none. Those that cannot be read, or are neither, are taken for what the others
    /// are: opening them tells what is wrong with them.
    ///
    /// # Errors
    ///
    /// If only some of them are.
    pub(crate) fn are_parquet<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<bool> {
        let (mut first, mut first_named) = (None, None);
        for path in paths {
            let (known, named) = Self::known(path);
            first_named = first_named.or(named);
            let Some(here) = known.map(|format| format == Self::Parquet) else { continue };
            if *first.get_or_insert(here) != here {
                let message = "is a Parquet file, and other inputs are ROOT files; convert them first";
                let message =
                    if here { message } else { "is no Parquet file, and other inputs are; convert them first" };
                return Err(Error::request(message).file(path));
            }
        }
        Ok(first.unwrap_or(first_named == Some(Self::Parquet)))
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
fn neither(path: &Path, first: &[u8]) -> Error {
    Error::request(format!("is neither a ROOT nor a Parquet file: {}", foreign(first))).file(path)
}
