//! The hidden file that an output is written to until it is whole. One that is given up is removed, and all that
//! there are can be removed at once, by a process that was told to end. A process that is killed leaves its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Error, Result};

/// The unfinished outputs of this process. Whoever holds it keeps outputs from beginning and from ending.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The set is whole between any two of its calls, whatever panicked.
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all outputs of this process that are not finished, and says how many there were.
///
/// For a process that is to end at once: from then on no output begins or ends, and whoever tries waits forever.
pub fn abandon_outputs() -> usize {
    let mut paths = unfinished();
    let count = paths.len();
    for path in std::mem::take(&mut *paths) {
        // Nothing can be done about a file that stays.
        let _ = std::fs::remove_file(path);
    }
    std::mem::forget(paths);
    count
}

/// Refuses an output that is there already, unless it is to be replaced.
pub fn refuse_existing(path: &Path, overwrite: bool) -> Result<()> {
    if !overwrite && path.exists() {
        let there = io::Error::new(io::ErrorKind::AlreadyExists, "is there already; give --force to replace it");
        return Err(Error::from(there).file(path));
    }
    Ok(())
}

/// Where a file that will be called `target` is while this process writes it.
pub fn unfinished_output(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

/// A file under a temporary name; removed when dropped, unless it got its own name.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Creates the file that will be called `target`, beside it so that it can be renamed. A device or a folder of that
    /// name is refused: the file would take its place.
    pub fn create(target: &Path) -> io::Result<(Self, File)> {
        if target.metadata().is_ok_and(|there| !there.is_file()) {
            let why = "is there, and is no file that could be replaced; name another output";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let path = unfinished_output(target);
        let mut paths = unfinished();
        let file = File::options().write(true).read(true).create(true).truncate(true).open(&path)?;
        paths.insert(path.clone());
        Ok((Self { path }, file))
    }

    /// Gives the file its name.
    pub fn rename(self, target: &Path) -> io::Result<()> {
        let mut paths = unfinished();
        std::fs::rename(&self.path, target)?;
        paths.remove(&self.path);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if unfinished().remove(&self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_not_replaced() {
        for there in ["/dev/null", "/tmp"] {
            let refused = Temporary::create(Path::new(there)).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{there}: {refused}");
        }
    }
}
