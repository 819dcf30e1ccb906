//! The states of tasks: a small file for each task that has run, written whole, in a folder beside the plan. A state knows the
//! outputs that its task wrote, from before they got their name: nothing else at that name is the task's to replace.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rootfile::{Error, ErrorKind, FileHeader, LocalFile, OutputFile, Result};
use rustix::system::uname;
use serde::{Deserialize, Serialize};

use super::lock::TaskLock;
use super::model::{BadInput, SCHEMA, Task, public_words, read_text};

/// How far a task came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It runs, or was killed.
    Started,
    /// The work was done.
    Done,
    /// The command failed.
    Failed,
}

/// The state of a task that has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Version of the state.
    pub schema: u32,
    /// The number of the task.
    pub n: usize,
    /// The arguments of the command. A plan with other arguments is another task.
    pub args: Vec<String>,
    /// How it ended.
    pub state: Ended,
    /// Whether the answer of the command was yes (exit code 0).
    pub whole: bool,
    /// The error of a command that failed.
    pub reason: Option<String>,
    /// Time of the command by the clock.
    pub seconds: f64,
    /// The output, known from the moment before it gets its name.
    pub output: Option<Output>,
    /// The output of an earlier run, which may be there until this one's replaces it.
    #[serde(default)]
    pub earlier: Option<Output>,
    /// Process and machine of the run.
    #[serde(default)]
    pub runner: Option<String>,
    /// The JSON report of the command.
    pub report: Option<serde_json::Value>,
}

/// What tells an output from another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The file or folder.
    pub path: PathBuf,
    /// Its size; 0 for a folder.
    pub bytes: u64,
    /// The UUID of a ROOT file.
    pub uuid: Option<String>,
    /// The last change of another file, in nanoseconds from 1970.
    pub modified: Option<u64>,
}

impl Output {
    /// The output as it is now.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn now(path: &Path) -> Result<Self> {
        Self::at(path, path)
    }

    /// The output `path`, which is still at another place.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn at(path: &Path, place: &Path) -> Result<Self> {
        let with_path = |e: std::io::Error| Error::from(e).file(place);
        let metadata = std::fs::metadata(place).map_err(with_path)?;
        let mut found = Self { path: path.to_path_buf(), bytes: 0, uuid: None, modified: None };
        if metadata.is_file() {
            found.bytes = metadata.len();
            let mut head = Vec::new();
            LocalFile::open(place)?.file().take(512).read_to_end(&mut head).map_err(with_path)?;
            found.uuid = FileHeader::parse(&head).ok().map(|header| header.uuid_text());
            let since = || metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok();
            let nanoseconds = found.uuid.is_none().then(since).flatten().map(|time| time.as_nanos());
            found.modified = nanoseconds.and_then(|time| u64::try_from(time).ok());
        }
        Ok(found)
    }
}

/// The folder of states of a plan.
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// The folder of the plan `jobs.json`: `jobs.json.d`.
    pub fn of(jobs: &Path) -> Self {
        let mut name = jobs.as_os_str().to_owned();
        name.push(".d");
        Self(name.into())
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn file(&self, n: usize) -> PathBuf {
        self.0.join(format!("task-{n}.json"))
    }

    /// The last state of a task, whatever became of its output since.
    pub fn last(&self, task: &Task) -> Found {
        let path = self.file(task.n);
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(e) if matches!(e.kind(), ErrorKind::Io(io) if io.kind() == std::io::ErrorKind::NotFound) => {
                return Found::None;
            }
            Err(e) => return Found::Unreadable(e),
        };
        match serde_json::from_str::<State>(&text) {
            Ok(state) if state.schema == SCHEMA && state.args == task.args => Found::State(Box::new(state)),
            Ok(_) => Found::None,
            Err(e) => Found::Unreadable(Error::request(format!("is no state of a task: {e}")).file(path)),
        }
    }

    /// Takes the lock of a task, until it is dropped.
    ///
    /// # Errors
    ///
    /// Another process has it, or the folder cannot be written.
    pub fn lock(&self, task: &Task) -> Result<TaskLock> {
        self.make()?;
        TaskLock::take(&self.0.join(format!("task-{}.lock", task.n)), task.n, &runner())
    }

    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn make(&self) -> Result<()> {
        std::fs::create_dir_all(&self.0).map_err(|e| Error::from(e).file(&self.0))
    }

    /// Writes a state, whole or not at all.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write(&self, state: &State) -> Result<()> {
        self.make()?;
        let text = serde_json::to_string(state).map_err(std::io::Error::from)?;
        OutputFile::replace(&self.file(state.n), &text)
    }
}

