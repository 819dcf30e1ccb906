//! The memory of parts, for all outputs of a process that share it: who hands over a part waits while the parts of others fill it. Chunks of
//! memory are used again, so that the system need not give and take them for each part.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes of a chunk: small beside a cluster, large beside a system call.
pub(super) const CHUNK: usize = 1 << 20;

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
    /// Bytes of parts that were handed over.
    parts: u64,
    /// Bytes of files that are still being filled.
    outside: u64,
    /// The most bytes of both.
    peak: u64,
    /// Chunks that are not in use.
    spare: Vec<Box<[u8]>>,
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
    /// Bytes of files that are being filled.
    pub outside: u64,
    /// The most bytes of both so far.
    pub peak: u64,
    /// How often a thread had to wait.
    pub waits: u64,
}

/// What came of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// Something changed.
    Changed,
    /// Nothing yet, but an output is at work.
    AtWork,
    /// Nothing, and nobody is at work.
    InVain,
}

/// Where bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// A file is being filled.
    Outside,
    /// It was handed over.
    Part,
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
        let state = self.lock();
        PoolUse { parts: state.parts, outside: state.outside, peak: state.peak, waits: state.waits }
    }

    /// Chunks for a file that is being filled, which does not wait.
    pub(super) fn chunks(&self, count: usize) -> Vec<Box<[u8]>> {
        let mut chunks = {
            let mut state = self.lock();
            state.outside = state.outside.saturating_add((count * CHUNK) as u64);
            state.note_peak();
            let left = state.spare.len().saturating_sub(count);
            state.spare.split_off(left)
        };
        chunks.resize_with(count, || vec![0; CHUNK].into_boxed_slice());
        chunks
    }

    /// Takes chunks back.
    pub(super) fn take_back(&self, mut chunks: Vec<Box<[u8]>>, counted: Counted) {
        if chunks.is_empty() {
            return;
        }
        let bytes = (chunks.len() * CHUNK) as u64;
        let mut state = self.lock();
        match counted {
            Counted::Outside => state.outside = state.outside.saturating_sub(bytes),
            Counted::Part => state.parts = state.parts.saturating_sub(bytes),
        }
        let used = state.parts.saturating_add(state.outside);
        let room = usize::try_from(self.limit.saturating_sub(used)).unwrap_or(usize::MAX) / CHUNK;
        let kept = room.saturating_sub(state.spare.len()).min(chunks.len());
        state.spare.extend(chunks.drain(..kept));
        // Others need the memory of those that are not in use.
        let spare = state.spare.len().min(room);
        let dropped = state.spare.split_off(spare);
        self.wake(&state);
        drop(state);
        drop((dropped, chunks));
    }

    /// Takes room for a part, if there is. `is_counted`: it was counted while it was being filled.
    pub(super) fn try_take(&self, bytes: u64, is_counted: bool) -> bool {
        let mut state = self.lock();
        let more = if is_counted { 0 } else { bytes };
        let used = state.parts.saturating_add(state.outside).saturating_add(more);
        // What is outside does not become less by waiting.
        let fits = state.parts == 0 || used <= self.limit;
        if fits {
            state.take(bytes, is_counted);
        }
        fits
    }

    /// Takes room for a part that cannot wait.
    pub(super) fn take(&self, bytes: u64, is_counted: bool) {
        self.lock().take(bytes, is_counted);
    }

    /// Gives back room.
    pub(super) fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.parts = state.parts.saturating_sub(bytes);
        self.wake(&state);
    }

    /// Waits a moment for a change.
    pub(super) fn wait(&self) -> Waited {
        let mut state = self.lock();
        state.waiting += 1;
        state.waits += 1;
        let (mut state, timeout) = self.changed.wait_timeout(state, RECHECK).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        match (timeout.timed_out(), state.working) {
            (false, _) => Waited::Changed,
            (true, 0) => Waited::InVain,
            (true, _) => Waited::AtWork,
        }
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
    fn take(&mut self, bytes: u64, is_counted: bool) {
        if is_counted {
            self.outside = self.outside.saturating_sub(bytes);
        }
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
    fn what_is_being_filled_leaves_less_room_but_a_part_can_always_come() {
        let mb = CHUNK as u64;
        let pool = GatherPool::new(10 * mb);
        let filled = pool.chunks(9);
        assert!(pool.try_take(5 * mb, false));
        assert!(!pool.try_take(1, false));
        pool.take_back(filled, Counted::Outside);
        assert_eq!(pool.lock().spare.len(), 5);
        assert!(pool.try_take(4 * mb, false));
        assert!(!pool.try_take(2 * mb, false));
        pool.give_back(9 * mb);
        let filled = pool.chunks(20);
        assert_eq!(pool.lock().spare.len(), 0);
        assert!(pool.try_take(20 * mb, true));
        assert_eq!(pool.in_use(), PoolUse { parts: 20 * mb, outside: 0, peak: 20 * mb, waits: 0 });
        pool.take_back(filled, Counted::Part);
        assert_eq!((pool.in_use().parts, pool.lock().spare.len()), (0, 10));
    }
}
