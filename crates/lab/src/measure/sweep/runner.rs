//! Runners: a [`Runner`] gets a [`Task`] and returns a [`Measured`].
//!
//! [`ProcessRunner`] starts this program again for each job, which calls [`execute`](super::execute()). Other runners may start
//! other programs with the same task and the same result.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use dataset::layout::Layout;
use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::input::SweepInput;
use super::plan::{Job, Kind};
use crate::system::kernel::Pinned;
use crate::system::subprocess::{self, Memory};

/// One job, with all that is to be known to run it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Which.
    pub job: Job,
    /// The file to read: the input of the sweep, or a copy.
    pub input: PathBuf,
    /// Path of the tree.
    pub tree: String,
    /// Whether the input has other objects that are copied as well.
    pub others: bool,
    /// Entries of the tree that a copy may take, from its start.
    pub entries: u64,
    /// A file with the entries that are copied, or read; all of them, if not given.
    pub index: Option<PathBuf>,
    /// The layout of the copies.
    pub layout: Layout,
    /// The copies.
    pub outputs: Vec<PathBuf>,
    /// Threads, all together.
    pub threads: usize,
    /// Bytes of memory that the job may take.
    pub memory: u64,
    /// Patterns for the chosen columns.
    pub columns: Vec<String>,
    /// Processors that it may use; all, if not given.
    pub pin: Option<usize>,
    /// What commands of the user get: the settings of the point, by their keys.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Commands of the user that run instead, side by side: the words of each.
    #[serde(default)]
    pub jobs: Vec<Vec<String>>,
    /// Seconds that they may take.
    #[serde(default)]
    pub limit: Option<f64>,
    /// The folder for what they say.
    #[serde(default)]
    pub logs: PathBuf,
}

/// The cost of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// Seconds by the clock.
    pub wall: f64,
    /// Seconds of CPU in the program itself.
    pub user: f64,
    /// Seconds of CPU in the system for it.
    pub system: f64,
    /// When the first entry is about to be processed.
    pub start: Memory,
    /// The most until the last entry of the events was processed: before the one-record tree.
    pub events: Memory,
    /// The most of all.
    pub peak: Memory,
    /// Entries processed, of all streams together.
    pub entries: u64,
    /// Bytes of one of the files.
    pub bytes: u64,
    /// Baskets of the tree in one of the files.
    pub baskets: u64,
    /// Clusters of the tree in one of the files.
    pub clusters: u64,
    /// Bytes on disk of the data read.
    pub compressed: u64,
    /// Seconds by the clock for the first entry, where that stands apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<f64>,
    /// Share of the input that was not in the kernel's cache, where it was put out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cold: Option<f64>,
    /// Seconds by the clock for each column, where they are read alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<(String, f64)>,
    /// Bytes read by system calls, of a command of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Bytes written by system calls, of a command of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The layout that the output has in fact, of a command of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Why it failed: a command of the user that ended with an error, took too long or wrote nothing. It has no figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

impl Measured {
    /// Seconds of CPU.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// Runs jobs.
pub trait Runner {
    /// Its name and versions, which must be equal when a sweep continues.
    fn versions(&self) -> BTreeMap<String, String>;

    /// Makes its files in the folder of the sweep.
    ///
    /// # Errors
    ///
    /// The files cannot be written.
    fn prepare(&mut self, folder: &Path, subject: &SweepInput) -> Result<()>;

    /// The words of the commands that a job runs, where the user says what is run. Such jobs cannot be tried on a few entries.
    ///
    /// # Errors
    ///
    /// A place of a command has no value.
    fn commands(&self, task: &Task) -> Result<Vec<Vec<String>>> {
        let _ = task;
        Ok(Vec::new())
    }

    /// Runs a job in a process of its own.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or fails.
    fn run(&mut self, task: &Task) -> Result<Measured>;
}

/// This very program, which is started anew for each job.
#[derive(Debug)]
pub struct ProcessRunner {
    program: PathBuf,
    arguments: Vec<OsString>,
    code: PathBuf,
    commit: Option<&'static str>,
    task: PathBuf,
}

impl ProcessRunner {
    /// The program, the arguments that come before the name of the file with the task, the file with its code, and the
    /// commit that this was built from, if that is known.
    pub fn new(program: PathBuf, arguments: Vec<OsString>, code: PathBuf, commit: Option<&'static str>) -> Self {
        Self { program, arguments, code, commit, task: PathBuf::new() }
    }

    /// Makes its tasks in this folder.
    pub(super) fn within(&mut self, folder: &Path) {
        self.task = folder.join("task.json");
    }
}

impl Runner for ProcessRunner {
    fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = BTreeMap::from([("basketry".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]);
        versions.extend(self.commit.map(|commit| ("commit".to_owned(), commit.to_owned())));
        // The digest tells two builds of one version apart.
        if let Ok(code) = File::open(&self.code).and_then(digest_of) {
            versions.insert("program".to_owned(), code);
        }
        versions
    }

    fn prepare(&mut self, folder: &Path, subject: &SweepInput) -> Result<()> {
        self.within(folder);
        super::record::make(&folder.join(super::record::FILE), subject.columns)
    }

    fn run(&mut self, task: &Task) -> Result<Measured> {
        let text = serde_json::to_string(task).map_err(std::io::Error::from)?;
        std::fs::write(&self.task, text).map_err(|e| Error::from(e).file(&self.task))?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(&self.task);
        let pinned = task.pin.map(Pinned::to).transpose()?;
        let measured = subprocess::measure(&mut command);
        drop(pinned);
        let what = task.job.kind.name();
        measured.map_err(|e| e.object(format!("{what} of point {}", task.job.point)))
    }
}

/// An identification of a text: the beginning of its SHA-256.
pub(super) fn digest(text: &[u8]) -> String {
    short(&Sha256::digest(text))
}

/// The same for what a file holds, which is read piece by piece: a program may be larger than the memory of a sweep.
pub(super) fn digest_of(mut file: impl Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(short(&hash.finalize())),
            read => hash.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

fn short(hash: &[u8]) -> String {
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The file with the one-record tree, in the folder of a task's outputs.
pub(super) fn record_of(task: &Task) -> Option<PathBuf> {
    let folder = task.outputs.first()?.parent()?;
    (task.job.kind == Kind::Copy).then(|| folder.join(super::record::FILE)).filter(|path| path.exists())
}
