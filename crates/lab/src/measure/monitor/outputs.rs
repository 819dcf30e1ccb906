//! The files that a job writes, and their sizes: named files, and files that its processes have open for writing. A file that
//! an ancestor of this process has open for writing is inherited, such as the log of a shell, and does not count. Each file is
//! held by a handle without read or write access, so that the monitor recognises it after a rename.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use procfs::process::Process;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, open, readlink};
use serde::Serialize;

use super::processes::Pace;

/// Files beyond these are not discovered: each has a place in every sample.
const MOST: usize = 256;

/// A file that a job wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OutputFile {
    /// Where it is.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it was removed meanwhile.
    pub removed: bool,
}

/// The files of a job.
pub(crate) struct Outputs {
    proc: PathBuf,
    discover: bool,
    files: Vec<File>,
    /// Open files that are not outputs of the job: its standard output, files of ancestors, and the file of samples.
    foreign: HashSet<Id>,
    pace: Pace,
}

/// Device and inode.
type Id = (u64, u64);

enum File {
    Named(PathBuf),
    /// The handle goes when the file is removed: it would keep the disk from being free.
    Found {
        path: String,
        id: Id,
        handle: Option<OwnedFd>,
    },
}

impl Outputs {
    /// The `named` files, and with `discover` the files that processes have open for writing. The `record` of the
    /// samples is not one of them.
    pub fn new(proc: &Path, named: &[PathBuf], discover: bool, record: Option<&Path>) -> Self {
        let files = named.iter().cloned().map(File::Named).collect();
        let printed = (0..3).map(|fd| PathBuf::from(format!("/proc/self/fd/{fd}")));
        let known = printed.chain(record.map(Path::to_path_buf)).filter_map(|path| std::fs::metadata(path).ok());
        let mut foreign: HashSet<Id> = known.map(|meta| (meta.dev(), meta.ino())).collect();
        if discover {
            let inherited = ancestors().flat_map(|pid| open_for_writing(proc, pid));
            foreign.extend(inherited.filter_map(|link| held(&link)).map(|(_, id, _)| id));
        }
        Self { proc: proc.to_path_buf(), discover, files, foreign, pace: Pace::default() }
    }

    /// Sizes, in the order in which files were named and found.
    pub fn look(&mut self, processes: impl Iterator<Item = i32>, all: bool) -> Vec<u64> {
        if self.discover
            && let Some(started) = self.pace.due(all)
        {
            processes.for_each(|pid| self.find(pid));
            self.pace.done(started);
        }
        self.files.iter_mut().map(File::size).collect()
    }

    /// Their names and sizes.
    pub fn list(&mut self) -> Vec<OutputFile> {
        self.files.iter_mut().map(File::line).collect()
    }

    /// Reads the open files of a process.
    fn find(&mut self, pid: i32) {
        for link in open_for_writing(&self.proc, pid) {
            if self.files.len() >= MOST {
                return;
            }
            let Some((path, id, handle)) = held(&link) else { continue };
            if !self.foreign.contains(&id) && !self.files.iter().any(|file| file.is(id)) {
                self.files.push(File::Found { path, id, handle: Some(handle) });
            }
        }
    }
}

/// The processes above this one, nearest first.
fn ancestors() -> impl Iterator<Item = i32> {
    let parent = |pid: i32| Process::new(pid).and_then(|process| process.stat()).ok().map(|stat| stat.ppid);
    let own = Process::myself().and_then(|process| process.stat()).ok().map(|stat| stat.ppid);
    std::iter::successors(own, move |pid| parent(*pid)).take_while(|pid| *pid > 0)
}

/// Links to what a process has open for writing. The link says by its own permissions how the file is open; most are
/// pipes, and files that are read (proc(5), /proc/pid/fd).
fn open_for_writing(proc: &Path, pid: i32) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(proc.join(pid.to_string()).join("fd")).into_iter().flatten().flatten();
    let writable = |link: &std::fs::Metadata| link.permissions().mode() & 0o200 != 0;
    entries.filter(move |entry| entry.metadata().is_ok_and(|link| writable(&link))).map(|entry| entry.path())
}

/// The path, identity and a handle of the regular file behind a link of /proc/pid/fd, if it is one with a name.
fn held(link: &Path) -> Option<(String, Id, OwnedFd)> {
    let target = std::fs::read_link(link).ok()?;
    if !target.is_absolute() || ["/dev", "/proc", "/sys"].iter().any(|other| target.starts_with(other)) {
        return None;
    }
    let handle = open(link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let (id, _) = fstat(&handle).ok().filter(is_file).map(|stat| known(&stat))?;
    Some((target.to_string_lossy().into_owned(), id, handle))
}

fn is_file(stat: &Stat) -> bool {
    stat.st_nlink > 0 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn known(stat: &Stat) -> (Id, u64) {
    ((stat.st_dev, stat.st_ino), u64::try_from(stat.st_size).unwrap_or(0))
}

impl File {
    fn is(&self, wanted: Id) -> bool {
        match self {
            Self::Named(path) => std::fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == wanted),
            Self::Found { id, .. } => *id == wanted,
        }
    }

    fn size(&mut self) -> u64 {
        match self {
            Self::Named(path) => std::fs::metadata(path).map_or(0, |meta| meta.len()),
            Self::Found { handle, .. } => {
                let size = handle.as_ref().and_then(|handle| fstat(handle).ok()).filter(is_file);
                if size.is_none() {
                    *handle = None;
                }
                size.map_or(0, |stat| known(&stat).1)
            }
        }
    }

    fn line(&mut self) -> OutputFile {
        let bytes = self.size();
        match self {
            Self::Named(path) => {
                OutputFile { path: path.to_string_lossy().into_owned(), bytes, removed: !path.exists() }
            }
            Self::Found { path, handle, .. } => {
                // It may have been renamed since.
                let now = handle.as_ref().and_then(|handle| {
                    use std::os::fd::AsRawFd;
                    readlink(format!("/proc/self/fd/{}", handle.as_raw_fd()), Vec::new()).ok()
                });
                if let Some(now) = now {
                    *path = now.to_string_lossy().into_owned();
                }
                OutputFile { path: path.clone(), bytes, removed: handle.is_none() }
            }
        }
    }
}
