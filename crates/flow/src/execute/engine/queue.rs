//! Hands out tasks in order and appends their records in the same order, whichever task is done first.
//!
//! Records of later tasks wait here, up to a limit of bytes; a worker that would exceed the limit waits itself. The next
//! task in the order never waits, so the job always makes progress.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, FileWriter, Result};

use super::job::Job;
use super::task_error::Stopped;
use super::tasks::{Task, Tasks};
use crate::commit::sink::{Sink, WrittenColumn};
use crate::execute::progress::{Progress, tell};
use crate::table::chunk::Chunk;
use crate::table::column::Column;

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
    /// Number of workers that wait.
    asleep: usize,
}

impl State<'_> {
    fn append(&mut self, chunk: &mut Chunk) -> Result<()> {
        self.sink.append(self.writer, chunk, 0)
    }
}

pub(crate) struct Queue<'a> {
    state: Mutex<State<'a>>,
    next_changed: Condvar,
    limit: u64,
    progress: Progress<'a>,
}

impl<'a> Queue<'a> {
    pub fn new(job: &'a Job<'a>, writer: &'a mut FileWriter, limit: u64, progress: Progress<'a>) -> Self {
        let room = |column: &Column| WrittenColumn {
            baskets: Vec::with_capacity(column.source.pieces.len()),
            ..WrittenColumn::default()
        };
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
            next_changed: Condvar::new(),
            limit,
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task and its number in the order.
    pub fn next(&self) -> Option<(usize, Task)> {
        let mut state = self.lock();
        if state.error.is_some() {
            return None;
        }
        let task = state.tasks.next()?;
        let number = state.next;
        state.next += 1;
        Some((number, task))
    }

    /// Takes the records of task `number`. `chunk` has no records afterwards, and bytes to be overwritten. Waits while the
    /// waiting records fill the limit.
    pub fn emit(&self, number: usize, chunk: &mut Chunk) -> std::result::Result<(), Stopped> {
        let len = chunk.bytes.len() as u64;
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return Err(Stopped);
            }
            if number == state.head {
                let appended = state.append(chunk).and_then(|()| tell(self.progress, len));
                chunk.records.clear();
                return appended.map_err(|e| self.stop(&mut state, e));
            }
            if state.held + len <= self.limit {
                state.held += len;
                let full = std::mem::take(chunk);
                state.waiting.entry(number).or_default().push(full);
                return Ok(());
            }
            state.asleep += 1;
            state = self.next_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// Ends task `number`, which has emitted all its records.
    pub fn done(&self, number: usize) -> std::result::Result<(), Stopped> {
        let mut state = self.lock();
        state.finished.insert(number);
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
        // Notifying costs a system call even if no worker waits.
        if state.head != before && state.asleep > 0 {
            self.next_changed.notify_all();
        }
        if state.error.is_some() { Err(Stopped) } else { Ok(()) }
    }

    /// Runs a worker. A panic ends the job with an error; otherwise the other workers would wait forever for its task.
    pub fn guarded(&self, work: impl FnOnce()) {
        if std::panic::catch_unwind(AssertUnwindSafe(work)).is_err() {
            self.fail(Error::unsupported("internal error (panic above); please report it"));
        }
    }

    /// Ends the job. The first error is kept.
    pub fn fail(&self, error: Error) {
        let mut state = self.lock();
        self.stop(&mut state, error);
    }

    fn stop(&self, state: &mut State<'_>, error: Error) -> Stopped {
        state.error.get_or_insert(error);
        self.next_changed.notify_all();
        Stopped
    }

    /// The columns as they were written.
    pub fn finish(self) -> Result<Vec<WrittenColumn>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let mut written = state.sink.written;
        for (column, depths) in written.iter_mut().zip(state.tasks.depths()) {
            column.depths = depths;
            // Copied records keep their order in the input, which in a file with reused gaps is not that of entries.
            column.baskets.sort_by_key(|b| b.first_entry);
        }
        Ok(written)
    }
}
