//! The user's own command as a runner: a job at each point writes the output, and another one reads it, or basketry does. Each runs in a
//! process of ours, which watches it (`jobs`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rootfile::{Error, Hint, Result};
use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::input::SweepInput;
use super::picked::Picked;
use super::plan::Kind;
use super::point::Point;
use super::runner::{Measured, ProcessRunner, Runner, Task, digest, digest_of};
use super::template::Template;
use crate::monitor::public_word;

/// Values that every command has, beside those of its point.
const GIVEN: [&str; 5] = ["output", "input", "stream", "streams", "threads"];
/// A file among the words of a command is known by its contents up to this size, and beyond by its size and date.
const HASHED: u64 = 64 << 20;

/// The commands of a sweep, without secrets, as they are told to people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobCommand {
    /// The one that writes the output.
    pub write: String,
    /// The one that reads it; basketry, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<String>,
    /// Seconds that each may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
}

/// Commands of the user.
#[derive(Clone, Debug)]
pub struct Commands {
    write: Template,
    read: Option<Template>,
    limit: Option<Duration>,
}

impl Commands {
    /// Of these texts.
    ///
    /// # Errors
    ///
    /// One has no word, a quote or a brace is not closed, or a place has no name.
    pub fn parse(write: &str, read: Option<&str>, limit: Option<Duration>) -> Result<Self> {
        let read = read.map(Template::parse).transpose()?;
        Ok(Self { write: Template::parse(write)?, read, limit })
    }

    /// As they are told to people.
    pub fn told(&self) -> JobCommand {
        let public = |template: &Template| template.text().split(' ').map(public_word).collect::<Vec<_>>().join(" ");
        JobCommand {
            write: public(&self.write),
            read: self.read.as_ref().map(public),
            limit: self.limit.map(|limit| limit.as_secs_f64()),
        }
    }

    /// Refuses commands that do not suit these points.
    ///
    /// # Errors
    ///
    /// The output has no place in a command, a place has no value, or a value that varies or the input has no place.
    pub fn check(&self, points: &[Point], has_input: bool) -> Result<()> {
        let own: Vec<&str> = points.iter().flat_map(|point| point.variables.keys()).map(String::as_str).collect();
        let used: Vec<&str> = self.both().flat_map(|template| template.names()).collect();
        for name in &used {
            let known = GIVEN.iter().chain(&own).any(|known| same(known, name));
            if !known || (*name == "input" && !has_input) {
                let mut names: Vec<&str> = GIVEN.iter().copied().filter(|name| *name != "input" || has_input).collect();
                names.extend(&own);
                names.sort_unstable();
                names.dedup();
                let message = format!("{{{name}}} is no value of the command; it has {}", names.join(", "));
                return Err(Error::request(message).hint(Hint::named("grid")));
            }
        }
        for template in self.both() {
            if !template.names().contains("output") {
                return Err(Error::request(format!(
                    "{:?} has no {{output}}: the file that it writes, or reads",
                    template.text()
                )));
            }
        }
        // Where jobs differ in threads alone, they differ in their processors.
        let missing = own.iter().find(|key| **key != "threads" && !used.iter().any(|name| same(name, key)));
        if let Some(key) = missing {
            let message = format!("the command does not take {key}: write {{{key}}} into it");
            return Err(Error::request(message).hint(Hint::named("command")));
        }
        if has_input && !used.contains(&"input") {
            return Err(Error::request("the command does not take the input: write {input} into it")
                .hint(Hint::named("command")));
        }
        Ok(())
    }

    fn both(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.write).chain(&self.read)
    }

    /// The command of a job, if it is one of these.
    fn of(&self, kind: Kind) -> Option<&Template> {
        match kind {
            Kind::Copy => Some(&self.write),
            Kind::Full => self.read.as_ref(),
            _ => None,
        }
    }

    /// The words of the job of each stream.
    fn words(&self, task: &Task) -> Result<Vec<Vec<String>>> {
        let Some(template) = self.of(task.job.kind) else { return Ok(Vec::new()) };
        let (outputs, reads) = match task.job.kind {
            Kind::Copy => (task.outputs.clone(), false),
            _ => (vec![task.input.clone()], true),
        };
        let one = |(stream, output): (usize, &PathBuf)| {
            template.fill(&|name| {
                let given = match name {
                    "output" => Some(output.to_string_lossy().into_owned()),
                    // What a reading reads is the output; the input is that of the sweep.
                    "input" if !reads => Some(task.input.to_string_lossy().into_owned()),
                    "input" => task.values.get("input").cloned(),
                    "stream" => Some(stream.to_string()),
                    _ => None,
                };
                given.or_else(|| task.values.iter().find(|(key, _)| same(key, name)).map(|(_, value)| value.clone()))
            })
        };
        outputs.iter().enumerate().map(one).collect()
    }
}

