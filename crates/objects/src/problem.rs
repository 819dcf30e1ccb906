//! What users are told about objects: problems in merging or copying them, and damaged objects that are left out.

use std::fmt;
use std::path::PathBuf;

/// An object that could not be carried over or merged as ROOT would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the object.
    pub path: String,
    /// What is wrong, and what became of the object.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(directory: &str, name: &str, message: &str) -> Self {
        let path = if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") };
        Self { path, message: message.to_owned() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// A damaged object that is left out, or an object that lies in a damaged part of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Damaged {
    /// The file.
    pub path: PathBuf,
    /// The object with its cycle, a directory, or another damaged part of the file.
    pub object: String,
    /// The damage.
    pub reason: String,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.path.display(), self.object, self.reason)
    }
}
