//! A folder for outputs that is made with the folders above it, and goes again where nothing came into it: the work failed, or the process is
//! told to end. Folders that were there before stay, and so do all that have something in them.

use std::path::{Path, PathBuf};

use crate::temporary::{hold_folder, release_folder};
use crate::{Error, Result};

/// The folders that were made, the outermost first. Those that are empty are removed with it, unless it is kept.
#[derive(Debug)]
#[must_use = "what was made is removed at once"]
pub struct NewFolder(Vec<PathBuf>);

impl NewFolder {
    /// Makes a folder, and those above it that are missing.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn make(path: &Path) -> Result<Self> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && folder.symlink_metadata().is_err();
        let mut missing: Vec<PathBuf> = path.ancestors().take_while(is_missing).map(Path::to_path_buf).collect();
        missing.reverse();
        let made = Self(missing);
        made.0.iter().for_each(|folder| hold_folder(folder));
        std::fs::create_dir_all(path).map_err(|e| Error::from(e).file(path))?;
        Ok(made)
    }

    /// Leaves all of them, whether something is in them or not.
    pub fn keep(mut self) {
        std::mem::take(&mut self.0).iter().for_each(|folder| release_folder(folder));
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for folder in self.0.iter().rev() {
            release_folder(folder);
            // One that has something in it stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_goes_while_it_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);

        drop(NewFolder::make(&at("a/b/c")).unwrap());
        assert!(!at("a").exists());

        std::fs::create_dir(at("a")).unwrap();
        drop(NewFolder::make(&at("a/b")).unwrap());
        assert!(at("a").exists() && !at("a/b").exists(), "what was there stays");

        let made = NewFolder::make(&at("a/b/c")).unwrap();
        std::fs::write(at("a/b/file"), "").unwrap();
        drop(made);
        assert!(at("a/b/file").exists() && !at("a/b/c").exists());

        NewFolder::make(&at("d/e")).unwrap().keep();
        assert!(at("d/e").exists());
        assert!(NewFolder::make(&at("a/b/file/x")).is_err());
    }
}
