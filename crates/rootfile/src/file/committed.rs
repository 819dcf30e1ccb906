//! The state of a file that is to be updated in place: its directories with their keys, where the records are that readers find, and the
//! gaps between them. Refuses a file in which a record that is in use lies in a gap, or that is not what its lists say.

use std::collections::{HashMap, HashSet};

use super::{RootFile, is_directory};
use crate::bytes::Cursor;
use crate::directory::DirectoryRecord;
use crate::header::{BEGIN, FileHeader};
use crate::key::Key;
use crate::{Error, Result};

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Offset of the first.
    pub first: u64,
    /// How many.
    pub len: u64,
}

impl Run {
    /// The record of a key.
    pub fn of(key: &Key) -> Self {
        Self { first: key.seek_key, len: u64::from(key.nbytes) }
    }

    /// The offset behind the last.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.len)
    }
}

/// A directory below the top.
#[derive(Clone, Debug)]
pub(crate) struct CommittedDirectory {
    /// Its record, and the fields in it.
    pub run: Run,
    pub record: DirectoryRecord,
    pub title: String,
    /// Its keys, by the offsets of their records.
    pub keys: HashMap<u64, Key>,
}

impl CommittedDirectory {
    /// The record of its list of keys.
    pub fn list(&self) -> Run {
        Run { first: self.record.seek_keys, len: self.record.nbytes_keys.into() }
    }
}

/// A file as readers find it.
#[derive(Debug)]
pub struct Committed {
    pub(crate) header: FileHeader,
    /// The bytes between the header and the fields of the top directory: its key, the file's name and title.
    pub(crate) top_names: Vec<u8>,
    pub(crate) names: (String, String),
    /// Bytes for the fields of the top directory.
    pub(crate) room: usize,
    /// The directories by path; that of the top is empty.
    pub(crate) directories: HashMap<String, CommittedDirectory>,
    /// Free segments that are marked as such where they are, and those that are not.
    pub(crate) gaps: Vec<Run>,
    pub(crate) unmarked: Vec<Run>,
    /// Offsets that keys have as that of their directory.
    pub(crate) named_directories: HashSet<u64>,
    /// The first bytes of the file, which are what an update replaces.
    pub(crate) head: Vec<u8>,
    /// The size of the file.
    pub(crate) size: u64,
}

impl Committed {
    /// The state of a file.
    ///
    /// # Errors
    ///
    /// `Unsupported` for a form that is not updated in place, such as that of early versions of ROOT; `Corrupt` if the file contradicts
    /// itself.
    pub fn of(file: &RootFile) -> Result<Self> {
        Self::read(file).map_err(|e| e.file(file.name()))
    }

    /// The gaps of which a record would take bytes, if any.
    pub fn gap_at(&self, run: Run) -> Option<Run> {
        let clash = |gap: &&Run| gap.first < run.end() && run.first < gap.end();
        self.gaps.iter().chain(&self.unmarked).find(clash).copied()
    }

    fn read(file: &RootFile) -> Result<Self> {
        let header = file.header().clone();
        let source = file.source();
        if file.recovered() || header.end > source.size() {
            return Err(Error::unsupported("the file was not closed"));
        }
        if let Some(problem) = file.infos_problem() {
            return Err(Error::corrupt(format!("its streamer infos cannot be read ({problem})")));
        }
        let nbytes_name = usize::try_from(header.nbytes_name).unwrap_or(usize::MAX);
        if header.begin != BEGIN {
            let begin = header.begin;
            return Err(Error::unsupported(format!("its records begin at byte {begin}, as in early versions of ROOT")));
        }
        let top = file.key_at(BEGIN)?;
        let room = usize::try_from(top.nbytes).unwrap_or(0).checked_sub(nbytes_name);
        let names_len = nbytes_name.checked_sub(usize::from(top.keylen)).filter(|len| *len < 1 << 16);
        let (Some(room), Some(_)) = (room, names_len) else {
            return Err(Error::corrupt("the header and the record of the top directory contradict each other"));
        };
        let top_names = source.read(BEGIN, nbytes_name)?;
        let mut c = Cursor::at(&top_names, usize::from(top.keylen));
        let names = (c.string()?, c.string()?);
        let mut committed = Self {
            header,
            top_names,
            names,
            room,
            directories: HashMap::new(),
            gaps: Vec::new(),
            unmarked: Vec::new(),
            named_directories: HashSet::new(),
            head: source
                .read(0, usize::try_from(BEGIN).unwrap_or(100) + nbytes_name + room.min(DirectoryRecord::MAX_LEN))?,
            size: source.size(),
        };
        committed.read_directories(file)?;
        committed.read_gaps(file)?;
        committed.check_gaps(&top)?;
        Ok(committed)
    }

