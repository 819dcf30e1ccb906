//! A folder for temporary files, such as a copy that is measured. It is removed when dropped, and when the process is
//! told to end. Files in it are never outputs.
//!
//! The process holds a lock (flock(2)) on the folder. A killed process leaves its folder without a lock, and the next
//! process that makes a scratch folder in the same place removes it.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::Result;
use crate::owner::Owner;
use crate::temporary::{make_scratch, remove_scratch, same_file};

/// The name of scratch folders; the process identifier and a number follow.
const PREFIX: &str = ".basketry-scratch-";
/// Most scratch folders of a process in one place.
const MOST: u32 = 1000;

/// A folder for temporary files.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    /// Locked.
    _held: File,
    owner: Owner,
}

impl ScratchFolder {
    /// Makes a scratch folder in the system's folder for temporary files.
    ///
    /// # Errors
    ///
    /// If the system cannot make the folder.
    pub fn new() -> Result<Self> {
        Self::within(&std::env::temp_dir())
    }

    /// Makes a scratch folder in this folder.
    ///
    /// # Errors
    ///
    /// If the system cannot make the folder.
    pub fn within(folder: &Path) -> Result<Self> {
        remove_stale(folder);
        let process = std::process::id();
        let paths = (0..MOST).map(|number| folder.join(format!("{PREFIX}{process}-{number}")));
        let made = make_scratch(paths, create_locked)?;
        let (path, held) =
            made.ok_or_else(|| io::Error::new(io::ErrorKind::ResourceBusy, "too many scratch folders"))?;
        Ok(Self { path, _held: held, owner: Owner::this() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if self.owner.is_this() {
            remove_scratch(&self.path);
        }
    }
}

/// Makes and locks a folder; `None` if the name is taken, or if another process has removed the folder.
fn create_locked(path: &Path) -> io::Result<Option<File>> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        done => done?,
    }
    let held = match File::open(path) {
        // Without a lock it was stale to another process.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // On a file system without locks, stale folders stay and no folder in use is removed.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(same_file(&held, path).then_some(held)),
    }
}

/// Removes the stale scratch folders in a folder.
fn remove_stale(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| is_scratch(&entry.file_name().to_string_lossy())) {
        let path = entry.path();
        // The folder stays locked while it is removed. Links are not followed.
        if path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
            && let Ok(left) = File::open(&path)
            && left.try_lock().is_ok()
            && same_file(&left, &path)
        {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Whether a name is that of a scratch folder.
fn is_scratch(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(process, more)| number(process) && number(more))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_and_stale_folders_are_removed_with_their_files() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in [".basketry-scratch-1-0", ".basketry-scratch-2-0", ".basketry-scratch-x-0", "mine"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("file"), "content").unwrap();
        }
        std::os::unix::fs::symlink(at("mine"), at(".basketry-scratch-3-0")).unwrap();
        let held = File::open(at(".basketry-scratch-2-0")).unwrap();
        held.lock().unwrap();
        let (one, two) = (ScratchFolder::within(place.path()).unwrap(), ScratchFolder::within(place.path()).unwrap());
        assert_ne!(one.path(), two.path());
        std::fs::write(one.path().join("file"), "content").unwrap();
        let path = one.path().to_path_buf();
        drop(one);
        assert!(!path.exists() && two.path().exists());
        let left = |name: &str| at(name).join("file").exists();
        assert!(!left(".basketry-scratch-1-0"));
        for kept in [".basketry-scratch-2-0", ".basketry-scratch-x-0", "mine", ".basketry-scratch-3-0"] {
            assert!(left(kept), "{kept}");
        }
    }
    #[test]
    fn folders_are_made_at_once_in_one_place() {
        let place = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| drop(ScratchFolder::within(place.path()).unwrap())));
            }
        });
        assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    }
}
