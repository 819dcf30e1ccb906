//! The files that a job writes, and their sizes: named files, and files that its processes have open for writing. A file that
//! an ancestor of this process has open for writing is inherited, such as the log of a shell, and does not count. Each file is
//! held by a handle without read or write access, so that the monitor recognises it after a rename. That it is opened and closed is
//! seen by the descriptors of the processes.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat, fstat};
use serde::{Deserialize, Serialize};

use super::processes::Pace;
use crate::system::kernel::{Process, hold, name_of};

/// Files beyond these are not discovered: each has a place in every sample.
const MOST: usize = 256;

/// A file that a job wrote.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OutputFile {
    /// Where it is.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it was removed meanwhile.
    pub removed: bool,
    /// Seconds since the beginning when it was first seen open for writing; none if it never was.
    pub opened: Option<f64>,
    /// When it was seen closed; none if it never was, or is open.
    pub closed: Option<f64>,
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

/// A file of the job.
struct File {
    path: String,
    /// A file that is named is looked up by its name each time; one that was found is what it was, under whatever name.
    named: bool,
    id: Option<Id>,
    /// It goes when the file is removed: it would keep the disk from being free.
    handle: Option<OwnedFd>,
    open: bool,
    opened: Option<f64>,
    closed: Option<f64>,
}

/// What was seen of the files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Sizes, in the order in which files were named and found.
    pub sizes: Vec<u64>,
    /// What happened to them since.
    pub events: Vec<String>,
}

impl Outputs {
    /// The `named` files, and with `discover` the files that processes have open for writing. The `record` of the
    /// samples is not one of them. Files of the processes above this one are not those of the job, unless it is `attached`.
    pub fn new(proc: &Path, named: &[PathBuf], discover: bool, record: Option<&Path>, attached: Option<i32>) -> Self {
        let files = named.iter().map(|path| File::new(path.to_string_lossy().into_owned(), true, None, None)).collect();
        let of = attached.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
        let printed = (0..3).map(|fd| PathBuf::from(format!("/proc/{of}/fd/{fd}")));
        let known = printed.chain(record.map(Path::to_path_buf)).filter_map(|path| std::fs::metadata(path).ok());
        let mut foreign: HashSet<Id> = known.map(|meta| (meta.dev(), meta.ino())).collect();
        if discover && attached.is_none() {
            let inherited = ancestors().flat_map(|pid| open_for_writing(proc, pid));
            foreign.extend(inherited.filter_map(|link| held(&link)).map(|(_, id, _)| id));
        }
        Self { proc: proc.to_path_buf(), discover, files, foreign, pace: Pace::by_cpu() }
    }

    /// Sizes, and what happened since the last look. `time` is that of the sample.
    pub fn look(&mut self, processes: impl Iterator<Item = i32>, all: bool, time: f64) -> Seen {
        let mut events = Vec::new();
        if (self.discover || !self.files.is_empty())
            && let Some(started) = self.pace.due(all)
        {
            let mut open = HashSet::new();
            processes.for_each(|pid| self.find(pid, &mut open));
            self.files.iter_mut().for_each(|file| file.note(&open, time, &mut events));
            self.pace.done(started);
        }
        let sizes = self.files.iter_mut().map(|file| file.size(&mut events)).collect();
        Seen { sizes, events }
    }

    /// Their names and sizes.
    pub fn list(&mut self) -> Vec<OutputFile> {
        self.files.iter_mut().map(File::line).collect()
    }

    /// Reads the open files of a process: all that are open go into `open`.
    fn find(&mut self, pid: i32, open: &mut HashSet<Id>) {
        for link in open_for_writing(&self.proc, pid) {
            let Some(id) = std::fs::metadata(&link).ok().filter(Metadata::is_file).map(|meta| (meta.dev(), meta.ino()))
            else {
                continue;
            };
            open.insert(id);
            let known = self.foreign.contains(&id) || self.files.iter().any(|file| file.id() == Some(id));
            if !known
                && self.discover
                && self.files.len() < MOST
                && let Some((path, id, handle)) = held(&link)
            {
                self.files.push(File::new(path, false, Some(id), Some(handle)));
            }
        }
    }
}

