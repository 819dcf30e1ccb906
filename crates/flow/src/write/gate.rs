//! Memory for clusters: taken before a cluster is begun, given back when it is in the file. Who is ahead waits.
//! It counts bytes; whose turn it is, is known to the tree (`shared`).

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use rootfile::{Error, Result};

use super::sync::{Condvar, Mutex, MutexGuard, ThreadId, current};

#[derive(Debug)]
pub(super) struct Gate {
    limit: u64,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of clusters that are filled or wait.
    held: u64,
    /// Bytes that are taken for as long as a file is open: its buffers and metadata.
    fixed: u64,
    /// Files that are open: one thread may fill a cluster of each at once.
    files: u64,
    /// The most that was ever taken.
    peak: u64,
    /// Clusters that are being filled, by the thread that began them.
    active: HashMap<ThreadId, usize>,
    /// Fillers that wait here.
    waiting: usize,
    /// Somebody who could not wait went in without room: clusters end early until there is room again.
    short: bool,
}

/// What a cluster that is to begin has before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing: what is filled is written.
    Free,
    /// Nothing, and others wait for it: it cannot wait for them.
    Next,
    /// Others that are to be written first: so much room is left for them.
    Later { besides: u64 },
    /// The output is given up.
    Stopped,
}

/// What is held at the gate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub now: u64,
    pub peak: u64,
    pub waiting: usize,
}

/// Somebody who waits looks again after so long: whose turn it is may change without the gate's knowing.
const PATIENCE: Duration = Duration::from_millis(50);

impl Gate {
    /// A gate to so much memory.
    pub fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default(), freed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most that one cluster may take; it ends early there.
    pub fn most(&self) -> u64 {
        let state = self.lock();
        let usual = state.files.max(1) + 1;
        let clusters = if state.short { (state.active.values().sum::<usize>() as u64 + 1).max(usual) } else { usual };
        self.limit.saturating_sub(state.fixed) / clusters
    }

    /// Takes memory for as long as a file is open, or refuses where `least` besides would not fit.
    pub fn fix(&self, bytes: u64, least: u64) -> Result<()> {
        let mut state = self.lock();
        let fixed = state.fixed + bytes;
        if fixed + least > self.limit {
            return Err(Error::request(format!(
                "a memory budget of {} MB is too small: the smallest that would do is {} MB",
                self.limit / 1_000_000,
                (fixed + least).div_ceil(1_000_000)
            )));
        }
        state.fixed = fixed;
        Ok(())
    }

    /// Says that a file is opened, or with `false` that it is closed.
    pub fn count_file(&self, opened: bool) {
        let mut state = self.lock();
        state.files = if opened { state.files + 1 } else { state.files.saturating_sub(1) };
    }

    /// Gives back what was taken for a file.
    pub fn unfix(&self, bytes: u64) {
        let mut state = self.lock();
        state.fixed = state.fixed.saturating_sub(bytes);
        self.wake(&state);
    }

    /// Takes `bytes` for a cluster that this thread begins; says how many it got and how long that took. Who cannot wait
    /// gets what there is, and takes more when it needs it.
    ///
    /// A thread that fills another cluster already, of another output, does not wait: it might wait for itself.
    pub fn enter(&self, bytes: u64, turn: impl Fn() -> Turn) -> Result<(u64, Duration)> {
        let begun = Instant::now();
        let me = current().id();
        let mut state = self.lock();
        while !state.goes(self.limit, bytes, turn(), me)? {
            state.waiting += 1;
            state = self.freed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        Ok((state.begin(self.limit, bytes, me), begun.elapsed()))
    }

    /// The same, if that needs no waiting.
    pub fn try_enter(&self, bytes: u64, turn: Turn) -> Result<Option<u64>> {
        let me = current().id();
        let mut state = self.lock();
        let goes = state.goes(self.limit, bytes, turn, me)?;
        Ok(goes.then(|| state.begin(self.limit, bytes, me)))
    }

    /// Takes `more` bytes for a cluster that is being filled. It waits for those before it to be written; where nothing
    /// is before it, it says false if there is no room: the cluster had better end.
    pub fn grow(&self, more: u64, turn: impl Fn() -> Turn) -> Result<bool> {
        let me = current().id();
        let mut state = self.lock();
        loop {
            let turn = turn();
            let fits = state.has_room(self.limit, more, turn)?;
            // Who fills several clusters in turn might wait for itself.
            let own = state.active.get(&me).copied().unwrap_or(0);
            let fits = fits || own > 1 || state.active.values().sum::<usize>() == own;
            if fits || turn == Turn::Free {
                state.take(more);
                return Ok(fits);
            }
            state.waiting += 1;
            state = self.freed.wait_timeout(state, PATIENCE).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Bytes that nobody has taken.
    pub fn free(&self) -> u64 {
        self.lock().free(self.limit)
    }

    /// Whether there are so many bytes to take.
    pub fn has(&self, bytes: u64) -> bool {
        bytes <= self.free()
    }

    /// Says that a cluster takes `now` bytes instead of `before`.
    pub fn resize(&self, before: u64, now: u64) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(before);
        state.take(now);
        if now < before {
            self.wake(&state);
        }
    }

    /// Says that a cluster that `thread` began is filled; its bytes stay taken until [`Gate::release`].
    pub fn leave(&self, thread: ThreadId) {
        let mut state = self.lock();
        if let Some(active) = state.active.get_mut(&thread) {
            *active -= 1;
            if *active == 0 {
                state.active.remove(&thread);
            }
        }
        self.wake(&state);
    }

    /// Gives bytes back.
    pub fn release(&self, bytes: u64) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(bytes);
        state.short &= state.fixed + state.held > self.limit / 2;
        self.wake(&state);
    }

    /// Lets those who wait look again.
    pub fn look_again(&self) {
        self.wake(&self.lock());
    }

    fn wake(&self, state: &State) {
        // Waking nobody is a system call all the same.
        if state.waiting > 0 {
            self.freed.notify_all();
        }
    }

    pub fn held(&self) -> Held {
        let state = self.lock();
        Held { now: state.fixed + state.held, peak: state.peak, waiting: state.waiting }
    }
}

impl State {
    fn free(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.fixed + self.held)
    }

    /// Whether so many bytes may be taken by whose turn it is.
    fn has_room(&self, limit: u64, bytes: u64, turn: Turn) -> Result<bool> {
        let free = self.free(limit);
        match turn {
            Turn::Stopped => Err(stopped()),
            Turn::Next => Ok(true),
            Turn::Free => Ok(bytes <= free),
            Turn::Later { besides } => Ok(bytes + besides <= free),
        }
    }

    /// Whether a cluster of so many bytes may begin now.
    fn goes(&mut self, limit: u64, bytes: u64, turn: Turn, me: ThreadId) -> Result<bool> {
        let first = turn == Turn::Free && self.active.is_empty();
        let goes = self.has_room(limit, bytes, turn)? || first || self.active.contains_key(&me);
        self.short |= goes && bytes > self.free(limit);
        Ok(goes)
    }

    fn begin(&mut self, limit: u64, bytes: u64, me: ThreadId) -> u64 {
        *self.active.entry(me).or_default() += 1;
        let taken = bytes.min(self.free(limit));
        self.take(taken);
        taken
    }

    fn take(&mut self, bytes: u64) {
        self.held += bytes;
        self.peak = self.peak.max(self.fixed + self.held);
    }
}

#[cold]
pub(super) fn stopped() -> Error {
    Error::request("the output is given up: something else went wrong while it was written")
}
