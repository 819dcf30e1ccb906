//! Phase marks and event counts that a job reports: a pipe whose name is in an environment variable, one message a line.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rootfile::{Result, ScratchFolder};
use rustix::fs::{Mode, OFlags, open};

use crate::system::kernel::make_pipe;

/// The environment variable that has the pipe's name.
pub const VARIABLE: &str = "BASKETRY_MONITOR";
/// The longest line.
const LONGEST: usize = 4096;
/// The longest name of a mark.
const NAME: usize = 64;

/// A word of a job's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// `events 1234`: the number of events done.
    Events(u64),
    /// `events +100`: additional events done.
    More(u64),
    /// `start`, `stop`, `finalize`, or whatever a mark is called.
    Mark(String),
}

impl Message {
    /// The message of a line; `None` for a blank or invalid line.
    pub fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(count) = line.strip_prefix("events").filter(|rest| rest.starts_with(char::is_whitespace)) {
            let count = count.trim();
            return match count.strip_prefix('+') {
                Some(more) => more.parse().ok().map(Self::More),
                None => count.parse().ok().map(Self::Events),
            };
        }
        let name: String = line.chars().filter(|c| !c.is_control()).take(NAME).collect();
        (!name.is_empty()).then_some(Self::Mark(name))
    }
}

/// The pipe that a job writes its words to.
pub(crate) struct Pipe {
    _folder: ScratchFolder,
    path: PathBuf,
    end: File,
    rest: Vec<u8>,
}

impl Pipe {
    pub fn new() -> Result<Self> {
        let folder = ScratchFolder::new()?;
        let path = folder.path().join("words");
        make_pipe(&path)?;
        // Open for both: a job that opens it need not wait, and its end is never the last.
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let end = open(&path, flags, Mode::empty()).map_err(std::io::Error::from)?;
        Ok(Self { _folder: folder, path, end: end.into(), rest: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// To be polled.
    pub fn end(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// All that was said since.
    pub fn messages(&mut self) -> Vec<Message> {
        let mut said = Vec::new();
        let mut buffer = [0; 1 << 16];
        loop {
            match self.end.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => said.extend_from_slice(buffer.get(..n).unwrap_or_default()),
                Err(e) if e.kind() == ErrorKind::Interrupted => (),
                Err(_) => break,
            }
            // A job that talks without end is heard again later.
            if said.len() > 16 * buffer.len() {
                break;
            }
        }
        self.rest.append(&mut said);
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        if self.rest.len() > LONGEST {
            self.rest.clear();
        }
        String::from_utf8_lossy(&whole).lines().filter_map(Message::parse).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn lines_are_words() {
        let mark = |name: &str| Some(Message::Mark(name.to_owned()));
        for (line, word) in [
            ("events 12", Some(Message::Events(12))),
            ("  events  +7 ", Some(Message::More(7))),
            ("events", mark("events")),
            ("events many", None),
            ("eventsful", mark("eventsful")),
            ("start", mark("start")),
            ("second pass\u{7}", mark("second pass")),
            ("   ", None),
        ] {
            assert_eq!(Message::parse(line), word, "{line:?}");
        }
        assert_eq!(Message::parse(&"x".repeat(100)), mark(&"x".repeat(64)));
    }

    #[test]
    fn a_pipe_gives_whole_lines_and_never_blocks() {
        let mut pipe = Pipe::new().unwrap();
        assert_eq!(pipe.messages(), []);
        let mut job = File::options().write(true).open(pipe.path()).unwrap();
        job.write_all(b"start\nevents 5\nsto").unwrap();
        assert_eq!(pipe.messages(), [Message::Mark("start".to_owned()), Message::Events(5)]);
        job.write_all(b"p\n").unwrap();
        drop(job);
        assert_eq!(pipe.messages(), [Message::Mark("stop".to_owned())]);
        // Without a line's end for longer than a line may be: not a word, and not remembered.
        let mut job = File::options().write(true).open(pipe.path()).unwrap();
        job.write_all(&[b'x'; 5000]).unwrap();
        assert_eq!(pipe.messages(), []);
        job.write_all(b"\nfinalize\n").unwrap();
        assert_eq!(pipe.messages(), [Message::Mark("finalize".to_owned())]);
    }
}
