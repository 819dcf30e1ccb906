//! Tasks go out in order, and what they make is appended in the same order, whoever is done first.
//!
//! What is made ahead of its turn waits here, within a number of bytes; a worker that would exceed it waits
//! itself. The task whose turn it is never waits, so there is always progress.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, FileWriter, Result};

use super::tasks::{Task, Tasks};
use super::{Job, Progress, tell};
use crate::column::Column;
use crate::sink::{Chunk, Sink, Written};

struct State<'a> {
    tasks: Tasks<'a>,
    next: usize,
    head: usize,
    held: u64,
    waiting: BTreeMap<usize, Vec<Chunk>>,
    finished: BTreeSet<usize>,
    writer: &'a mut FileWriter,
    sink: Sink,
    error: Option<Error>,
    /// Workers that wait for their turn.
    asleep: usize,
}

impl State<'_> {
    fn append(&mut self, chunk: &mut Chunk) -> Result<()> {
        self.sink.append(self.writer, chunk, 0)
    }
}

pub(super) struct Queue<'a> {
    state: Mutex<State<'a>>,
    turn: Condvar,
    limit: u64,
    progress: Progress<'a>,
}

/// Another worker failed; its error is in the queue.
#[derive(Debug)]
pub(super) struct Stopped;

impl<'a> Queue<'a> {
    pub fn new(job: &'a Job<'a>, writer: &'a mut FileWriter, limit: u64, progress: Progress<'a>) -> Self {
        let room = |column: &Column| Written { baskets: Vec::with_capacity(column.pieces.len()), ..Written::default() };
        let written = job.columns.iter().map(room).collect();
        let sink = Sink { seek_pdir: job.seek_pdir, written };
        Self {
            state: Mutex::new(State {
                tasks: Tasks::new(job),
                next: 0,
                head: 0,
                held: 0,
                waiting: BTreeMap::new(),
                finished: BTreeSet::new(),
                writer,
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
                let appended = state.append(chunk).and_then(|()| tell(self.progress, len));
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
                if let Err(e) = state.append(&mut chunk).and_then(|()| tell(self.progress, len)) {
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
