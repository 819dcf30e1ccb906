//! Limits the memory of clusters: a context reserves memory before it begins a cluster, and the committer releases it when
//! the cluster is in the file. Contexts that are ahead wait here (backpressure). The limiter counts bytes; a context's
//! position in the output comes from [`commit_order`](super::commit_order).

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use rootfile::{Error, Result};

use super::sync::{Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, PATIENCE, ThreadId, current};

/// What is left for callers' copies and the allocator. A context that may wait does not use it, nor what compressors take. In the order of
/// tasks it never decides where a cluster ends: it depends on the number of threads, and the bytes must not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reserve {
    /// Bytes for all threads together.
    pub all: u64,
    /// Bytes for each thread after the first, up to [`MANY`].
    pub each: u64,
}

#[derive(Debug)]
pub(crate) struct MemoryLimiter {
    limit: u64,
    reserve: Reserve,
    compressors: Arc<AtomicU64>,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of clusters that are being filled or wait to be appended.
    held: u64,
    /// Bytes reserved as long as files are open: their buffers and metadata.
    fixed: u64,
    /// Open files. One thread may fill a cluster of each at once.
    files: u64,
    /// Largest number of bytes that was ever reserved.
    peak: u64,
    /// Number of clusters that are being filled, by the thread that began them.
    active: HashMap<ThreadId, usize>,
    /// Number of threads that are in a call which fills, and how many of them wait.
    running: usize,
    waiting: usize,
    /// A context that could not wait began a cluster without free memory. Clusters end early until memory is free again.
    short: bool,
    /// The most threads that ever wanted to fill clusters at the same time.
    threads: usize,
    /// The task that others waited for in vain: nobody filled it.
    stalled_at: Option<u64>,
    /// How often memory was released.
    releases: u64,
}

/// The position of a context's clusters in the order of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueuePosition {
    /// There is no order: clusters are appended as they arrive.
    Unordered,
    /// The next one. Others wait for it, so it cannot wait for them.
    Next,
    /// Others are appended first, beginning with those of the task `head`. `reserve` bytes stay free for them. `is_begun`: a context has
    /// filled entries of that task.
    Later { reserve: u64, head: u64, is_begun: bool },
    /// The output was given up.
    Stopped,
}

/// What a thread does when it waits in vain, because all threads that fill wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtStandstill {
    /// It says so, and the caller makes room.
    Report,
    /// There is nothing that could make room. If that does not change for a while it goes on with too little memory.
    GoOn,
}

/// What came of a request for the memory of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// So many bytes are reserved.
    Reserved(u64),
    /// The thread would wait in vain, or waited and should see whether there is room to be made now.
    Stalled,
    /// There is work for it while it waits.
    Work,
}

/// What came of a request for more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// It is reserved.
    Fits,
    /// It is reserved, but there is too little for more: the cluster should end.
    Full,
    /// All threads that fill wait, and no memory will be released.
    Stalled,
    /// There is work for the thread while it waits.
    Work,
}

/// Memory use at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryUse {
    pub now: u64,
    pub peak: u64,
    pub waiting: usize,
}

/// Most threads of which each takes memory of its own: a C library has few arenas for more.
const MANY: usize = 16;

/// Waiting threads check again after this time, since their position may change without a notification.
const RECHECK: Duration = Duration::from_millis(50);

