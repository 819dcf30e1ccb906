//! Work that is done by whichever thread has nothing else to do: threads that fill clusters put pieces here that helpers make. It knows
//! neither what the work is, nor what becomes of it.
//!
//! Nobody waits for ever: work that was put is taken by a helper, or by who put it, and work that was taken waits for no other work.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

use super::sync::{Condvar, Mutex, MutexGuard};

/// Bytes that wait for each helper, at most: what it does while the next entries are made and encoded.
const EACH: u64 = 2 << 20;
/// A helper that finds nothing to do for so long begins to fill.
const IDLE: Duration = Duration::from_millis(2);

/// A piece of work.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// What a piece of work needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing but a thread.
    Thread,
    /// Means of which there are few: a thread would wait for them, with the bytes of the work in memory. Who has nothing else to do leaves
    /// it alone until they are free.
    Means,
}

/// Work that waits for a thread, and the threads that may take it.
pub(crate) struct SharedWork {
    /// Most bytes that wait.
    most: u64,
    state: Mutex<State>,
    changed: Condvar,
    /// Whether there are means for work that [`Needs::Means`].
    has_means: Box<dyn Fn() -> bool + Send + Sync>,
    /// Wakes threads that wait for something else, and help meanwhile.
    wake: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// Work that nobody has taken, and its bytes. The oldest comes first.
    waiting: VecDeque<(u64, Needs, Job)>,
    bytes: u64,
    /// Threads that take work.
    helpers: u64,
    /// How many of them sleep in [`SharedWork::help_while_filled`].
    asleep: usize,
    /// Whether one of these looks at the clock. The others sleep until they are needed, so that one after the other begins to fill.
    is_watched: bool,
    /// Threads that fill.
    fillers: usize,
    /// Helpers that had nothing to do, and have not begun to fill yet.
    idle: usize,
}

impl std::fmt::Debug for SharedWork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedWork").field("most", &self.most).finish_non_exhaustive()
    }
}

/// A thread that takes work, until this is dropped.
pub(crate) struct Helper<'a>(&'a SharedWork);

/// A thread that fills, until this is dropped.
pub(crate) struct Filler<'a>(&'a SharedWork);

impl State {
    fn take(&mut self, place: usize) -> Option<Job> {
        let (bytes, _, job) = self.waiting.remove(place)?;
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(job)
    }
}

impl SharedWork {
    /// No work. At most about `most` bytes of it will wait. `has_means` says whether there are means for work that needs them, `wake` is
    /// called when there is work.
    pub fn new(
        most: u64,
        has_means: impl Fn() -> bool + Send + Sync + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let (has_means, wake) = (Box::new(has_means), Box::new(wake));
        Self { most, state: Mutex::new(State::default()), changed: Condvar::new(), has_means, wake }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether helpers want work: there are some, and little waits for them.
    pub fn is_wanted(&self) -> bool {
        let state = self.lock();
        state.helpers > 0 && (state.waiting.is_empty() || state.bytes < self.most.min(EACH * state.helpers))
    }

    /// The place of the oldest work that a thread can do without waiting.
    fn ready(&self, state: &State) -> Option<usize> {
        let first = state.waiting.front().map(|(_, needs, _)| *needs)?;
        if first == Needs::Thread || (self.has_means)() {
            return Some(0);
        }
        state.waiting.iter().position(|(_, needs, _)| *needs == Needs::Thread)
    }

    /// Whether work waits that a thread can do without waiting.
    pub fn has_some(&self) -> bool {
        self.ready(&self.lock()).is_some()
    }

    /// Puts work of so many bytes.
    pub fn put(&self, bytes: u64, needs: Needs, job: Job) {
        let mut state = self.lock();
        state.waiting.push_back((bytes, needs, job));
        state.bytes += bytes;
        // Notifying costs a system call even if no thread sleeps.
        if state.asleep > 0 {
            self.changed.notify_one();
        }
        drop(state);
        (self.wake)();
    }

    /// Does the oldest work. Returns whether there was some.
    pub fn help(&self) -> bool {
        let job = self.lock().take(0);
        job.map(|job| job()).is_some()
    }

    /// The same with work that a thread can do without waiting for means.
    pub fn help_without_waiting(&self) -> bool {
        let mut state = self.lock();
        let job = self.ready(&state).and_then(|place| state.take(place));
        drop(state);
        job.map(|job| job()).is_some()
    }

    /// Counts threads that take work from now on.
    pub fn add_helpers(&self, helpers: usize) {
        self.lock().helpers += helpers as u64;
    }

    /// Counts this thread as one that takes work.
    pub fn helper(&self) -> Helper<'_> {
        self.add_helpers(1);
        Helper(self)
    }

    /// Counts this thread as one that fills, unless there are some and helpers have enough to do: then it should help.
    pub fn filler(&self) -> Option<Filler<'_>> {
        let mut state = self.lock();
        if state.fillers > 0 && state.idle == 0 {
            return None;
        }
        state.idle = state.idle.saturating_sub(1);
        state.fillers += 1;
        Some(Filler(self))
    }

    /// Whether a thread fills.
    pub fn is_filled(&self) -> bool {
        self.lock().fillers > 0
    }

    /// Takes work until nobody fills, or until there is so little that this thread should fill as well.
    pub fn help_while_filled(&self) {
        let _helper = self.helper();
        let mut state = self.lock();
        loop {
            if let Some(job) = self.ready(&state).and_then(|place| state.take(place)) {
                drop(state);
                job();
                state = self.lock();
            } else if state.fillers == 0 {
                return;
            } else if state.is_watched {
                state.asleep += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
            } else {
                (state.is_watched, state.asleep) = (true, state.asleep + 1);
                let waited = self.changed.wait_timeout(state, IDLE);
                let timeout;
                (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                (state.is_watched, state.asleep) = (false, state.asleep - 1);
                if state.asleep > 0 {
                    // Another one looks at the clock.
                    self.changed.notify_one();
                }
                if timeout.timed_out() && state.waiting.is_empty() {
                    state.idle += 1;
                    return;
                }
            }
        }
    }
}

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.helpers = state.helpers.saturating_sub(1);
    }
}

impl Drop for Filler<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.fillers = state.fillers.saturating_sub(1);
        if state.fillers == 0 {
            state.idle = 0;
            self.0.changed.notify_all();
        }
    }
}

/// What one thread makes and another takes.
pub(crate) struct Slot<T> {
    made: Mutex<Option<T>>,
    changed: Condvar,
}

impl<T> Slot<T> {
    pub fn new() -> Self {
        Self { made: Mutex::new(None), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn put(&self, made: T) {
        *self.lock() = Some(made);
        self.changed.notify_one();
    }

    /// Takes it, if it is made.
    pub fn try_take(&self) -> Option<T> {
        self.lock().take()
    }

    /// Takes it when it is made.
    pub fn take(&self) -> T {
        let mut made = self.lock();
        loop {
            if let Some(made) = made.take() {
                return made;
            }
            made = self.changed.wait(made).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
