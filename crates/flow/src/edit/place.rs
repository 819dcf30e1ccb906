//! The place that a user names in a file to edit: the file, which need not exist, and a path in it.

use std::path::{Path, PathBuf};

use rootfile::{Error, Result, is_same_place, public_path, url};

use crate::plan::inputs::Input;

/// A file to edit, and a path in it, empty for the file itself.
#[derive(Clone, Debug)]
pub(super) struct EditPlace {
    pub file: PathBuf,
    pub path: String,
    /// Whether the file is named alone, without a colon behind it.
    pub is_file: bool,
}

impl EditPlace {
    /// The place of an argument. Where the file is not there, its name ends with `.root`.
    pub fn of(input: &Input) -> Result<Self> {
        let (mut file, mut path) = (input.path.clone(), input.tree.clone().unwrap_or_default());
        let mut is_file = input.tree.is_none();
        if !file.is_file()
            && let Some(text) = input.path.to_str()
            && let Some((name, first)) = text.split_once(".root:")
        {
            // A name in the path has colons.
            path = match path.is_empty() {
                true => first.to_owned(),
                false => format!("{first}:{path}"),
            };
            file = format!("{name}.root").into();
            is_file = false;
        }
        if url(&file).is_some() {
            return Err(Error::request("files are edited on this machine: copy it, and edit the copy").file(&file));
        }
        // The file itself is replaced, and not a link to it.
        let file = if file.is_symlink() { file.canonicalize().unwrap_or(file) } else { file };
        let path = path.split('/').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/");
        Ok(Self { file, path, is_file })
    }

    /// The place as users write it.
    pub fn shown(&self) -> String {
        shown(&self.file, &self.path)
    }
}

/// Refuses names that an object or a directory does not get: those with a cycle, patterns, and what means another directory.
pub(super) fn check_new(path: &str) -> Result<()> {
    let why = if path.contains(';') {
        "a new name has no cycle: it gets the next one"
    } else if path.contains(['*', '?']) {
        "a new name is no pattern"
    } else if path.split('/').any(|part| part == "." || part == "..") {
        "paths in a file begin at its top: they have no . and .."
    } else {
        return Ok(());
    };
    Err(Error::request(why).object(path))
}

/// A path in a file as users write it.
pub(super) fn shown(file: &Path, path: &str) -> String {
    let file = public_path(file).display().to_string();
    if path.is_empty() { file } else { format!("{file}:{path}") }
}

/// Whether two paths name one file.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    a == b || (url(a).is_none() && url(b).is_none() && is_same_place(a, b))
}