impl MemoryLimiter {
    /// A limiter of `limit` bytes, of which others take the `reserve` and as many as `compressors` says.
    pub fn new(limit: u64, reserve: Reserve, compressors: Arc<AtomicU64>) -> Self {
        Self { limit, reserve, compressors, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Bytes for files and clusters, if threads can wait for each other.
    fn room(&self, state: &State) -> u64 {
        let more = state.threads.clamp(1, MANY) as u64 - 1;
        self.limit
            .saturating_sub(self.reserve.all + self.reserve.each * more + self.compressors.load(Ordering::Relaxed))
    }

    /// The same for a thread that would wait. If every other thread already waits, idle contexts hold the memory. Then this thread may
    /// use the reserve as well, or all would wait for ever; but where several threads fill, compressors are in use.
    fn room_for_next(&self, state: &State) -> u64 {
        match state.running <= state.waiting + 1 {
            true if state.threads > 1 => self.limit.saturating_sub(self.compressors.load(Ordering::Relaxed)),
            true => self.limit,
            false => self.room(state),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes of the budget.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Largest memory of one cluster. A cluster that reaches it ends early.
    pub fn cluster_limit(&self) -> u64 {
        let state = self.lock();
        let usual = state.files.max(1) + 1;
        let clusters = if state.short { (state.active.values().sum::<usize>() as u64 + 1).max(usual) } else { usual };
        self.limit.saturating_sub(state.fixed) / clusters
    }

    /// Reserves memory for as long as a file is open. If `least` more bytes would not fit, the error is the smallest limit that would do.
    pub fn reserve_fixed(&self, bytes: u64, least: u64) -> std::result::Result<(), u64> {
        let mut state = self.lock();
        let fixed = state.fixed + bytes;
        if fixed + least > self.limit {
            return Err(fixed + least);
        }
        state.fixed = fixed;
        Ok(())
    }

    /// Counts a file that was opened, or with `false` one that was closed.
    pub fn count_file(&self, opened: bool) {
        let mut state = self.lock();
        state.files = if opened { state.files + 1 } else { state.files.saturating_sub(1) };
    }

    /// Releases memory that was reserved for a file.
    pub fn release_fixed(&self, bytes: u64) {
        let mut state = self.lock();
        state.fixed = state.fixed.saturating_sub(bytes);
        self.wake(&state);
    }

    /// Reserves `bytes` for a cluster that this thread begins. Returns the bytes reserved. A context that cannot wait gets the bytes
    /// that are free, and reserves more with [`MemoryLimiter::grow`]. A thread does not wait while `has_work` says that there is
    /// other work; [`MemoryLimiter::notify`] makes it ask again.
    ///
    /// A thread that is filling a cluster of another output does not wait: it could wait for itself.
    pub fn reserve(
        &self,
        bytes: u64,
        position: impl Fn() -> QueuePosition,
        has_work: impl Fn() -> bool,
        then: AtStandstill,
    ) -> Result<Begun> {
        let me = current().id();
        let mut state = self.lock();
        let mut checks = 0;
        loop {
            let (room, position) = (self.room_for_next(&state), position());
            if state.may_begin((self.limit, room), bytes, position, Some(me))? {
                return Ok(Begun::Reserved(state.begin(self.limit, bytes, me)));
            }
            if has_work() {
                return Ok(Begun::Work);
            }
            if state.is_stalled(position, checks, then) {
                if then == AtStandstill::Report {
                    return Ok(Begun::Stalled);
                }
                state.short |= bytes > state.free(self.limit);
                return Ok(Begun::Reserved(state.begin(self.limit, bytes, me)));
            }
            state.count_threads();
            state = self.wait(state, &mut checks);
            if then == AtStandstill::GoOn && checks == 0 {
                return Ok(Begun::Stalled);
            }
        }
    }

    /// Waits until memory may have been released, and counts how often in a row nothing changed.
    fn wait<'a>(&self, mut state: MutexGuard<'a, State>, checks: &mut u32) -> MutexGuard<'a, State> {
        state.waiting += 1;
        let (mut state, timeout) = self.freed.wait_timeout(state, RECHECK).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        *checks = if timeout.timed_out() { *checks + 1 } else { 0 };
        state
    }

    /// The same, if no waiting is needed. `waits`: whether the caller would wait otherwise, and could do so for itself. Who hands back
    /// instead is refused though the thread is filling another cluster.
    pub fn try_reserve(&self, bytes: u64, position: QueuePosition, waits: bool) -> Result<Option<u64>> {
        let me = current().id();
        let mut state = self.lock();
        let room = self.room_for_next(&state);
        let may_begin = state.may_begin((self.limit, room), bytes, position, waits.then_some(me))?;
        Ok(may_begin.then(|| state.begin(self.limit, bytes, me)))
    }

    /// Reserves what is free for a cluster that begins although it is too little, unless another thread is in a call that fills and does not
    /// wait: that one may release memory.
    pub fn reserve_anyway(&self, bytes: u64) -> Option<u64> {
        let mut state = self.lock();
        if state.running > state.waiting + 1 {
            return None;
        }
        state.short |= bytes > state.free(self.limit);
        Some(state.begin(self.limit, bytes, current().id()))
    }

    /// Whether a cluster at this position may take more bytes than it has. Without an order that never waits: clusters end early instead.
    pub fn may_grow(&self, bytes: u64, position: QueuePosition) -> Result<bool> {
        let state = self.lock();
        Ok(position == QueuePosition::Unordered || state.has_room(self.room(&state), bytes, position)?)
    }

    /// The part of the memory that a cluster may take where all wait.
    pub fn share(&self) -> u64 {
        let state = self.lock();
        self.limit / (state.active.values().sum::<usize>() as u64 + 1)
    }

    /// Whether a cluster began without free memory, and nobody else is in a call that fills.
    pub fn is_short(&self) -> bool {
        let state = self.lock();
        state.short && state.running <= state.waiting + 1
    }

    /// A number that changes when memory is released.
    pub fn releases(&self) -> u64 {
        self.lock().releases
    }

    /// Reserves `more` bytes for a cluster that is being filled and has `held`, and waits for earlier clusters to be appended, as
    /// [`MemoryLimiter::reserve`] does. The memory is [`Growth::Full`] where nothing is before this cluster, or at a standstill where
    /// it has its share.
    pub fn grow(
        &self,
        (held, more): (u64, u64),
        position: impl Fn() -> QueuePosition,
        has_work: impl Fn() -> bool,
        then: AtStandstill,
    ) -> Result<Growth> {
        let me = current().id();
        let mut state = self.lock();
        let mut checks = 0;
        loop {
            let position = position();
            // A thread that fills several clusters could wait for itself.
            let own = state.active.get(&me).copied().unwrap_or(0);
            let alone = state.active.values().sum::<usize>() == own;
            let unordered = position == QueuePosition::Unordered;
            // Clusters that wait to be appended still have their memory.
            let room = if alone && unordered { self.limit } else { self.room(&state) };
            let fits = state.has_room(room, more, position)? || own > 1 || alone && !unordered;
            if fits || unordered {
                state.take(more);
                return Ok(if fits { Growth::Fits } else { Growth::Full });
            }
            if has_work() {
                return Ok(Growth::Work);
            }
            if state.is_stalled(position, checks, then) {
                if then == AtStandstill::Report {
                    return Ok(Growth::Stalled);
                }
                // Nobody uses what is left for those before. Where nothing is left, clusters that end at once would have few entries.
                let share = self.limit / (state.active.values().sum::<usize>() as u64 + 1);
                let fits = more <= state.free(self.limit) || held + more <= share;
                state.take(more);
                return Ok(if fits { Growth::Fits } else { Growth::Full });
            }
            state = self.wait(state, &mut checks);
            if then == AtStandstill::GoOn && checks == 0 {
                return Ok(Growth::Stalled);
            }
        }
    }

    /// Bytes that are not reserved.
    pub fn free(&self) -> u64 {
        let state = self.lock();
        state.free(self.room(&state))
    }

    /// Whether several threads fill, and less than `bytes` are free.
    pub fn is_scarce(&self, bytes: u64) -> bool {
        self.threads() > 1 && !self.has_free(bytes)
    }

    /// Whether `bytes` are free.
    pub fn has_free(&self, bytes: u64) -> bool {
        bytes <= self.free()
    }

    /// Changes the reservation of a cluster from `before` to `now` bytes.
    pub fn resize(&self, before: u64, now: u64) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(before);
        state.take(now);
        if now < before {
            state.releases += 1;
            self.wake(&state);
        }
    }

    /// Ends the filling of a cluster that `thread` began. Its bytes stay reserved until [`MemoryLimiter::release`].
    pub fn end_filling(&self, thread: ThreadId) {
        let mut state = self.lock();
        if let Some(active) = state.active.get_mut(&thread) {
            *active -= 1;
            if *active == 0 {
                state.active.remove(&thread);
            }
        }
        state.releases += 1;
        self.wake(&state);
    }

    /// Releases bytes.
    pub fn release(&self, bytes: u64) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(bytes);
        state.releases += u64::from(bytes > 0);
        state.short &= state.fixed + state.held > self.limit / 2;
        self.wake(&state);
    }

