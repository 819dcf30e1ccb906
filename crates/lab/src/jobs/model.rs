//! The plan of many tasks, as the file that `plan` writes and `run` reads.

use std::io::Read;
use std::path::{Path, PathBuf};

use rootfile::{Error, LocalFile, Result, public_path, public_text};
use serde::{Deserialize, Serialize};

/// Version of the plan and of states.
pub const SCHEMA: u32 = 1;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jobs {
    /// Version of the plan.
    pub schema: u32,
    /// The verb that was planned.
    pub verb: String,
    /// The tasks, numbered from 0.
    pub tasks: Vec<Task>,
    /// Inputs that are in no task because they cannot be read.
    pub bad: Vec<BadInput>,
}

/// A task: one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its number.
    pub n: usize,
    /// The verb of its command.
    pub verb: String,
    /// All arguments of the command, the verb first.
    pub args: Vec<String>,
    /// The inputs.
    pub inputs: Vec<String>,
    /// The output, if there is one.
    pub output: Option<PathBuf>,
}

/// An input that cannot be read, or is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadInput {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// The text of a regular file: a pipe would be waited for.
pub(super) fn read_text(path: &Path) -> Result<String> {
    let of_file = |e: std::io::Error| Error::from(e).file(path);
    let mut text = String::new();
    LocalFile::open(path)?.file().read_to_string(&mut text).map_err(of_file)?;
    Ok(text)
}

impl Task {
    /// The task as reports show it: without what URLs have of secrets.
    #[must_use]
    pub fn public(&self) -> Self {
        let output = self.output.as_deref().map(|path| public_path(path).into_owned());
        Self { args: public_words(&self.args), inputs: public_words(&self.inputs), output, ..self.clone() }
    }
}

/// Words without what URLs have of secrets.
pub(super) fn public_words(words: &[String]) -> Vec<String> {
    words.iter().map(|word| public_text(word).into_owned()).collect()
}

impl Jobs {
    /// The plan as reports show it: without what URLs have of secrets.
    #[must_use]
    pub fn public(&self) -> Self {
        let bad = |bad: &BadInput| BadInput { path: public_text(&bad.path).into_owned(), reason: bad.reason.clone() };
        Self {
            tasks: self.tasks.iter().map(Task::public).collect(),
            bad: self.bad.iter().map(bad).collect(),
            ..self.clone()
        }
    }

    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no plan of this version.
    pub fn read(path: &Path) -> Result<Self> {
        let text = read_text(path)?;
        let no_plan = |why: String| Error::request(format!("is not a plan of `basketry plan`: {why}")).file(path);
        let jobs: Self = serde_json::from_str(&text).map_err(|e| no_plan(e.to_string()))?;
        match jobs.schema {
            SCHEMA => Ok(jobs),
            other => Err(no_plan(format!("its schema is {other}, and this version reads {SCHEMA}"))),
        }
    }

    /// A task by its number.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn task(&self, n: usize) -> Result<&Task> {
        let count = self.tasks.len();
        self.tasks
            .get(n)
            .ok_or_else(|| Error::request(format!("there is no task {n}; the plan has {count}, from 0 on")))
    }
}
