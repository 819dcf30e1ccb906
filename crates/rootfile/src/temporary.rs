//! The hidden file that an output is written to until it is whole. An output that is given up is removed, and all
//! unfinished outputs of a process can be removed at once when it is told to end.
//!
//! The writer holds a lock (flock(2)) on the hidden file. A process that is killed outright leaves the file behind
//! without the lock, and the next writer of the same output removes it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::target::{check_place, exists};

/// Hidden files of one output that a process may write at the same time.
const MOST: u32 = 64;

/// Bytes of an output's name in that of its hidden file: file systems take 255, of which numbers need up to 30.
const LONGEST: usize = 220;

static OUTPUTS: Mutex<Outputs> =
    Mutex::new(Outputs { unfinished: BTreeMap::new(), scratch: BTreeMap::new(), named: 0, closed: false });

/// The outputs of this process.
struct Outputs {
    /// Hidden files, and the process that writes each: a fork of it has the list, too.
    unfinished: BTreeMap<PathBuf, u32>,
    /// Scratch folders, and the process that made each.
    scratch: BTreeMap<PathBuf, u32>,
    /// How many outputs have their names. What lies in a scratch folder is no output.
    named: usize,
    /// No output begins, and none gets its name, any more.
    closed: bool,
}

fn outputs() -> MutexGuard<'static, Outputs> {
    // The list is whole between any two calls of it, whatever panicked.
    OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outputs {
    fn check_open(&self) -> io::Result<()> {
        match self.closed {
            true => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted: the process is ending")),
            false => Ok(()),
        }
    }

    /// Whether a file is for others than this process.
    fn is_output(&self, path: &Path) -> bool {
        !self.scratch.keys().any(|folder| path.starts_with(folder))
    }

    /// Takes a hidden file off the list, and says whether this process wrote it.
    fn forget(&mut self, path: &Path) -> bool {
        self.unfinished.remove(path) == Some(std::process::id())
    }
}

/// Removes all unfinished outputs of this process, and says how many. From then on no output begins and none gets its
/// name: both fail with [`io::ErrorKind::Interrupted`]. For a process that ends at once.
pub fn abandon_outputs() -> usize {
    abandon(&mut outputs())
}

/// Does the same as [`abandon_outputs`], unless every output that this process has begun has its name already: then
/// nothing is left to abandon, nothing changes, and the answer is `None`.
pub fn abandon_unless_named() -> Option<usize> {
    let mut outputs = outputs();
    let done = outputs.named > 0 && !outputs.unfinished.keys().any(|path| outputs.is_output(path));
    (!done).then(|| abandon(&mut outputs))
}

/// Whether outputs were abandoned: the process is ending.
pub fn outputs_abandoned() -> bool {
    outputs().closed
}

fn abandon(outputs: &mut Outputs) -> usize {
    outputs.closed = true;
    let mut removed = 0;
    for (path, _) in std::mem::take(&mut outputs.unfinished).iter().filter(|(_, by)| **by == std::process::id()) {
        // Nothing can be done about a file that cannot be removed.
        let _ = std::fs::remove_file(path);
        removed += usize::from(outputs.is_output(path));
    }
    std::mem::take(&mut outputs.scratch).iter().for_each(|(path, maker)| remove_folder(path, *maker));
    removed
}

/// Removes a scratch folder of this process. Threads that end with the process may still write there.
fn remove_folder(path: &Path, maker: u32) {
    let again = |e: &io::Error| e.kind() == io::ErrorKind::DirectoryNotEmpty;
    let mut tries = 0..10;
    while maker == std::process::id()
        && tries.next().is_some()
        && std::fs::remove_dir_all(path).is_err_and(|e| again(&e))
    {}
}

/// Makes the first scratch folder that can be made of these, and puts it on the list, so that it is removed when the
/// process is told to end.
pub(crate) fn make_scratch<T>(
    paths: impl Iterator<Item = PathBuf>,
    make: impl Fn(&Path) -> io::Result<Option<T>>,
) -> io::Result<Option<(PathBuf, T)>> {
    let mut outputs = outputs();
    outputs.check_open()?;
    for path in paths {
        if !outputs.scratch.contains_key(&path)
            && let Some(made) = make(&path)?
        {
            outputs.scratch.insert(path.clone(), std::process::id());
            return Ok(Some((path, made)));
        }
    }
    Ok(None)
}

/// Takes a scratch folder off the list, and removes it.
pub(crate) fn remove_scratch(path: &Path) {
    let maker = outputs().scratch.remove(path);
    // None where all were removed since the process is ending.
    maker.into_iter().for_each(|maker| remove_folder(path, maker));
}

/// The first name that this process gives the hidden file of an output.
pub fn unfinished_output(target: &Path) -> PathBuf {
    hidden(target, 0)
}

fn hidden(target: &Path, number: u32) -> PathBuf {
    let name = short_name(target);
    let process = std::process::id();
    match number {
        0 => target.with_file_name(format!(".{name}.{process}.tmp")),
        _ => target.with_file_name(format!(".{name}.{process}-{number}.tmp")),
    }
}

