//! Hands out tasks in order and appends their records in the same order, whichever task is done first.
//!
//! One worker at a time appends while the others continue. Records of later tasks wait here, up to a limit of bytes; a worker
//! that would exceed the limit waits itself. The next task in the order waits for nothing but the records before it, so
//! the job always makes progress.

use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, FileWriter, Result};

use super::job::Job;
use super::task_error::Stopped;
use super::tasks::{Task, Tasks};
use crate::commit::ordered_queue::OrderedQueue;
use crate::commit::sink::{Sink, WrittenColumn};
use crate::execute::progress::{Progress, tell};
use crate::table::chunk::Chunk;
use crate::table::column::Column;

/// The tasks that nobody has taken.
struct Supply<'a> {
    tasks: Tasks<'a>,
    next: u64,
}

/// The records that are not in the file yet.
struct State {
    waiting: OrderedQueue<Chunk>,
    /// Bytes of records that were handed over and are not in the file yet.
    held: u64,
    /// Whether a worker is appending.
    appending: bool,
    error: Option<Error>,
    /// Number of workers that wait.
    asleep: usize,
}

impl State {
    /// The records whose turn it is, if they are here. None after an error.
    fn take_next(&mut self) -> Option<Chunk> {
        if self.error.is_some() { None } else { self.waiting.next() }
    }
}

/// The file. The worker that set [`State::appending`] locks it, without the lock of the state.
struct Output<'a> {
    writer: &'a mut FileWriter,
    sink: Sink,
}

pub(crate) struct Queue<'a> {
    supply: Mutex<Supply<'a>>,
    state: Mutex<State>,
    output: Mutex<Output<'a>>,
    state_changed: Condvar,
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
        let state = State { waiting: OrderedQueue::new(), held: 0, appending: false, error: None, asleep: 0 };
        Self {
            supply: Mutex::new(Supply { tasks: Tasks::new(job), next: 0 }),
            state: Mutex::new(state),
            output: Mutex::new(Output { writer, sink }),
            state_changed: Condvar::new(),
            limit,
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task and its number in the order.
    pub fn next(&self) -> Option<(u64, Task)> {
        if self.lock().error.is_some() {
            return None;
        }
        let mut supply = self.supply.lock().unwrap_or_else(PoisonError::into_inner);
        let task = supply.tasks.next()?;
        let number = supply.next;
        supply.next += 1;
        Some((number, task))
    }

    /// Takes the records of task `number`. `chunk` has no records afterwards, and bytes to be overwritten. Waits while the
    /// waiting records fill the limit.
    pub fn emit(&self, number: u64, chunk: &mut Chunk) -> std::result::Result<(), Stopped> {
        let len = chunk.bytes.len() as u64;
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return Err(Stopped);
            }
            // Nobody appends, so no records before these are waiting.
            if number == state.waiting.head() && !state.appending {
                state.appending = true;
                drop(state);
                let appended = self.append(chunk);
                chunk.records.clear();
                let mut state = self.lock();
                state.appending = false;
                return appended.map_err(|e| self.stop(&mut state, e));
            }
            if state.held + len <= self.limit {
                state.held += len;
                state.waiting.put(number, std::mem::take(chunk));
                return Ok(());
            }
            state.asleep += 1;
            state = self.state_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// Ends task `number`, which has emitted all its records.
    pub fn done(&self, number: u64) -> std::result::Result<(), Stopped> {
        let mut state = self.lock();
        state.waiting.done(number);
        self.advance(state)
    }

    /// Appends the records whose turn it is. No-op if another worker is appending: that worker finds them.
    fn advance<'s>(&'s self, mut state: MutexGuard<'s, State>) -> std::result::Result<(), Stopped> {
        if state.error.is_some() {
            return Err(Stopped);
        }
        if state.appending {
            return Ok(());
        }
        state.appending = true;
        let head = state.waiting.head();
        while let Some(mut chunk) = state.take_next() {
            let len = chunk.bytes.len() as u64;
            drop(state);
            let appended = self.append(&mut chunk);
            drop(chunk);
            state = self.lock();
            state.held = state.held.saturating_sub(len);
            if let Err(error) = appended {
                return Err(self.stop(&mut state, error));
            }
            self.wake(&state);
        }
        state.appending = false;
        if state.waiting.head() != head {
            self.wake(&state);
        }
        if state.error.is_some() { Err(Stopped) } else { Ok(()) }
    }

    /// Appends records to the file.
    fn append(&self, chunk: &mut Chunk) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { writer, sink } = &mut *output;
        sink.append(writer, chunk, 0)?;
        tell(self.progress, chunk.bytes.len() as u64)
    }

    fn wake(&self, state: &State) {
        // Notifying costs a system call even if no worker waits.
        if state.asleep > 0 {
            self.state_changed.notify_all();
        }
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

    fn stop(&self, state: &mut State, error: Error) -> Stopped {
        state.error.get_or_insert(error);
        self.state_changed.notify_all();
        Stopped
    }

    /// The columns as they were written.
    pub fn finish(self) -> Result<Vec<WrittenColumn>> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let output = self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        let supply = self.supply.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut written = output.sink.written;
        for (column, depths) in written.iter_mut().zip(supply.tasks.depths()) {
            column.depths = depths;
            // Copied records keep their order in the input, which in a file with reused gaps is not that of entries.
            column.baskets.sort_by_key(|b| b.first_entry);
        }
        Ok(written)
    }
}
