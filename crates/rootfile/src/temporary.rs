//! The hidden file that holds an output until the output is complete. An abandoned output is removed; a process that is
//! told to end removes all its unfinished outputs at once.
//!
//! The writer holds a lock (flock(2)) on the hidden file. A killed process leaves the file without the lock, and the
//! next writer of the same output removes it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::naming::announce;
use crate::owner::Owner;
use crate::target::{check_place, exists};
use crate::{Error, Result};

/// Most hidden files of one output that a process writes at the same time.
const MOST: u32 = 64;

/// Bytes of an output's name in the name of its hidden file: file systems allow 255, and the numbers need up to 30.
const LONGEST: usize = 220;

static OUTPUTS: Mutex<Outputs> = Mutex::new(Outputs {
    unfinished: BTreeMap::new(),
    scratch: BTreeMap::new(),
    folders: BTreeMap::new(),
    named: 0,
    closed: false,
});

/// The outputs of this process.
struct Outputs {
    /// Hidden files, and the process that writes each: a forked process has the list too.
    unfinished: BTreeMap<PathBuf, Owner>,
    /// Scratch folders, and the process that made each.
    scratch: BTreeMap<PathBuf, Owner>,
    /// Folders for outputs, and the process that made each. Those that are empty go with the unfinished outputs.
    folders: BTreeMap<PathBuf, Owner>,
    /// The number of outputs that have their final names. Files in scratch folders do not count.
    named: usize,
    /// Whether outputs were abandoned: no output begins or is renamed any more.
    closed: bool,
}

fn outputs() -> MutexGuard<'static, Outputs> {
    // The list is consistent after every call, so a panic elsewhere does not matter.
    OUTPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Outputs {
    fn check_open(&self) -> Result<()> {
        if self.closed { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Whether a file is an output, and not in a scratch folder.
    fn is_output(&self, path: &Path) -> bool {
        !self.scratch.keys().any(|folder| path.starts_with(folder))
    }

    /// Removes a hidden file from the list. Returns whether this process wrote it.
    fn forget(&mut self, path: &Path) -> bool {
        self.unfinished.remove(path).is_some_and(Owner::is_this)
    }
}

/// Removes all unfinished outputs of this process and returns their number. From then on outputs can neither begin nor
/// get their names: both fail with [`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted). For a process that is about to end.
pub fn abandon_outputs() -> usize {
    abandon(&mut outputs())
}

/// As [`abandon_outputs`], unless every output that this process has begun already has its final name: then nothing
/// changes, and the result is `None`.
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
    for (path, _) in std::mem::take(&mut outputs.unfinished).iter().filter(|(_, by)| by.is_this()) {
        // A file that cannot be removed stays.
        let _ = std::fs::remove_file(path);
        removed += usize::from(outputs.is_output(path));
    }
    std::mem::take(&mut outputs.scratch).iter().for_each(|(path, maker)| remove_folder(path, *maker));
    // A folder comes before those in it.
    for (path, _) in std::mem::take(&mut outputs.folders).iter().rev().filter(|(_, maker)| maker.is_this()) {
        let _ = std::fs::remove_dir(path);
    }
    removed
}

/// Adds a folder for outputs to the list.
pub(crate) fn hold_folder(path: &Path) {
    outputs().folders.insert(path.to_path_buf(), Owner::this());
}

/// Takes it from the list.
pub(crate) fn release_folder(path: &Path) {
    outputs().folders.remove(path);
}

/// Removes a scratch folder of this process. Tries again while threads still write there.
fn remove_folder(path: &Path, maker: Owner) {
    let again = |e: &io::Error| e.kind() == io::ErrorKind::DirectoryNotEmpty;
    let mut tries = 0..10;
    while maker.is_this() && tries.next().is_some() && std::fs::remove_dir_all(path).is_err_and(|e| again(&e)) {}
}

/// Makes a scratch folder at the first possible of these paths, and adds it to the list, so that it is removed when the
/// process is told to end.
pub(crate) fn make_scratch<T>(
    paths: impl Iterator<Item = PathBuf>,
    make: impl Fn(&Path) -> io::Result<Option<T>>,
) -> Result<Option<(PathBuf, T)>> {
    let mut outputs = outputs();
    outputs.check_open()?;
    for path in paths {
        if !outputs.scratch.contains_key(&path)
            && let Some(made) = make(&path)?
        {
            outputs.scratch.insert(path.clone(), Owner::this());
            return Ok(Some((path, made)));
        }
    }
    Ok(None)
}

/// Removes a scratch folder and its entry in the list.
pub(crate) fn remove_scratch(path: &Path) {
    let maker = outputs().scratch.remove(path);
    // `None` if all folders are already removed because the process is ending.
    maker.into_iter().for_each(|maker| remove_folder(path, maker));
}

/// The first name that this process tries for the hidden file of an output.
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

/// The part of an output's name in the names of its hidden files, cut to what file systems allow.
fn short_name(target: &Path) -> String {
    let mut name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let end = (0..=LONGEST.min(name.len())).rev().find(|&end| name.is_char_boundary(end));
    name.truncate(end.unwrap_or(0));
    name
}

/// Whether a name is that of a hidden file of the output `target`, of any process.
fn is_hidden_name(file: &str, target: &str) -> bool {
    let middle = file.strip_prefix('.').and_then(|rest| rest.strip_prefix(target));
    let middle = middle.and_then(|rest| rest.strip_prefix('.')).and_then(|rest| rest.strip_suffix(".tmp"));
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    middle.is_some_and(|middle| middle.split_once('-').map_or_else(|| number(middle), |(a, b)| number(a) && number(b)))
}

/// Who may read an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever may read what the user writes (umask(2)).
    AsUsual,
    /// The user alone.
    Owner,
}

