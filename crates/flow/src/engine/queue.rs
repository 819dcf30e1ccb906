//! Tasks go out in order, and what they make is appended in the same order, whoever is done first.
//!
//! What is made ahead of its turn waits here, within a number of bytes; a worker that would exceed it waits
//! itself. The task whose turn it is never waits, so there is always progress.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use dataset::tree::BasketRef;
use rootfile::{Error, FileWriter, Result, START_BIG_FILE};

use super::tasks::{Task, Tasks};
use super::{Job, Progress, Written, tell};
use crate::column::Column;

/// Records, one after the other, and what they are.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub bytes: Vec<u8>,
    pub pieces: Vec<OutPiece>,
}

/// One basket of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(super) struct OutPiece {
    pub column: usize,
    pub first_entry: u64,
    pub entries: u64,
    /// Where it begins in the chunk.
    pub offset: usize,
    pub nbytes: u32,
    /// Bytes before compression, without the key.
    pub objlen: u32,
    pub keylen: u16,
    pub pid_offset: u16,
    /// Whether its key has eight-byte positions.
    pub big: bool,
}

/// Offset of fSeekKey in a key: behind fNbytes, version, fObjlen, fDatime, fKeylen and fCycle.
const SEEK_KEY: usize = 18;

struct State<'a> {
    tasks: Tasks<'a>,
    next: usize,
    head: usize,
    held: u64,
    waiting: BTreeMap<usize, Vec<Chunk>>,
    finished: BTreeSet<usize>,
    sink: Sink<'a>,
    error: Option<Error>,
    /// Workers that wait for their turn.
    asleep: usize,
}

pub(super) struct Queue<'a> {
    state: Mutex<State<'a>>,
    turn: Condvar,
    limit: u64,
    progress: Progress<'a>,
}

struct Sink<'a> {
    writer: &'a mut FileWriter,
    seek_pdir: u64,
    written: Vec<Written>,
}

/// Another worker failed; its error is in the queue.
#[derive(Debug)]
pub(super) struct Stopped;

impl<'a> Queue<'a> {
    pub fn new(job: &'a Job<'a>, writer: &'a mut FileWriter, limit: u64, progress: Progress<'a>) -> Self {
        let room = |column: &Column| Written { baskets: Vec::with_capacity(column.pieces.len()), ..Written::default() };
        let written = job.columns.iter().map(room).collect();
        let sink = Sink { writer, seek_pdir: job.seek_pdir, written };
        Self {
            state: Mutex::new(State {
                tasks: Tasks::new(job),
                next: 0,
                head: 0,
                held: 0,
                waiting: BTreeMap::new(),
                finished: BTreeSet::new(),
                sink,
                error: None,
                asleep: 0,
            }),
            turn: Condvar::new(),
            limit,
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task and its place in the order.
    pub fn next(&self) -> Option<(usize, Task)> {
        let mut state = self.lock();
        if state.error.is_some() {
            return None;
        }
        let task = state.tasks.next()?;
        let place = state.next;
        state.next += 1;
        Some((place, task))
    }

    /// Hands over what the task at `place` made; `chunk` has no pieces afterwards, and bytes to be overwritten. Waits
    /// where too much waits already.
    pub fn emit(&self, place: usize, chunk: &mut Chunk) -> std::result::Result<(), Stopped> {
        let len = chunk.bytes.len() as u64;
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return Err(Stopped);
            }
            if place == state.head {
                let appended = state.sink.append(chunk).and_then(|()| tell(self.progress, len));
                chunk.pieces.clear();
                return appended.map_err(|e| self.stop(&mut state, e));
            }
            if state.held + len <= self.limit {
                state.held += len;
                let full = std::mem::take(chunk);
                state.waiting.entry(place).or_default().push(full);
                return Ok(());
            }
            state.asleep += 1;
            state = self.turn.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// Says that the task at `place` made all it makes.
    pub fn done(&self, place: usize) -> std::result::Result<(), Stopped> {
        let mut state = self.lock();
        state.finished.insert(place);
        let state = &mut *state;
        let before = state.head;
        while state.finished.remove(&state.head) {
            state.head += 1;
            for mut chunk in state.waiting.remove(&state.head).unwrap_or_default() {
                let len = chunk.bytes.len() as u64;
                state.held = state.held.saturating_sub(len);
                if let Err(e) = state.sink.append(&mut chunk).and_then(|()| tell(self.progress, len)) {
                    return Err(self.stop(state, e));
                }
            }
        }
        // Waking nobody is a system call all the same.
        if state.head != before && state.asleep > 0 {
            self.turn.notify_all();
        }
        if state.error.is_some() { Err(Stopped) } else { Ok(()) }
    }

    /// Runs a worker. A panic in it ends the job with an error: else the others would wait for its turn for ever.
    pub fn guarded(&self, work: impl FnOnce()) {
        if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.fail(Error::unsupported("basketry made a mistake here (its message is above); please report it"));
        }
    }

    /// Ends the job: the first error stays.
    pub fn fail(&self, error: Error) {
        let mut state = self.lock();
        self.stop(&mut state, error);
    }

    fn stop(&self, state: &mut State<'_>, error: Error) -> Stopped {
        state.error.get_or_insert(error);
        self.turn.notify_all();
        Stopped
    }

    /// What became of the columns.
    pub fn finish(self) -> Result<Vec<Written>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let mut written = state.sink.written;
        for (column, depths) in written.iter_mut().zip(state.tasks.depths()) {
            column.depths = depths;
            // Records that are copied keep the order that they lie in, which in a file with reused gaps is not
            // that of their entries.
            column.baskets.sort_by_key(|b| b.first_entry);
        }
        Ok(written)
    }
}

impl Sink<'_> {
    fn append(&mut self, chunk: &mut Chunk) -> Result<()> {
        let base = self.writer.position();
        for piece in &chunk.pieces {
            let seek = base + piece.offset as u64;
            self.place(&mut chunk.bytes, piece, seek)?;
            if let Some(column) = self.written.get_mut(piece.column) {
                column.baskets.push(BasketRef {
                    first_entry: piece.first_entry,
                    entries: piece.entries,
                    seek,
                    nbytes: piece.nbytes,
                });
                let raw = u64::from(piece.objlen) + u64::from(piece.keylen);
                column.tot_bytes += raw;
                column.zip_bytes += u64::from(piece.nbytes);
                column.largest = column.largest.max(raw);
            }
        }
        self.writer.append(&chunk.bytes)
    }

    /// Writes the two positions of a record's key, which are known only now.
    fn place(&self, bytes: &mut [u8], piece: &OutPiece, seek: u64) -> Result<()> {
        let at = piece.offset + SEEK_KEY;
        let short = || Error::corrupt("a record too short for its key");
        if piece.big {
            let slot = bytes.get_mut(at..at + 16).ok_or_else(short)?;
            slot[..8].copy_from_slice(&seek.to_be_bytes());
            let pdir = self.seek_pdir | u64::from(piece.pid_offset) << 48;
            slot[8..].copy_from_slice(&pdir.to_be_bytes());
        } else {
            let slot = bytes.get_mut(at..at + 8).ok_or_else(short)?;
            if seek.max(self.seek_pdir) > START_BIG_FILE {
                return Err(Error::unsupported("a record with 32-bit positions came to lie beyond 2 GB"));
            }
            slot[..4].copy_from_slice(&u32::try_from(seek).unwrap_or(0).to_be_bytes());
            slot[4..].copy_from_slice(&u32::try_from(self.seek_pdir).unwrap_or(0).to_be_bytes());
        }
        Ok(())
    }
}
