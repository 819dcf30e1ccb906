//! A session of another reader: a Python process that reads files by ROOT or uproot and reports the CPU time. It is started
//! once, so that its start is not measured.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rootfile::{Error, Owner, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// For each program: its name, its script, and how it is installed.
const PROGRAMS: [(&str, &str, &str); 2] = [
    ("root", include_str!("root.py"), "install ROOT with its Python module (conda install root, or pip install root)"),
    ("uproot", include_str!("uproot.py"), "pip install uproot awkward"),
];
/// No answer takes longer; a reader that is silent for so long hangs.
const LONGEST: Duration = Duration::from_secs(600);

/// The known programs, by name.
pub(crate) fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|(name, ..)| *name)
}

/// A reading: columns of a tree, and entries.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Wanted {
    /// The tree's path.
    pub tree: String,
    /// Names of branches, each after its parents; `None`: all.
    pub columns: Option<Vec<Vec<String>>>,
    /// Names of fields that have a value for each entry, if it is an RNTuple: all that are read.
    pub fields: Option<Vec<String>>,
    /// Entries; none: all.
    pub entries: Option<Vec<u64>>,
}

#[derive(Serialize)]
struct Request<'a> {
    file: &'a Path,
    trees: &'a [Wanted],
    /// Whether to read only a little.
    warm: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    version: Option<String>,
    seconds: Option<f64>,
    /// Branches that the reader cannot read.
    unread: u64,
    error: Option<String>,
}

/// A running reader.
#[derive(Debug)]
pub(crate) struct Session {
    name: String,
    version: String,
    unread: u64,
    child: Child,
    owner: Owner,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Session {
    /// Starts a reader by name with a Python interpreter. The error names missing modules, and how to install them.
    ///
    /// # Errors
    ///
    /// Python or a module is missing; the error says how to install it.
    pub fn start(name: &str, python: &OsString) -> Result<Self> {
        let Some((_, script, install)) = PROGRAMS.iter().find(|(known, ..)| *known == name) else {
            return Err(Error::request(format!("basketry cannot run {name}")));
        };
        let shown = Path::new(python).display();
        let missing = |why: String| Error::request(format!("{name} cannot be run: {why}; {install}"));
        let mut command = Command::new(python);
        command.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| missing(format!("{shown}: {e}")))?;
        let (requests, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.ok_or_else(|| missing(format!("{shown} has no output")))?);
        let mut session = Self {
            name: name.to_owned(),
            version: String::new(),
            unread: 0,
            child,
            owner: Owner::this(),
            requests,
            answers,
        };
        let Answer { version, error, .. } = session.answer()?;
        let why = || error.unwrap_or_else(|| "it does not report its version".to_owned());
        session.version = version.ok_or_else(|| missing(format!("{shown} says {}", why())))?;
        Ok(session)
    }

    /// Its version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Branches that could not be read the last time.
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Opens a file and reads a little, so that one-time work for the file and its classes is done.
    ///
    /// # Errors
    ///
    /// The program cannot read the file, or ends.
    pub fn warm(&mut self, file: &Path, trees: &[Wanted]) -> Result<()> {
        self.ask(file, trees, true).map(drop)
    }

    /// CPU seconds to open a file and to do a reading.
    ///
    /// # Errors
    ///
    /// The program cannot read the file, or ends.
    pub fn read(&mut self, file: &Path, trees: &[Wanted]) -> Result<f64> {
        self.ask(file, trees, false)
    }

    fn ask(&mut self, file: &Path, trees: &[Wanted], warm: bool) -> Result<f64> {
        let file = std::path::absolute(file)?;
        let wrong = |why: String| Error::request(why).file(&file);
        let mut line = serde_json::to_vec(&Request { file: &file, trees, warm }).map_err(|e| wrong(e.to_string()))?;
        line.push(b'\n');
        let sent = self.requests.as_mut().map_or(Ok(()), |requests| requests.write_all(&line));
        sent.map_err(|e| wrong(format!("{} is not listening: {e}", self.name)))?;
        match self.answer()? {
            Answer { error: Some(error), .. } => Err(wrong(format!("{} says: {error}", self.name))),
            Answer { seconds: Some(seconds), unread, .. } if seconds.is_finite() && seconds >= 0.0 => {
                self.unread = unread;
                Ok(seconds)
            }
            _ => Err(wrong(format!("{} does not report the reading time", self.name))),
        }
    }

    fn answer(&mut self) -> Result<Answer> {
        let ended = |why: &str| Error::request(format!("{} {why}", self.name));
        let wait = Timespec { tv_sec: i64::try_from(LONGEST.as_secs()).unwrap_or(i64::MAX), tv_nsec: 0 };
        while self.answers.buffer().is_empty() {
            let mut fds = [PollFd::new(self.answers.get_ref(), PollFlags::IN)];
            match poll(&mut fds, Some(&wait)) {
                Ok(0) => return Err(ended(&format!("has not answered for {} s", LONGEST.as_secs()))),
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(e) => return Err(std::io::Error::from(e).into()),
            }
        }
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        match serde_json::from_str(&line) {
            Ok(answer) => Ok(answer),
            Err(_) if line.trim().is_empty() => Err(ended("ended without an answer")),
            Err(_) => Err(ended(&format!("answered {:?}", line.trim()))),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.owner.is_this() {
            return;
        }
        // The process ends with its input, unless it hangs.
        drop(self.requests.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A stand-in for Python that says these lines, one at the start and one for each request.
    fn stand_in(folder: &Path, lines: &[&str]) -> OsString {
        let path = folder.join("python");
        let said = lines.iter().map(|line| format!("echo '{line}'; read request || exit 0\n")).collect::<String>();
        std::fs::write(&path, format!("#!/bin/sh\n{said}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.into_os_string()
    }

    #[test]
    fn answers_of_a_reader_are_used() {
        let folder = tempfile::tempdir().unwrap();
        let lines =
            ["{\"version\": \"1.2\"}", "{\"seconds\": 0.5, \"bytes\": 7}", "{\"error\": \"no tree\"}", "{}", "what"];
        let mut session = Session::start("root", &stand_in(folder.path(), &lines)).unwrap();
        assert_eq!(session.version(), "1.2");
        let mut read = || session.read(Path::new("a.root"), &[]).map_err(|e| e.to_string());
        assert_eq!(read(), Ok(0.5));
        assert!(read().unwrap_err().contains("root says: no tree"));
        assert!(read().unwrap_err().contains("does not report the reading time"));
        assert!(read().unwrap_err().contains("answered \"what\""));
        assert!(read().is_err());
    }

    #[test]
    fn errors_name_missing_modules_and_their_installation() {
        let folder = tempfile::tempdir().unwrap();
        let why = |name: &str, python: &OsString| Session::start(name, python).unwrap_err().to_string();
        let said = why("uproot", &stand_in(folder.path(), &["{\"error\": \"No module named uproot\"}"]));
        assert!(said.contains("No module named uproot") && said.contains("pip install uproot"), "{said}");
        let said = why("root", &folder.path().join("absent").into_os_string());
        assert!(said.contains("No such file") && said.contains("install ROOT"), "{said}");
        assert!(why("root", &stand_in(folder.path(), &[])).contains("without an answer"));
        assert!(why("groot", &"python3".into()).contains("groot"));
    }
}