/// The processes above this one, nearest first.
fn ancestors() -> impl Iterator<Item = i32> {
    let parent = |process: Process| process.stat().map(|stat| stat.parent);
    let own = Process::own().ok().and_then(parent);
    std::iter::successors(own, move |pid| Process::of(*pid).and_then(parent)).take_while(|pid| *pid > 0)
}

/// Links to what a process has open for writing. The link says by its own permissions how the file is open; most are
/// pipes, and files that are read (proc(5), /proc/pid/fd).
fn open_for_writing(proc: &Path, pid: i32) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(proc.join(pid.to_string()).join("fd")).into_iter().flatten().flatten();
    let writable = |link: &Metadata| link.permissions().mode() & 0o200 != 0;
    entries.filter(move |entry| entry.metadata().is_ok_and(|link| writable(&link))).map(|entry| entry.path())
}

/// The path, identity and a handle of the regular file behind a link of /proc/pid/fd, if it is one with a name.
fn held(link: &Path) -> Option<(String, Id, OwnedFd)> {
    let target = std::fs::read_link(link).ok()?;
    if !target.is_absolute() || ["/dev", "/proc", "/sys"].iter().any(|other| target.starts_with(other)) {
        return None;
    }
    let handle = hold(link).ok()?;
    let (id, _) = fstat(&handle).ok().filter(is_file).map(|stat| known(&stat))?;
    Some((target.to_string_lossy().into_owned(), id, handle))
}

fn is_file(stat: &Stat) -> bool {
    stat.st_nlink > 0 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

#[cfg_attr(not(target_vendor = "apple"), expect(clippy::useless_conversion, reason = "macOS numbers devices in i32"))]
fn known(stat: &Stat) -> (Id, u64) {
    ((u64::try_from(stat.st_dev).unwrap_or(0), stat.st_ino), u64::try_from(stat.st_size).unwrap_or(0))
}

impl File {
    fn new(path: String, named: bool, id: Option<Id>, handle: Option<OwnedFd>) -> Self {
        Self { path, named, id, handle, open: false, opened: None, closed: None }
    }

    fn id(&self) -> Option<Id> {
        match self.named {
            true => std::fs::metadata(&self.path).ok().map(|meta| (meta.dev(), meta.ino())),
            false => self.id,
        }
    }

    /// Notes whether it was opened, closed or renamed.
    fn note(&mut self, open: &HashSet<Id>, time: f64, events: &mut Vec<String>) {
        let now = self.id().is_some_and(|id| open.contains(&id));
        match (self.open, now) {
            (false, true) => {
                self.opened.get_or_insert(time);
                self.closed = None;
                events.push(format!("open {}", self.path));
            }
            (true, false) => {
                self.closed = Some(time);
                events.push(format!("close {}", self.path));
            }
            _ => {}
        }
        self.open = now;
        if let Some(name) = self.other_name() {
            events.push(format!("rename {} > {name}", self.path));
            self.path = name;
        }
    }

    /// Its name, if that is another one now.
    fn other_name(&self) -> Option<String> {
        let handle = self.handle.as_ref().filter(|handle| fstat(handle).is_ok_and(|stat| is_file(&stat)))?;
        let name = name_of(handle.as_fd())?;
        (name != self.path).then_some(name)
    }

    fn size(&mut self, events: &mut Vec<String>) -> u64 {
        if self.named {
            return std::fs::metadata(&self.path).map_or(0, |meta| meta.len());
        }
        let Some(handle) = &self.handle else { return 0 };
        match fstat(handle).ok().filter(is_file) {
            Some(stat) => known(&stat).1,
            None => {
                self.handle = None;
                events.push(format!("remove {}", self.path));
                0
            }
        }
    }

    fn line(&mut self) -> OutputFile {
        let bytes = self.size(&mut Vec::new());
        if let Some(name) = self.other_name() {
            self.path = name;
        }
        let removed = match self.named {
            true => !Path::new(&self.path).exists(),
            false => self.handle.is_none(),
        };
        OutputFile { path: self.path.clone(), bytes, removed, opened: self.opened, closed: self.closed }
    }
}
