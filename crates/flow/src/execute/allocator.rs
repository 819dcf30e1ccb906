//! Limits on the memory that the system's allocator keeps after it was freed. Kept memory counts as memory of the process,
//! but handing pages back to the kernel costs time. The [`Budget`] decides how much a job may take.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::budget::Budget;
use super::glibc::{self, Limit};

/// Largest M_MMAP_THRESHOLD that glibc accepts (`DEFAULT_MMAP_THRESHOLD_MAX`).
const MOST: u64 = 32 << 20;
/// Initial M_MMAP_THRESHOLD of glibc (`DEFAULT_MMAP_THRESHOLD`).
const LEAST: u64 = 128 << 10;
/// Memory that an arena may keep before the needs of the work are known.
const UNKNOWN: u64 = 1 << 20;
/// Most arenas of threads that fill clusters.
const WRITING: usize = 2;
/// The arenas of all threads that fill may keep one part in this many of a budget in a process that is not [`ours`].
const LITTLE_SHARE: u64 = 64;
/// Memory is given back when one part in this many of a budget was filled since the last time: it takes a millisecond or two.
const TRIM_SHARE: u64 = 16;

/// Whether the allocator stays as the process has it.
static LEFT_ALONE: AtomicBool = AtomicBool::new(false);
/// Number of arenas of this process if [`ours`] was called, else 0.
static ARENAS: AtomicUsize = AtomicUsize::new(0);
/// What an arena may keep, for each [`LittleKept`].
static LITTLE_KEPT: Mutex<Vec<Arc<AtomicU64>>> = Mutex::new(Vec::new());
/// What a user sets to choose glibc's limits for a process.
const USERS: [&str; 3] = ["MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"];

/// Makes the allocator keep about `bytes` of freed memory for later allocations: returning pages to the kernel and
/// clearing them again costs more than decoding or encoding. If the process is not [`ours`], this frees one large block:
/// glibc raises its limits to the size of the largest mapped block that was ever freed (`mallopt(3)`, M_MMAP_THRESHOLD).
/// The block is not touched. Other allocators are not changed.
pub(crate) fn keep(bytes: u64) {
    if is_left_alone() {
        return;
    }
    match ARENAS.load(Ordering::Relaxed) {
        // A little less than the largest threshold. `black_box` keeps the allocation.
        0 => {
            let most = bytes.min(MOST - (1 << 20));
            drop(std::hint::black_box(Vec::<u8>::with_capacity(usize::try_from(most).unwrap_or(0))));
        }
        arenas => set(arenas, bytes / arenas as u64, 0),
    }
}

/// The same for work that drops what it has made, and makes it again: where the process is [`ours`], up to `dropped` bytes stay at the
/// ends of the arenas, instead of going back to the kernel whenever they are free.
pub(crate) fn keep_dropped(bytes: u64, dropped: u64) {
    match ARENAS.load(Ordering::Relaxed) {
        0 => keep(bytes),
        arenas => set(arenas, bytes / arenas as u64, dropped / arenas as u64),
    }
}

/// Declares that this process runs basketry alone, so that its allocator may be limited: to little memory first, and later
/// to what the work leaves of the budget. glibc gives each thread an arena that keeps freed memory. The number of arenas
/// is limited to the budget's threads, and larger blocks are mapped one by one and returned to the kernel at once. Has an
/// effect with glibc only.
pub fn ours(budget: &Budget) {
    ours_within(budget, budget.threads.max(1));
}

/// The same for a process whose threads fill clusters and hand them to each other. What a thread frees goes back to its
/// arena, where other threads do not find it, while the budget counts it as free. So all threads share a few arenas.
/// Must come before a second thread allocates: glibc looks at the number once.
pub fn ours_for_writing(budget: &Budget) {
    ours_within(budget, budget.threads.clamp(1, WRITING));
}

/// Declares that the allocator is another's business: from here on no limit of it is changed and nothing asked of it. For a library in a
/// program that has set its own, or that has an allocator of its own. What it keeps of freed memory is then not limited by any budget.
pub fn leave_alone() {
    LEFT_ALONE.store(true, Ordering::Relaxed);
}

fn is_left_alone() -> bool {
    LEFT_ALONE.load(Ordering::Relaxed)
}

/// Whether this process runs basketry alone.
pub(crate) fn is_ours() -> bool {
    ARENAS.load(Ordering::Relaxed) > 0
}

fn ours_within(budget: &Budget, arenas: usize) {
    ARENAS.store(arenas, Ordering::Relaxed);
    set(arenas, (budget.memory / 64 / arenas as u64).min(UNKNOWN), 0);
}

/// As long as this lives, the allocator of a process that is not [`ours`] keeps little of what several threads free. glibc has an arena
/// for each of them; by itself it keeps up to 64 MB at the end of each arena, where the budget counts them as free. Afterwards its limits
/// are the largest that it takes by itself. Has an effect with glibc only, and none where the user has set the limits.
#[derive(Debug)]
pub(crate) struct LittleKept {
    budget: u64,
    /// Bytes that an arena may keep.
    share: Arc<AtomicU64>,
    /// Bytes filled since memory was given back.
    filled: AtomicU64,
}

impl LittleKept {
    /// For a budget of so many bytes. Sets no limits yet.
    pub fn new(budget: u64) -> Self {
        let share = Arc::new(AtomicU64::new(MOST));
        LITTLE_KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&share));
        Self { budget, share, filled: AtomicU64::new(0) }
    }

    /// Sets the limits for this number of threads, unless they were set for more before.
    pub fn keep_for(&self, threads: usize) {
        let share = self.budget / LITTLE_SHARE / threads as u64;
        if self.share.fetch_min(share, Ordering::Relaxed) > share {
            set_least(&LITTLE_KEPT.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Gives freed memory of all arenas back to the kernel, where enough was filled since the last time.
    pub fn give_back(&self, filled: u64) {
        if self.filled.fetch_add(filled, Ordering::Relaxed) + filled >= self.budget / TRIM_SHARE {
            self.filled.store(0, Ordering::Relaxed);
            if !is_left_alone() {
                glibc::trim();
            }
        }
    }
}

impl Drop for LittleKept {
    fn drop(&mut self) {
        let mut all = LITTLE_KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|share| !Arc::ptr_eq(share, &self.share));
        set_least(&all);
    }
}

/// Sets the smallest of these limits.
fn set_least(shares: &[Arc<AtomicU64>]) {
    if !is_left_alone() && !USERS.iter().any(|name| std::env::var_os(name).is_some()) {
        set_limits(shares.iter().map(|share| share.load(Ordering::Relaxed)).min().unwrap_or(MOST), 0);
    }
}

fn set(arenas: usize, share: u64, kept: u64) {
    static LAST: Mutex<(u64, u64)> = Mutex::new((0, 0));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if *last != (share, kept) {
        *last = (share, kept);
        glibc::set(Limit::Arenas, arenas);
        set_limits(share, kept);
    }
}

/// Sets the size from which blocks are mapped one by one, and of the memory that an arena may keep at its end, at least `kept`.
fn set_limits(share: u64, kept: u64) {
    let share = share.clamp(LEAST, MOST);
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    glibc::set(Limit::Mapped, size(share));
    // glibc's own trim threshold is twice the mmap threshold.
    glibc::set(Limit::Kept, size(kept.max(2 * share)));
}
