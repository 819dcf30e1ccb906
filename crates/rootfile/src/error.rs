//! The one error type of the container floor: what went wrong, in which file and object, at which byte.
//!
//! Parsers raise it with only what they know; each caller on the way up adds its own piece of context
//! ([`Error::at`], [`Error::object`], [`Error::file`]), and a piece that is already there is kept, since
//! the innermost is the most exact.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::printable;

/// What kind of thing went wrong. Decides the exit code and whether `-k` may skip the file.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io(std::io::Error),
    /// The bytes are not what the format asks for.
    Corrupt(String),
    /// Well-formed as far as can be seen, but not something basketry handles.
    Unsupported(String),
    /// The request makes no sense for this file (no such tree, schemas differ, budget too small...).
    Request(String),
}

/// An error with the file, object and offset it happened at. One pointer wide.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    file: Option<PathBuf>,
    object: Option<String>,
    offset: Option<u64>,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps a kind without any context yet.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, file: None, object: None, offset: None }))
    }

    /// The bytes of the file are wrong.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt(message.into()))
    }

    /// The file asks for something basketry does not do.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported(message.into()))
    }

    /// The user asked for something that cannot be.
    pub fn request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Request(message.into()))
    }

    /// Adds the file, unless one is known.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.file.get_or_insert_with(|| path.as_ref().to_path_buf());
        self
    }

    /// Adds the object (a key, a branch, a class), unless one is known.
    #[must_use]
    pub fn object(mut self, name: impl Into<String>) -> Self {
        self.0.object.get_or_insert_with(|| name.into());
        self
    }

    /// Adds the byte offset in the file, unless one is known.
    #[must_use]
    pub fn at(mut self, offset: u64) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// The file it happened in, if one is known.
    pub fn path(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }
}

/// Most characters of an object's name in a message.
const MOST_OF_A_NAME: usize = 200;

/// A name from a file, fit for one line of a terminal: what does not print is escaped, what is long is cut.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    for (i, c) in name.chars().enumerate() {
        if i == MOST_OF_A_NAME {
            return f.write_str("...");
        }
        f.write_str(&printable(c.encode_utf8(&mut [0; 4])))?;
    }
    Ok(())
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        if let Some(file) = &inner.file {
            write!(f, "{}: ", printable(&file.to_string_lossy()))?;
        }
        if let Some(object) = &inner.object {
            write_name(f, object)?;
            f.write_str(": ")?;
        }
        if let Some(offset) = inner.offset {
            write!(f, "at byte {offset}: ")?;
        }
        match &inner.kind {
            ErrorKind::Io(e) => write!(f, "{e}"),
            ErrorKind::Corrupt(m) | ErrorKind::Unsupported(m) | ErrorKind::Request(m) => write!(f, "{m}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        Self::new(ErrorKind::Io(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_a_file_stay_on_their_line() {
        let error = Error::corrupt("short").object("a\u{85}b\u{1c}\n\u{2028}é").at(7);
        assert_eq!(error.to_string(), r"a\u{85}b\u{1c}\n\u{2028}é: at byte 7: short");
        let long = Error::corrupt("short").object("x".repeat(1000)).to_string();
        assert_eq!(long, format!("{}...: short", "x".repeat(MOST_OF_A_NAME)));
    }
}
