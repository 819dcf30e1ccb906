//! Hands out tasks in order and appends their records in the same order, whichever task is done first.
//!
//! One worker at a time appends while the others continue. Records of later tasks wait here, up to a limit of bytes; a worker
//! that would exceed the limit waits itself. The next task in the order waits for nothing but the records before it, so
//! the job always makes progress.

use std::panic::AssertUnwindSafe;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, FileWriter, Result};

use super::task_error::Stopped;
use super::work::Supply;
use crate::commit::append::{Append, Batch};
use crate::commit::ordered_queue::OrderedQueue;
use crate::execute::progress::{Progress, tell};

/// The tasks that nobody has taken.
struct Untaken<S> {
    supply: S,
    next: u64,
}

/// The records that are not in the file yet.
struct State<B> {
    waiting: OrderedQueue<B>,
    /// Bytes of records that were handed over and are not in the file yet.
    held: u64,
    /// Whether a worker is appending.
    appending: bool,
    error: Option<Error>,
    /// Number of workers that wait.
    asleep: usize,
}

impl<B> State<B> {
    /// The records whose turn it is, if they are here. None after an error.
    fn take_next(&mut self) -> Option<B> {
        if self.error.is_some() { None } else { self.waiting.next() }
    }
}

/// The file. The worker that set [`State::appending`] locks it, without the lock of the state.
struct Output<'a, A> {
    writer: &'a mut FileWriter,
    sink: A,
}

/// The queue of a job: `S` deals out its tasks, `A` appends what they make.
pub(crate) struct Queue<'a, S, A: Append> {
    untaken: Mutex<Untaken<S>>,
    state: Mutex<State<A::Batch>>,
    output: Mutex<Output<'a, A>>,
    state_changed: Condvar,
    limit: u64,
    progress: Progress<'a>,
}

impl<'a, S: Supply, A: Append> Queue<'a, S, A> {
    pub fn new(supply: S, (writer, sink): (&'a mut FileWriter, A), limit: u64, progress: Progress<'a>) -> Self {
        let state = State { waiting: OrderedQueue::new(), held: 0, appending: false, error: None, asleep: 0 };
        Self {
            untaken: Mutex::new(Untaken { supply, next: 0 }),
            state: Mutex::new(state),
            output: Mutex::new(Output { writer, sink }),
            state_changed: Condvar::new(),
            limit,
            progress,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<A::Batch>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task and its number in the order. None after an error.
    pub fn next(&self) -> Option<(u64, S::Task)> {
        if self.lock().error.is_some() {
            return None;
        }
        let mut untaken = self.untaken.lock().unwrap_or_else(PoisonError::into_inner);
        let task = match untaken.supply.next() {
            Ok(task) => task?,
            Err(error) => {
                drop(untaken);
                self.fail(error);
                return None;
            }
        };
        let number = untaken.next;
        untaken.next += 1;
        Some((number, task))
    }

    /// Takes the records of task `number`. `batch` has no records afterwards, and bytes to be overwritten. Waits while the
    /// waiting records fill the limit.
    pub fn emit(&self, number: u64, batch: &mut A::Batch) -> std::result::Result<(), Stopped> {
        let held = batch.held();
        let mut state = self.lock();
        loop {
            if state.error.is_some() {
                return Err(Stopped);
            }
            // Nobody appends, so no records before these are waiting.
            if number == state.waiting.head() && !state.appending {
                state.appending = true;
                drop(state);
                let appended = self.append(batch);
                batch.forget();
                let mut state = self.lock();
                state.appending = false;
                return appended.map_err(|e| self.stop(&mut state, e));
            }
            if state.held + held <= self.limit {
                state.held += held;
                state.waiting.put(number, std::mem::take(batch));
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
    fn advance<'s>(&'s self, mut state: MutexGuard<'s, State<A::Batch>>) -> std::result::Result<(), Stopped> {
        if state.error.is_some() {
            return Err(Stopped);
        }
        if state.appending {
            return Ok(());
        }
        state.appending = true;
        let head = state.waiting.head();
        while let Some(mut batch) = state.take_next() {
            let held = batch.held();
            drop(state);
            let appended = self.append(&mut batch);
            drop(batch);
            state = self.lock();
            state.held = state.held.saturating_sub(held);
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
    fn append(&self, batch: &mut A::Batch) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { writer, sink } = &mut *output;
        sink.append(writer, batch)?;
        tell(self.progress, batch.bytes())
    }

    fn wake(&self, state: &State<A::Batch>) {
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

    fn stop(&self, state: &mut State<A::Batch>, error: Error) -> Stopped {
        state.error.get_or_insert(error);
        self.state_changed.notify_all();
        Stopped
    }

    /// The supply, and who appended, once the workers have ended.
    pub fn finish(self) -> Result<(S, A)> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let output = self.output.into_inner().unwrap_or_else(PoisonError::into_inner);
        let untaken = self.untaken.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((untaken.supply, output.sink))
    }
}
