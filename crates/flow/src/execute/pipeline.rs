//! Work whose output has an order: workers perform tasks, and append what these make in the order of the tasks, whichever is done
//! first.
//!
//! One worker at a time appends while the others continue. Output of later tasks waits here, up to a limit of bytes; a worker
//! that would exceed the limit waits itself. The next task in the order waits for nothing but the output before it, so
//! the work always makes progress.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rootfile::{Error, FileWriter, Result};

use super::budget::Share;
use super::progress::{Progress, tell};
use super::workers::Workers;
use crate::commit::append::{Append, Batch};
use crate::commit::ordered_queue::OrderedQueue;

/// Takes finished records of the current task.
pub(crate) type Emit<'a, B> = &'a mut dyn FnMut(&mut B) -> Result<()>;

/// How tasks are performed.
pub(crate) trait Work: Sync {
    /// A piece of work.
    type Task;
    /// The records that a task makes.
    type Batch: Batch;
    /// Buffers and codecs of one worker.
    type Scratch: Send;

    /// New buffers and codecs.
    fn scratch(&self) -> Self::Scratch;

    /// Performs a task. Finished records are emitted, the last ones may stay in the [`rest`](Self::rest).
    fn perform(&self, task: Self::Task, scratch: &mut Self::Scratch, emit: Emit<'_, Self::Batch>) -> Result<()>;

    /// The records that a task left in the buffers.
    fn rest<'s>(&self, scratch: &'s mut Self::Scratch) -> &'s mut Self::Batch;
}

/// Performs the tasks that `next` deals out, and appends what they make to the file.
pub(crate) fn run_work<W: Work, A: Append<Batch = W::Batch>>(
    work: &W,
    next: impl FnMut() -> Result<Option<W::Task>> + Send,
    (writer, appender): (&mut FileWriter, &mut A),
    share: Share,
    progress: Progress<'_>,
) -> Result<()> {
    let pipeline = Pipeline {
        state: Mutex::new(State { waiting: OrderedQueue::new(), held: 0, appending: false, stopped: false, asleep: 0 }),
        output: Mutex::new(Output { writer, appender }),
        state_changed: Condvar::new(),
        limit: share.waiting,
        progress,
    };
    let stop = || pipeline.stop();
    Workers::new("the rewrite", share.threads, progress).giving_up(&stop).run(
        next,
        || work.scratch(),
        |number, task, scratch| {
            work.perform(task, scratch, &mut |batch| pipeline.emit(number, batch))?;
            pipeline.emit(number, work.rest(scratch))?;
            pipeline.done(number)
        },
    )
}

/// The records that are not in the file yet.
struct State<B> {
    waiting: OrderedQueue<B>,
    /// Bytes of records that were handed over and are not in the file yet.
    held: u64,
    /// Whether a worker is appending.
    appending: bool,
    /// Whether the work ends early.
    stopped: bool,
    /// Number of workers that wait.
    asleep: usize,
}

/// The file. The worker that set [`State::appending`] locks it, without the lock of the state.
struct Output<'a, A> {
    writer: &'a mut FileWriter,
    appender: &'a mut A,
}

/// What the workers share.
struct Pipeline<'a, A: Append> {
    state: Mutex<State<A::Batch>>,
    output: Mutex<Output<'a, A>>,
    state_changed: Condvar,
    limit: u64,
    progress: Progress<'a>,
}

impl<A: Append> Pipeline<'_, A> {
    fn lock(&self) -> MutexGuard<'_, State<A::Batch>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the records of task `number`. `batch` has no records afterwards, and bytes to be overwritten. Waits while the
    /// waiting records fill the limit.
    fn emit(&self, number: u64, batch: &mut A::Batch) -> Result<()> {
        let held = batch.held();
        let mut state = self.lock();
        loop {
            if state.stopped {
                return Err(Error::interrupted());
            }
            // Nobody appends, so no records before these are waiting.
            if number == state.waiting.head() && !state.appending {
                state.appending = true;
                drop(state);
                self.append(batch)?;
                batch.forget();
                self.lock().appending = false;
                return Ok(());
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

    /// Notes that a task has emitted all its records, and appends the records whose turn it is. If another worker is appending, that one
    /// takes them.
    fn done(&self, number: u64) -> Result<()> {
        let mut state = self.lock();
        state.waiting.done(number);
        if state.appending {
            return Ok(());
        }
        state.appending = true;
        let head = state.waiting.head();
        while let Some(mut batch) = state.waiting.next() {
            if state.stopped {
                return Err(Error::interrupted());
            }
            let held = batch.held();
            drop(state);
            self.append(&mut batch)?;
            drop(batch);
            state = self.lock();
            state.held = state.held.saturating_sub(held);
            self.wake(&state);
        }
        state.appending = false;
        if state.waiting.head() != head {
            self.wake(&state);
        }
        Ok(())
    }

    /// Appends records to the file. After a failure nobody appends again.
    fn append(&self, batch: &mut A::Batch) -> Result<()> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let Output { writer, appender } = &mut *output;
        appender.append(writer, batch)?;
        tell(self.progress, batch.bytes())
    }

    fn wake(&self, state: &State<A::Batch>) {
        // Notifying costs a system call even if no worker waits.
        if state.asleep > 0 {
            self.state_changed.notify_all();
        }
    }

    /// Ends all waiting: the work ends early.
    fn stop(&self) {
        self.lock().stopped = true;
        self.state_changed.notify_all();
    }
}
