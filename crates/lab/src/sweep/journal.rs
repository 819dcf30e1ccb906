//! The journal: every result, a line of JSON each, on disk before the next job begins. What is in it is never measured
//! again, and a line that was cut short by a kill is dropped.
//!
//! Beside it lies what it is about ([`Head`]): a sweep goes on only with the same points, input, machine and versions.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rootfile::{Error, Result};
use serde::{Deserialize, Serialize};

use super::grid::Point;
use super::plan::Job;
use super::runner::Measured;
use super::subject::Subject;
use super::{SCHEMA, Settings};
use crate::machine::Machine;

/// What a folder with a sweep has.
pub(super) const HEAD: &str = "sweep.json";
const LINES: &str = "journal.jsonl";

/// What a sweep is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Version of the form of all files in the folder.
    pub schema: u32,
    /// What is swept.
    pub subject: Subject,
    /// The points.
    pub points: Vec<Point>,
    /// How they are measured.
    pub settings: Settings,
    /// Who measures.
    pub versions: BTreeMap<String, String>,
    /// On what.
    pub machine: Machine,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The job.
    #[serde(flatten)]
    pub job: Job,
    /// What it took.
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
}

impl Journal {
    /// Begins a sweep in a folder, or goes on with the one that is there.
    pub fn begin(folder: &Path, head: &Head) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|e| Error::from(e).file(folder))?;
        let place = folder.join(HEAD);
        match place.exists() {
            true => same(&read_head(folder)?, head).map_err(|e| e.file(folder))?,
            false => {
                let mut text = serde_json::to_string_pretty(head).map_err(std::io::Error::from)?;
                text.push('\n');
                write_whole(&place, &text)?;
            }
        }
        let path = folder.join(LINES);
        let mut journal = Self::load(path)?;
        let open = OpenOptions::new().create(true).append(true).open(&journal.path);
        journal.file = Some(open.map_err(|e| Error::from(e).file(&journal.path))?);
        Ok(journal)
    }

    /// What is there, to be looked at.
    pub fn open(folder: &Path) -> Result<(Head, Self)> {
        let head = read_head(folder)?;
        Ok((head, Self::load(folder.join(LINES))?))
    }

    fn load(path: PathBuf) -> Result<Self> {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::from(e).file(&path)),
        };
        // A line counts when it has its end: what is behind the last one was cut short.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let mut journal = Self { path, file: None, known: HashMap::new(), entries: Vec::new() };
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
        if self.known.insert(entry.job, entry.measured.clone()).is_none() {
            self.entries.push(entry);
        }
    }

    /// What a job took, if that is known.
    pub fn get(&self, job: &Job) -> Option<&Measured> {
        self.known.get(job)
    }

    /// All results.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds a result; it is on disk when this returns.
    pub fn add(&mut self, job: Job, measured: Measured) -> Result<()> {
        let mut line = serde_json::to_vec(&Entry { job, measured }).map_err(std::io::Error::from)?;
        // What is known from here on is what is on disk, to the last digit: so it is the same when the sweep goes on.
        let entry = serde_json::from_slice(&line).map_err(std::io::Error::from)?;
        line.push(b'\n');
        let file = self.file.as_mut().ok_or_else(|| Error::request("the journal is only looked at"))?;
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        written.map_err(|e| Error::from(e).file(&self.path))?;
        self.remember(entry);
        Ok(())
    }
}

fn read_head(folder: &Path) -> Result<Head> {
    let path = folder.join(HEAD);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::from(e).file(&path))?;
    serde_json::from_str(&text).map_err(|e| Error::request(format!("no sweep: {e}")).file(&path))
}

/// Writes a file that is there as a whole or not at all.
pub(super) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".sweep-").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|e| Error::from(e).file(path))
}

/// Whether a sweep may go on with what another has begun.
fn same(there: &Head, asked: &Head) -> Result<()> {
    let differs = [
        (there.schema != SCHEMA, "another version of basketry"),
        (there.machine != asked.machine, "another machine; results of different machines are never put together"),
        (there.versions != asked.versions, "another build, or other versions"),
        (there.subject != asked.subject, "another input"),
        (there.points != asked.points, "another grid"),
        (there.settings != asked.settings, "other options"),
    ];
    match differs.iter().find(|(differs, _)| *differs) {
        None => Ok(()),
        Some((_, what)) => {
            Err(Error::request(format!("has a sweep that was begun with {what}; choose another folder with -o")))
        }
    }
}
