//! The lock of a task, so that two runners never work on one at the same time. The kernel holds it (flock(2)), also on NFS, and
//! releases it when the runner ends in whatever way: the file stays, and means nothing by itself. On a file system without
//! locks runners look at each other's states alone.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rootfile::{Error, Result};
use rustix::fs::OFlags;

/// The lock of a task, until it is dropped.
#[derive(Debug)]
pub struct TaskLock {
    _held: File,
}

impl TaskLock {
    /// Takes the lock of task `n`, and says in its file who has it.
    pub(super) fn take(path: &Path, n: usize, runner: &str) -> Result<Self> {
        let of_file = |e: std::io::Error| Error::from(e).file(path);
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false).custom_flags(flags.cast_signed());
        let mut file = options.open(path).map_err(of_file)?;
        if !file.metadata().map_err(of_file)?.is_file() {
            return Err(Error::request("is no regular file, as the lock of a task is; remove it").file(path));
        }
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let read = (&mut file).take(200).read_to_string(&mut holder);
                let holder = if read.is_ok() && !holder.trim().is_empty() { holder.trim() } else { "another process" };
                let why = format!("task {n} is being run by {holder}; its state and output are left alone");
                return Err(Error::request(why));
            }
            // On a file system without locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Only a word for others: the lock counts.
        let _ = file.set_len(0).and_then(|()| file.write_all(format!("{runner}\n").as_bytes()));
        Ok(Self { _held: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_other_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("task-3.lock");
        let first = TaskLock::take(&path, 3, "process 7 on here").unwrap();
        let why = TaskLock::take(&path, 3, "process 8 on there").unwrap_err().to_string();
        assert!(why.contains("task 3 is being run by process 7 on here"), "{why}");
        drop(first);
        TaskLock::take(&path, 3, "process 8 on there").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "process 8 on there\n");
        assert!(TaskLock::take(Path::new("/dev/null"), 3, "").unwrap_err().to_string().contains("no regular file"));
    }
}