/// A file under a temporary name. It is removed when dropped, unless it was renamed.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    target: PathBuf,
    overwrite: bool,
    owner: Owner,
}

impl Temporary {
    /// Creates the hidden file of the output `target`, in the same folder so that it can be renamed. Fails if `target`
    /// is a device or a folder, or an existing file unless `overwrite`.
    pub fn create(target: &Path, overwrite: bool, readers: Readers) -> Result<(Self, File)> {
        check_place(target, overwrite)?;
        let mut outputs = outputs();
        outputs.check_open()?;
        remove_stale(target, &outputs);
        for path in (0..MOST).map(|number| hidden(target, number)) {
            if outputs.unfinished.contains_key(&path) {
                continue;
            }
            if let Some(file) = create_locked(&path, readers)? {
                outputs.unfinished.insert(path.clone(), Owner::this());
                let (target, owner) = (target.to_path_buf(), Owner::this());
                return Ok((Self { path, target, overwrite, owner }, file));
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "is being written already; name another output").into())
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The final name.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Renames the file to its final name. A forked process cannot: the file is still being written, or was renamed already.
    pub fn rename(self) -> Result<()> {
        self.owner.check("the output", "only that process can complete it")?;
        announce(&self.target, &self.path)?;
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
        // In a forked process the list may be locked for ever.
        if self.owner.is_this() && outputs().forget(&self.path) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates and locks a hidden file; `None` if another process writes it.
fn create_locked(path: &Path, readers: Readers) -> io::Result<Option<File>> {
    let no_link = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = File::options();
    options.write(true).read(true).create(true).truncate(false).custom_flags(no_link);
    if readers == Readers::Owner {
        // A file that is there already may be open elsewhere.
        options.create_new(true).mode(0o600);
    }
    loop {
        let file = match options.open(path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            opened => opened?,
        };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // On a file system without locks, stale files stay and no file in use is removed.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        // Another process may have removed the file as stale between the two calls.
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

/// Removes the stale hidden files of an output.
fn remove_stale(target: &Path, outputs: &Outputs) {
    let name = short_name(target);
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| is_hidden_name(&entry.file_name().to_string_lossy(), &name));
    for path in named.map(|entry| target.with_file_name(entry.file_name())) {
        let stale = !outputs.unfinished.contains_key(&path) && path.symlink_metadata().is_ok_and(|meta| meta.is_file());
        // The file stays locked while it is removed, so that no other process takes it.
        if stale
            && let Ok(file) = File::options().write(true).open(&path)
            && file.try_lock().is_ok()
            && same_file(&file, &path)
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Renames a file, unless the new name exists by now.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::EXIST) => Err(exists()),
        // On file systems without this kind of rename, a hard link fails if the name exists.
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
    use crate::ErrorKind;

    fn is_io(error: &Error, kind: io::ErrorKind) -> bool {
        matches!(error.kind(), ErrorKind::Io(io) if io.kind() == kind)
    }

    #[test]
    fn devices_and_folders_are_not_replaced() {
        for there in ["/dev/null", "/tmp"] {
            let refused = Temporary::create(Path::new(there), true, Readers::AsUsual).unwrap_err();
            assert!(is_io(&refused, io::ErrorKind::InvalidInput), "{there}: {refused}");
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
        let (temporary, _file) = Temporary::create(&target, false, Readers::AsUsual).unwrap();
        let left = |name: &str| folder.path().join(name).exists();
        assert_eq!(names.map(left), [false, false, true, true, true]);
        drop(temporary);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    }

    #[test]
    fn two_writers_of_one_output_do_not_share_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.root");
        let (first, _one) = Temporary::create(&target, false, Readers::AsUsual).unwrap();
        let (second, _two) = Temporary::create(&target, false, Readers::AsUsual).unwrap();
        assert_ne!(first.path(), second.path());
        first.rename().unwrap();
        // The first is there by now, and nobody asked to replace it.
        assert!(is_io(&second.rename().unwrap_err(), io::ErrorKind::AlreadyExists));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn a_forked_process_neither_renames_nor_removes() {
        let folder = tempfile::tempdir().unwrap();
        for rename in [true, false] {
            let (mut temporary, _file) =
                Temporary::create(&folder.path().join("out.root"), false, Readers::AsUsual).unwrap();
            temporary.owner = Owner::other();
            let path = temporary.path().to_path_buf();
            if rename {
                assert!(temporary.rename().unwrap_err().to_string().contains("belongs to process 0"));
            } else {
                drop(temporary);
            }
            assert!(path.exists() && !folder.path().join("out.root").exists());
        }
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
