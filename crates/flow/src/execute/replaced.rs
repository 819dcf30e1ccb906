//! A file that is to be replaced by a new one made of it: it must still be the file that was read. How the new one takes its name is told
//! by `rootfile`.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};

/// A file, or a place without one, as it was before it was read.
pub(crate) struct SeenFile {
    path: PathBuf,
    before: Option<Metadata>,
}

impl SeenFile {
    pub fn of(path: &Path) -> Self {
        Self { path: path.to_path_buf(), before: path.metadata().ok() }
    }

    /// A place where no file is to be.
    pub fn absent(path: &Path) -> Self {
        Self { path: path.to_path_buf(), before: None }
    }

    /// What was known of the file, if there was one.
    pub fn metadata(&self) -> Option<&Metadata> {
        self.before.as_ref()
    }

    /// Refuses to replace a file that another process has changed meanwhile. `again` says what the user does then.
    ///
    /// # Errors
    ///
    /// It is another file now, or gone.
    pub fn check_unchanged(&self, again: &str) -> Result<()> {
        let facts = |data: &Metadata| (data.dev(), data.ino(), data.len(), data.mtime(), data.mtime_nsec());
        if self.path.metadata().ok().as_ref().map(facts) == self.before.as_ref().map(facts) {
            return Ok(());
        }
        Err(self.changed(again))
    }

    /// The error of a file that is another one now.
    pub fn changed(&self, again: &str) -> Error {
        Error::request(format!("has changed since it was read, and stays as it is: {again}")).file(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_same_name_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&path, "1").unwrap();
        let seen = SeenFile::of(&path);
        seen.check_unchanged("again").unwrap();
        std::fs::write(&other, "1").unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(seen.check_unchanged("run it again").unwrap_err().to_string().contains("run it again"));
        assert!(SeenFile::of(&other).check_unchanged("again").is_ok());
    }
}
