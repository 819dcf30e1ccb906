//! The memory of parts, for all outputs of a process that share it: who hands over a part waits while the parts of others fill it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Waiting threads look again after this time.
const RECHECK: Duration = Duration::from_millis(50);

/// The memory that parts may take.
#[derive(Debug)]
pub struct GatherPool {
    limit: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of parts that were handed over, or that have room.
    parts: u64,
    /// Bytes of files that are still being filled, as far as they are told.
    outside: u64,
    /// The most bytes of both.
    peak: u64,
    /// Outputs that are at work.
    working: usize,
    waiting: usize,
    /// How often a thread had to wait.
    waits: u64,
}

/// The use of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolUse {
    /// Bytes of parts that are not in their outputs yet.
    pub parts: u64,
    /// Bytes of files that are being filled, as far as they are told.
    pub outside: u64,
    /// The most bytes of both so far.
    pub peak: u64,
    /// How often a thread had to wait.
    pub waits: u64,
}

impl GatherPool {
    /// A pool of `limit` bytes. A single part may be larger.
    pub fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default(), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that parts may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// What is used now.
    pub fn in_use(&self) -> PoolUse {
        let State { parts, outside, peak, waits, .. } = *self.lock();
        PoolUse { parts, outside, peak, waits }
    }

    /// Tells that files which are being filled grew by so many bytes, or shrank. They count like parts, but never wait themselves.
    pub fn tell_outside(&self, change: i64) {
        let mut state = self.lock();
        state.outside = state.outside.saturating_add_signed(change);
        state.note_peak();
        if change < 0 {
            self.wake(&state);
        }
    }

    /// Takes room for a part, if there is.
    pub(super) fn try_take(&self, bytes: u64) -> bool {
        let mut state = self.lock();
        let used = state.parts.saturating_add(state.outside);
        // What is outside does not become less by waiting.
        let fits = state.parts == 0 || used.saturating_add(bytes) <= self.limit;
        if fits {
            state.take(bytes);
        }
        fits
    }

    /// Takes room for a part that cannot wait.
    pub(super) fn take(&self, bytes: u64) {
        self.lock().take(bytes);
    }

    /// Gives back room.
    pub(super) fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.parts = state.parts.saturating_sub(bytes);
        self.wake(&state);
    }

    /// Waits a moment for a change. Returns whether nothing can be expected: nothing changed, and no output is at work.
    pub(super) fn wait(&self) -> bool {
        let mut state = self.lock();
        state.waiting += 1;
        state.waits += 1;
        let (mut state, timeout) = self.changed.wait_timeout(state, RECHECK).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        timeout.timed_out() && state.working == 0
    }

    /// Counts an output that begins to work, or with `false` one that ends.
    pub(super) fn count_working(&self, begins: bool) {
        let mut state = self.lock();
        state.working = if begins { state.working + 1 } else { state.working.saturating_sub(1) };
    }

    /// Makes waiting threads look again.
    pub(super) fn notify(&self) {
        self.wake(&self.lock());
    }

    fn wake(&self, state: &State) {
        // Notifying costs a system call even if no thread waits.
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

impl State {
    fn take(&mut self, bytes: u64) {
        self.parts = self.parts.saturating_add(bytes);
        self.note_peak();
    }

    fn note_peak(&mut self) {
        self.peak = self.peak.max(self.parts.saturating_add(self.outside));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_leaves_less_room_but_a_part_can_always_come() {
        let pool = GatherPool::new(100);
        pool.tell_outside(90);
        assert!(pool.try_take(50));
        assert!(!pool.try_take(1));
        pool.tell_outside(-80);
        assert!(pool.try_take(40));
        assert!(!pool.try_take(1));
        pool.give_back(90);
        assert!(pool.try_take(500));
        assert_eq!(pool.in_use(), PoolUse { parts: 500, outside: 10, peak: 510, waits: 0 });
    }
}