    /// Counts a thread that begins a call which fills, or with `false` one that ends it.
    pub fn count_running(&self, begins: bool) {
        let mut state = self.lock();
        state.running = if begins { state.running + 1 } else { state.running.saturating_sub(1) };
        if !begins {
            self.wake(&state);
        }
    }

    /// Makes waiting threads check again.
    pub fn notify(&self) {
        self.wake(&self.lock());
    }

    fn wake(&self, state: &State) {
        // Notifying costs a system call even if no thread waits.
        if state.waiting > 0 {
            self.freed.notify_all();
        }
    }

    /// The most threads that ever wanted to fill clusters at the same time.
    pub fn threads(&self) -> usize {
        self.lock().threads
    }

    /// The memory in use.
    pub fn in_use(&self) -> MemoryUse {
        let state = self.lock();
        MemoryUse { now: state.fixed + state.held, peak: state.peak, waiting: state.waiting }
    }
}

impl State {
    fn free(&self, limit: u64) -> u64 {
        limit.saturating_sub(self.fixed + self.held)
    }

    /// Whether a context at this position may reserve `bytes` of `room`.
    fn has_room(&self, room: u64, bytes: u64, position: QueuePosition) -> Result<bool> {
        let free = self.free(room);
        match position {
            QueuePosition::Stopped => Err(stopped()),
            QueuePosition::Next => Ok(true),
            QueuePosition::Unordered => Ok(bytes <= free),
            QueuePosition::Later { reserve, .. } => Ok(bytes + reserve <= free),
        }
    }