/// This process, as states and locks name it.
pub fn runner() -> String {
    format!("process {} on {}", std::process::id(), uname().nodename().to_string_lossy())
}

/// The state of a task, as it was found.
#[derive(Debug)]
pub enum Found {
    /// The task has not run, or ran with other arguments.
    None,
    /// A state.
    State(Box<State>),
    /// What is there cannot be read as a state.
    Unreadable(Error),
}

impl Found {
    /// The state, if it is one.
    pub fn state(self) -> Option<State> {
        match self {
            Self::State(state) => Some(*state),
            Self::None | Self::Unreadable(_) => None,
        }
    }
}

impl State {
    /// Whether an output is one that the task wrote.
    pub fn wrote(&self, there: &Output) -> bool {
        [&self.output, &self.earlier].into_iter().flatten().any(|own| own == there)
    }

    /// The state as reports show it: without what URLs have of secrets.
    #[must_use]
    pub fn public(&self) -> Self {
        Self { args: public_words(&self.args), ..self.clone() }
    }

    /// Whether the task has ended, and its output is the one it wrote.
    pub fn is_current(&self) -> bool {
        let same_output = |output: &Output| Output::now(&output.path).is_ok_and(|now| now == *output);
        match self.state {
            Ended::Started => false,
            Ended::Failed => true,
            Ended::Done => self.output.as_ref().is_none_or(same_output),
        }
    }

    /// The inputs that the report calls damaged or unreadable: those that a merge left out, or that a check found.
    pub fn bad_inputs(&self) -> Vec<BadInput> {
        let list = |name: &str| {
            let list = self.report.as_ref().and_then(|report| report.get(name)?.as_array());
            list.into_iter().flatten()
        };
        let text = |value: &serde_json::Value, name: &str| {
            value.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
        };
        let bad = |reason: String, value: &serde_json::Value| BadInput { path: text(value, "path"), reason };
        let mut found: Vec<BadInput> = list("skipped").map(|value| bad(text(value, "reason"), value)).collect();
        found.extend(list("damaged").map(|value| {
            let reason = format!("{}: {}", text(value, "object"), text(value, "reason"));
            bad(reason, value)
        }));
        let broken = list("files").filter(|file| file.get("condition").is_some_and(|condition| condition != "ok"));
        found.extend(broken.map(|file| {
            let problem = file.get("problems").and_then(|problems| problems.get(0));
            let reason = problem.map_or_else(String::new, |problem| {
                format!("{}: {}", text(problem, "object"), text(problem, "reason"))
            });
            bad(reason, file)
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_that_of_its_arguments_and_its_output() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.root");
        std::fs::write(&output, "root").unwrap();
        let states = StateFolder::of(&folder.path().join("jobs.json"));
        let task = |arg: &str| Task {
            n: 3,
            verb: "merge".into(),
            args: vec![arg.into()],
            inputs: Vec::new(),
            output: Some(output.clone()),
        };
        let current = |arg: &str| states.last(&task(arg)).state().filter(State::is_current);
        assert_eq!(current("a"), None);
        let state = State {
            schema: SCHEMA,
            n: 3,
            args: vec!["a".into()],
            state: Ended::Done,
            whole: true,
            reason: None,
            seconds: 1.0,
            output: Some(Output::now(&output).unwrap()),
            earlier: None,
            runner: None,
            report: None,
        };
        states.write(&state).unwrap();
        assert_eq!(current("a"), Some(state));
        assert_eq!(current("b"), None);
        std::fs::write(&output, "another").unwrap();
        assert_eq!(current("a"), None);
        std::fs::remove_file(&output).unwrap();
        assert_eq!(current("a"), None);
        for damaged in ["{", "", "[]", "\0"] {
            std::fs::write(states.file(3), damaged).unwrap();
            assert!(matches!(states.last(&task("a")), Found::Unreadable(_)), "{damaged:?}");
        }
    }
}
