//! The lock of a file that is edited, from before it is read until another file has its name: of two edits at a time one would be
//! lost. The kernel holds it (flock(2)). Programs that do not edit take none; what they change is found by whoever replaces the file.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use rustix::fs::{Access, access};

use crate::temporary::same_file;
use crate::{Error, Result};

/// The lock of a file, until it is dropped.
#[derive(Debug)]
pub struct EditLock {
    _held: File,
}

impl EditLock {
    /// Takes the lock of the file that has this name. `None` if no regular file has it, or if the process has no descriptor left.
    ///
    /// # Errors
    ///
    /// Another edit has it; or the user may not write the file, or replace it in its folder.
    pub fn take(path: &Path) -> Result<Option<Self>> {
        while path.is_file() {
            let file = match File::options().read(true).write(true).open(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound || is_without_descriptors(&e) => return Ok(None),
                Err(e) => return Err(refused(&e, "is not writable, so it is not edited").file(path)),
                Ok(file) => file,
            };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let why = "is being edited by another process, and stays as it is: edit it when that is done";
                    return Err(Error::request(why).file(path));
                }
                // On a file system without locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // Another edit may have replaced the file between the two calls.
            let named = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if same_file(&file, &named) {
                check_folder(&named)?;
                return Ok(Some(Self { _held: file }));
            }
        }
        Ok(None)
    }
}

/// Refuses a file in whose folder no other can take its place.
fn check_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(|e| {
        let why = format!("the folder {} is not writable, so the file cannot be replaced", folder.display());
        refused(&e.into(), &why).file(path)
    })
}

fn refused(error: &io::Error, why: &str) -> Error {
    io::Error::new(error.kind(), format!("{why} ({error})")).into()
}

fn is_without_descriptors(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_lock_whatever_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "").unwrap();
        std::os::unix::fs::symlink(at("a"), at("soft")).unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        let first = EditLock::take(&at("a")).unwrap();
        assert!(first.is_some());
        for name in ["a", "soft", "hard"] {
            let why = EditLock::take(&at(name)).unwrap_err().to_string();
            assert!(why.contains("is being edited"), "{name}: {why}");
        }
        // The file that takes its place has a lock of its own.
        std::fs::write(at("b"), "").unwrap();
        std::fs::rename(at("b"), at("a")).unwrap();
        assert!(EditLock::take(&at("a")).unwrap().is_some());
        drop(first);
        assert!(EditLock::take(&at("hard")).unwrap().is_some());
    }

    #[test]
    fn what_is_no_file_has_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), &folder.path().join("absent"), Path::new("/dev/null")] {
            assert!(EditLock::take(path).unwrap().is_none());
        }
    }
}