/// Whether two names are one: Python writes a dash as an underscore.
fn same(a: &str, b: &str) -> bool {
    a.replace('_', "-") == b.replace('_', "-")
}

/// Runs the commands.
#[derive(Debug)]
pub struct CommandRunner {
    commands: Commands,
    /// Starts this program again, which runs and watches a command, or reads.
    inner: ProcessRunner,
    /// Share of the entries that are picked, and the seed for them.
    picks: (f64, u64),
    folder: PathBuf,
}

impl CommandRunner {
    /// The commands, the runner of this program, and which entries are picked where basketry reads: a share, and a seed.
    pub fn new(commands: Commands, inner: ProcessRunner, pick: f64, seed: u64) -> Self {
        Self { commands, inner, picks: (pick, seed), folder: PathBuf::new() }
    }

    /// Reads by basketry what a command has written.
    fn read(&mut self, task: &Task) -> Result<Measured> {
        let found = match Contents::of(&task.input) {
            Ok(found) => found,
            Err(e) => {
                return Ok(Measured { failed: Some(format!("basketry cannot read it: {e}")), ..Measured::default() });
            }
        };
        let mut task = Task { tree: found.tree, entries: found.entries, ..task.clone() };
        if task.job.kind == Kind::Sparse {
            let (share, seed) = self.picks;
            task.index = Some(Picked::new(found.entries, share, seed.wrapping_add(1)).write(&self.folder, "picked")?);
        }
        self.inner.run(&task)
    }
}

impl Runner for CommandRunner {
    fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = self.inner.versions();
        let texts: Vec<&str> = self.commands.both().map(Template::text).collect();
        versions.insert("command".to_owned(), digest(texts.join("\0").as_bytes()));
        // A command that was edited is another one.
        for word in self.commands.both().flat_map(Template::constant_words) {
            let program = which(word);
            if let Some(mark) = program.as_deref().and_then(mark_of) {
                versions.insert(word.to_owned(), mark);
            }
        }
        versions
    }

    fn prepare(&mut self, folder: &Path, _: &SweepInput) -> Result<()> {
        self.folder = folder.to_path_buf();
        self.inner.within(folder);
        Ok(())
    }

    fn commands(&self, task: &Task) -> Result<Vec<Vec<String>>> {
        self.commands.words(task)
    }

    fn run(&mut self, task: &Task) -> Result<Measured> {
        let jobs = self.commands.words(task)?;
        if jobs.is_empty() {
            return self.read(task);
        }
        let limit = self.commands.limit.map(|limit| limit.as_secs_f64());
        let outputs = if task.job.kind == Kind::Copy { task.outputs.clone() } else { Vec::new() };
        for output in &outputs {
            // What an earlier job left is no output of this one, also if it is a folder.
            let _ = std::fs::remove_file(output).or_else(|_| std::fs::remove_dir_all(output));
        }
        self.inner.run(&Task { jobs, limit, outputs, logs: self.folder.clone(), ..task.clone() })
    }
}

/// The file that a word means: a path, or a program that is found as a shell finds it.
fn which(word: &str) -> Option<PathBuf> {
    let path = Path::new(word);
    if path.is_file() {
        return std::fs::canonicalize(path).ok();
    }
    let folders = std::env::var_os("PATH").filter(|_| !word.contains('/') && !word.is_empty())?;
    std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file())
}

/// What tells a file from a changed one: a digest, or of a large file its size and date.
fn mark_of(path: &Path) -> Option<String> {
    let meta = path.metadata().ok()?;
    if meta.len() > HASHED {
        let since = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        return Some(format!("{} bytes of {}", meta.len(), since.as_secs()));
    }
    digest_of(File::open(path).ok()?.take(HASHED)).ok()
}