    /// Whether a thread at this position waits in vain: all threads that are in a call which fills wait, and nobody goes on with the
    /// task that comes next. Who fills that task may just be between two calls, so nothing must have changed for some checks, unless
    /// memory is known to be short. A thread that only reports it need not wait if the task has not begun, or was waited for in vain before.
    fn is_stalled(&mut self, position: QueuePosition, checks: u32, then: AtStandstill) -> bool {
        let head = match position {
            QueuePosition::Later { head, is_begun, .. } => Some((head, is_begun)),
            _ => None,
        };
        let at_once = head.is_some_and(|(head, is_begun)| !is_begun || self.stalled_at == Some(head));
        let patient = checks >= PATIENCE || self.short || at_once && then == AtStandstill::Report;
        let stalled = self.running <= self.waiting + 1 && patient;
        if stalled {
            self.stalled_at = head.map(|(head, _)| head).or(self.stalled_at);
        }
        stalled
    }

    /// Whether a cluster of `bytes` may begin now. `waits`: the thread that would wait if it may not, perhaps for itself.
    fn may_begin(
        &mut self,
        (limit, room): (u64, u64),
        bytes: u64,
        position: QueuePosition,
        waits: Option<ThreadId>,
    ) -> Result<bool> {
        let first = position == QueuePosition::Unordered && self.active.is_empty();
        let is_own = waits.is_some_and(|me| self.active.contains_key(&me));
        let may_begin = self.has_room(room, bytes, position)? || first || is_own;
        self.short |= may_begin && bytes > self.free(limit);
        Ok(may_begin)
    }

    fn begin(&mut self, limit: u64, bytes: u64, me: ThreadId) -> u64 {
        *self.active.entry(me).or_default() += 1;
        self.count_threads();
        let taken = bytes.min(self.free(limit));
        self.take(taken);
        taken
    }

    fn count_threads(&mut self) {
        self.threads = self.threads.max(self.active.len() + self.waiting);
    }

    fn take(&mut self, bytes: u64) {
        self.held += bytes;
        self.peak = self.peak.max(self.fixed + self.held);
    }
}

#[cold]
pub(crate) fn stopped() -> Error {
    Error::request("the output was given up after an earlier error")
}