    fn read_directories(&mut self, file: &RootFile) -> Result<()> {
        let walk = file.walk();
        if let Some(problem) = walk.problems.into_iter().next() {
            return Err(problem);
        }
        for directory in walk.directories {
            let (run, record) = if directory.path.is_empty() {
                let at = BEGIN + u64::from(self.header.nbytes_name);
                let fields = file.source().read(at, self.room.min(DirectoryRecord::MAX_LEN))?;
                (Run { first: BEGIN, len: 0 }, DirectoryRecord::parse(&mut Cursor::new(&fields))?)
            } else {
                let key = file.key_at(directory.seek)?;
                (Run::of(&key), DirectoryRecord::parse(&mut Cursor::new(&file.payload(&key)?))?)
            };
            self.named_directories.insert(directory.seek);
            self.named_directories.extend(directory.keys.iter().map(|key| key.seek_pdir));
            let keys = directory.keys.into_iter().map(|key| (key.seek_key, key)).collect();
            self.directories.insert(directory.path, CommittedDirectory { run, record, title: directory.title, keys });
        }
        Ok(())
    }

    fn read_gaps(&mut self, file: &RootFile) -> Result<()> {
        if self.header.seek_free == 0 {
            return Ok(());
        }
        let end = self.header.end;
        let mut at = BEGIN;
        for segment in file.free_segments()? {
            // The last segment begins behind the end; in files of some writers a few bytes before.
            if segment.first.max(segment.last) >= end {
                if segment.first > end {
                    return Err(wrong_end(end, segment.first));
                }
                break;
            }
            let run = Run { first: segment.first, len: segment.last.saturating_add(1).saturating_sub(segment.first) };
            if run.first < at || run.end() > end {
                let (first, last) = (segment.first, segment.last);
                let what = format!("the free list has bytes {first} to {last}, of {end} in the file, behind byte {at}");
                return Err(Error::corrupt(what));
            }
            at = run.end();
            // What is marked as a gap where it lies is one; a list alone might be wrong.
            let mark = file.source().read(run.first, 4.min(usize::try_from(run.len).unwrap_or(4)))?;
            let marked = i32::try_from(run.len).is_ok_and(|len| mark == (-len).to_be_bytes());
            if marked { self.gaps.push(run) } else { self.unmarked.push(run) }
        }
        Ok(())
    }

    /// No record that readers find lies in a gap.
    fn check_gaps(&self, top: &Key) -> Result<()> {
        let header = &self.header;
        let used = |what: String, run: Run| match self.gap_at(run).filter(|_| run.len > 0) {
            None if run.len > 0 && run.end() > header.end => Err(wrong_end(header.end, run.end())),
            None => Ok(()),
            Some(gap) => {
                let (first, last) = (gap.first, gap.end().saturating_sub(1));
                Err(Error::corrupt(format!("the free list has bytes {first} to {last}, in which lies {what}")))
            }
        };
        used("the record of the top directory".to_owned(), Run { first: 0, len: BEGIN + u64::from(top.nbytes) })?;
        let infos = Run { first: header.seek_info, len: header.nbytes_info.into() };
        used("that of the streamer infos".to_owned(), infos)?;
        let free = Run { first: header.seek_free, len: header.nbytes_free.into() };
        used("the list itself".to_owned(), free)?;
        for (path, directory) in &self.directories {
            used(format!("the record of directory {path}"), directory.run)?;
            used(format!("the list of keys of directory {path}"), directory.list())?;
            for key in directory.keys.values().filter(|key| !is_directory(&key.class)) {
                used(format!("the record of {path}/{};{}", key.name, key.cycle), Run::of(key))?;
            }
        }
        Ok(())
    }
}

/// ROOT leaves an end that is too small in the header where a file had shrunk before it grew again, and does not use it itself.
#[cold]
fn wrong_end(end: u64, used: u64) -> Error {
    Error::unsupported(format!("its header says that it ends at byte {end}, and byte {used} is in use"))
}
