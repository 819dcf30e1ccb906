//! The files that a job writes, and how large they are: those that were named, and those that its processes have open
//! for writing. A file is held by a handle that neither reads nor writes, so that it is known when it gets another
//! name.

use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
    /// Files that are open, and not the job's: where it was told to print to, and what is written of it.
    others: Vec<Id>,
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
    /// Files that are named, and with `discover` others but what is `written` of the job.
    pub fn new(proc: &Path, named: &[PathBuf], discover: bool, written: Option<&Path>) -> Self {
        let files = named.iter().cloned().map(File::Named).collect();
        let printed = (0..3).map(|fd| PathBuf::from(format!("/proc/self/fd/{fd}")));
        let others = printed.chain(written.map(Path::to_path_buf)).filter_map(|path| std::fs::metadata(path).ok());
        let others = others.map(|meta| (meta.dev(), meta.ino())).collect();
        Self { proc: proc.to_path_buf(), discover, files, others, pace: Pace::default() }
    }

    /// Sizes, in the order in which files were named and found.
    pub fn look(&mut self, processes: impl Iterator<Item = i32>, all: bool) -> Vec<u64> {
        if self.discover
            && let Some(begun) = self.pace.due(all)
        {
            processes.for_each(|pid| self.find(pid));
            self.pace.done(begun);
        }
        self.files.iter_mut().map(File::size).collect()
    }

    /// What they are called and how large they are.
    pub fn list(&mut self) -> Vec<OutputFile> {
        self.files.iter_mut().map(File::line).collect()
    }

    /// Looks at what a process has open.
    fn find(&mut self, pid: i32) {
        let Ok(entries) = std::fs::read_dir(self.proc.join(pid.to_string()).join("fd")) else { return };
        for entry in entries.flatten() {
            // The link says by its own permissions how the file is open; most are pipes, and files that are read.
            let open_for_writing = entry.metadata().is_ok_and(|link| link.permissions().mode() & 0o200 != 0);
            if open_for_writing && self.files.len() < MOST {
                self.hold(&entry.path());
            }
        }
    }

    fn hold(&mut self, link: &Path) {
        let target = std::fs::read_link(link).unwrap_or_default();
        if !target.is_absolute() || ["/dev", "/proc", "/sys"].iter().any(|other| target.starts_with(other)) {
            return;
        }
        let Ok(handle) = open(link, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) else { return };
        let Some((id, _)) = fstat(&handle).ok().filter(is_file).map(|stat| known(&stat)) else { return };
        if !self.others.contains(&id) && !self.files.iter().any(|file| file.is(id)) {
            let path = target.to_string_lossy().into_owned();
            self.files.push(File::Found { path, id, handle: Some(handle) });
        }
    }
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
