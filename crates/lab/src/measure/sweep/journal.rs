//! The journal: each result is a line of JSON that is synced before the next job begins. A job in the journal is never
//! measured again; a line that a kill cut short is dropped.
//!
//! [`Head`] describes the sweep, in a file beside it. `extend` says which sweeps may go on in one journal.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rootfile::{Error, OutputFile, Result};
use serde::{Deserialize, Serialize};

use super::input::SweepInput;
use super::plan::{Job, Kind};
use super::point::Point;
use super::runner::Measured;
use super::settings::Settings;
use crate::system::host::HostInfo;

/// The head file of a sweep's folder.
pub(super) const HEAD: &str = "sweep.json";
const LINES: &str = "journal.jsonl";

/// The description of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the form of all files in the folder.
    pub schema: u32,
    /// The input.
    pub subject: SweepInput,
    /// The points.
    pub points: Vec<Point>,
    /// How they are measured.
    pub settings: Settings,
    /// Versions of the measuring programs.
    pub versions: BTreeMap<String, String>,
    /// The host.
    pub machine: HostInfo,
}

impl Head {
    /// What was swept: the input, or the command of the user.
    pub fn title(&self) -> String {
        match &self.settings.command {
            Some(command) => command.write.clone(),
            None => format!("{}:{}", self.subject.input.display(), self.subject.tree),
        }
    }

    /// How much was copied or read, where that is known before.
    pub fn amount(&self) -> Option<String> {
        self.settings.command.is_none().then(|| format!("{} entries", self.subject.entries))
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// The result.
    pub measured: Measured,
}

/// The results so far.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
    known: HashMap<Job, Measured>,
    /// In the order in which they were measured.
    entries: Vec<Entry>,
    /// Why points have no result of a job, if none came later.
    failures: BTreeMap<(usize, Kind), String>,
}

impl Journal {
    /// Begins a sweep in a folder, or continues the existing one, of which `head` has all points in their order.
    ///
    /// # Errors
    ///
    /// The folder cannot be written.
    pub fn begin(folder: &Path, head: &Head) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::from(e).file(folder))?;
        if known_head(folder)?.as_ref() != Some(head) {
            let mut text = serde_json::to_string_pretty(head).map_err(std::io::Error::from)?;
            text.push('\n');
            OutputFile::replace(&folder.join(HEAD), &text)?;
        }
        let path = folder.join(LINES);
        let mut journal = Self::load(path)?;
        let open = OpenOptions::new().create(true).append(true).open(&journal.path);
        journal.file = Some(open.map_err(|e| Error::from(e).file(&journal.path))?);
        Ok(journal)
    }

    /// Opens a sweep for reading.
    ///
    /// # Errors
    ///
    /// The folder has no sweep, or its journal cannot be read.
    pub fn open(folder: &Path) -> Result<(Head, Self)> {
        let head = read_head(folder)?;
        Ok((head, Self::of(folder)?))
    }

    /// The results in a folder, if there are any.
    ///
    /// # Errors
    ///
    /// They cannot be read.
    pub(super) fn of(folder: &Path) -> Result<Self> {
        Self::load(folder.join(LINES))
    }

    fn load(path: PathBuf) -> Result<Self> {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::from(e).file(&path)),
        };
        // A line counts only with its line break; a kill cut the rest short.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut journal =
            Self { path, file: None, known: HashMap::new(), entries: Vec::new(), failures: BTreeMap::new() };
        for (number, line) in bytes.get(..whole).unwrap_or_default().split(|&byte| byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let entry: Entry = serde_json::from_slice(line)
                .map_err(|e| Error::request(format!("line {}: {e}", number + 1)).file(&journal.path))?;
            journal.remember(entry);
        }
        if whole < bytes.len() {
            let cut = OpenOptions::new().write(true).open(&journal.path).and_then(|file| file.set_len(whole as u64));
            cut.map_err(|e| Error::from(e).file(&journal.path))?;
        }
        Ok(journal)
    }

    fn remember(&mut self, entry: Entry) {
        let place = (entry.job.point, entry.job.kind);
        if let Some(reason) = entry.measured.failed {
            self.failures.insert(place, reason);
            return;
        }
        self.failures.remove(&place);
        if self.known.insert(entry.job, entry.measured.clone()).is_none() {
            self.entries.push(entry);
        }
    }

    /// The result of a job, if it is known.
    pub fn get(&self, job: &Job) -> Option<&Measured> {
        self.known.get(job)
    }

    /// All results.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Jobs that failed and have not been run again, with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (usize, Kind, &str)> {
        self.failures.iter().map(|((point, kind), reason)| (*point, *kind, reason.as_str()))
    }

    /// Adds a result; it is on disk when this returns.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn add(&mut self, job: Job, measured: Measured) -> Result<()> {
        let mut line = serde_json::to_vec(&Entry { job, measured }).map_err(std::io::Error::from)?;
        // Use the values as written, to the last digit, so that a continued sweep sees the same ones.
        let entry = serde_json::from_slice(&line).map_err(std::io::Error::from)?;
        line.push(b'\n');
        let file = self.file.as_mut().ok_or_else(|| Error::request("the journal is open for reading only"))?;
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        written.map_err(|e| Error::from(e).file(&self.path))?;
        self.remember(entry);
        Ok(())
    }
}

/// The description of the sweep in a folder, if it has one.
///
/// # Errors
///
/// It cannot be read.
pub(super) fn known_head(folder: &Path) -> Result<Option<Head>> {
    folder.join(HEAD).exists().then(|| read_head(folder)).transpose()
}

fn read_head(folder: &Path) -> Result<Head> {
    let path = folder.join(HEAD);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::from(e).file(&path))?;
    serde_json::from_str(&text).map_err(|e| Error::request(format!("no sweep: {e}")).file(&path))
}