/// The name of an output as its hidden files have it: cut where theirs would be longer than file systems take.
fn short_name(target: &Path) -> String {
    let mut name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let end = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    name.truncate(end.unwrap_or(0));
    name
}

/// Whether a file of this name is the hidden file of an output called `target`, of whatever process.
fn is_hidden_name(file: &str, target: &str) -> bool {
    let middle = file.strip_prefix('.').and_then(|rest| rest.strip_prefix(target));
    let middle = middle.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix(".tmp"));
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_some_and(|middle| middle.split_once('-').map_or_else(|| number(middle), |(a, b)| number(a) && number(b)))
}

/// A file under a temporary name. It is removed when it is dropped, unless it got its own name.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    target: PathBuf,
    overwrite: bool,
}

impl Temporary {
    /// Creates the hidden file of an output called `target`, in the same folder so that it can be renamed. A device or
    /// a folder of that name is refused, since the file would take its place; an existing file is, unless `overwrite`.
    pub fn create(target: &Path, overwrite: bool) -> io::Result<(Self, File)> {
        check_place(target, overwrite)?;
        let mut outputs = outputs();
        outputs.check_open()?;
        remove_stale(target, &outputs);
        for path in (0..MOST).map(|number| hidden(target, number)) {
            if outputs.unfinished.contains_key(&path) {
                continue;
            }
            if let Some(file) = create_locked(&path)? {
                outputs.unfinished.insert(path.clone(), std::process::id());
                return Ok((Self { path, target: target.to_path_buf(), overwrite }, file));
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "is being written already; name another output"))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file will be called.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the file its name.
    pub fn rename(self) -> io::Result<()> {
        let mut outputs = outputs();
        outputs.check_open()?;
        match self.overwrite {
            true => std::fs::rename(&self.path, &self.target)?,
            false => rename_new(&self.path, &self.target)?,
        }
        outputs.forget(&self.path);
        outputs.named += usize::from(outputs.is_output(&self.target));
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if outputs().forget(&self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates and locks a hidden file; `None` if another process writes it.
fn create_locked(path: &Path) -> io::Result<Option<File>> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = File::options();
    options.write(true).read(true).create(true).truncate(false).custom_flags(no_link);
    loop {
        let file = options.open(path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // A file system without locks: stale files stay there, and nothing is removed that somebody may write.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Whoever looked for stale files between the two calls has removed it.
        if same_file(&file, path) {
            file.set_len(0)?;
            return Ok(Some(file));
        }
    }
}

pub(crate) fn same_file(file: &File, path: &Path) -> bool {
    let Ok(ours) = file.metadata() else { return true };
    path.symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()))
}

/// Removes the hidden files of an output that no process writes any more.
fn remove_stale(target: &Path, outputs: &Outputs) {
    let name = short_name(target);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| is_hidden_name(&entry.file_name().to_string_lossy(), &name));
    for path in named.map(|entry| target.with_file_name(entry.file_name())) {
        let stale = !outputs.unfinished.contains_key(&path) && path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        // Locked while it is removed, so that nobody takes it meanwhile.
        if stale
            && let Ok(file) = File::options().write(true).open(&path)
            && file.try_lock().is_ok()
            && same_file(&file, &path)
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Renames a file, unless there is one of the new name by now.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Err(exists()),
        // File systems that know no such rename: a second name for the file is refused where there is one.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match std::fs::hard_link(from, to) {
            Ok(()) => std::fs::remove_file(from),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(exists()),
            Err(_) => std::fs::rename(from, to),
        },
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_folders_are_not_replaced() {
        for there in ["/dev/null", "/tmp"] {
            let refused = Temporary::create(Path::new(there), true).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{there}: {refused}");
        }
    }

    #[test]
    fn stale_files_of_the_same_output_are_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.root");
        let names = [".out.root.1.tmp", ".out.root.2-3.tmp", ".out.root.x.tmp", ".other.root.1.tmp", ".out.root.4.tmp"];
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "left").unwrap());
        let written = File::open(folder.path().join(".out.root.4.tmp")).unwrap();
        written.lock().unwrap();
        let (temporary, _file) = Temporary::create(&target, false).unwrap();
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!(names.map(left), [false, false, true, true, true]);
        drop(temporary);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn two_writers_of_one_output_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.root");
        let (first, _one) = Temporary::create(&target, false).unwrap();
        let (second, _two) = Temporary::create(&target, false).unwrap();
        assert_ne!(first.path(), second.path());
        first.rename().unwrap();
        // The first is there by now, and nobody asked to replace it.
        assert_eq!(second.rename().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn names_of_hidden_files_are_known() {
        for (file, known) in [(".a.root.12.tmp", true), (".a.root.12-1.tmp", true), (".a.root..tmp", false)] {
            assert_eq!(is_hidden_name(file, "a.root"), known, "{file}");
        }
        for other in [".a.root.12-.tmp", ".b.root.12.tmp", "a.root.12.tmp", ".a.root.12", ".a.root.b.12.tmp"] {
            assert!(!is_hidden_name(other, "a.root"), "{other}");
        }
    }
}
