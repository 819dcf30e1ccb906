//! Limits on the memory that the system's allocator keeps after it was freed. Kept memory counts as memory of the process,
//! but handing pages back to the kernel costs time. The [`Budget`] decides how much a job may take.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::budget::Budget;

/// Largest M_MMAP_THRESHOLD that glibc accepts (`DEFAULT_MMAP_THRESHOLD_MAX`).
const MOST: u64 = 32 << 20;
/// Initial M_MMAP_THRESHOLD of glibc (`DEFAULT_MMAP_THRESHOLD`).
const LEAST: u64 = 128 << 10;
/// Memory that an arena may keep before the needs of the work are known.
const UNKNOWN: u64 = 1 << 20;
/// Most arenas of threads that fill clusters.
const WRITING: usize = 2;

/// Number of arenas of this process if [`ours`] was called, else 0.
static ARENAS: AtomicUsize = AtomicUsize::new(0);

/// Makes the allocator keep about `bytes` of freed memory for later allocations: returning pages to the kernel and
/// clearing them again costs more than decoding or encoding. If the process is not [`ours`], this frees one large block:
/// glibc raises its limits to the size of the largest mapped block that was ever freed (`mallopt(3)`, M_MMAP_THRESHOLD).
/// The block is not touched. Other allocators are not changed.
pub(crate) fn keep(bytes: u64) {
    match ARENAS.load(Ordering::Relaxed) {
        // A little less than the largest threshold. `black_box` keeps the allocation.
        0 => {
            let most = bytes.min(MOST - (1 << 20));
            drop(std::hint::black_box(Vec::<u8>::with_capacity(usize::try_from(most).unwrap_or(0))));
        }
        arenas => set(arenas, bytes / arenas as u64),
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

fn ours_within(budget: &Budget, arenas: usize) {
    ARENAS.store(arenas, Ordering::Relaxed);
    set(arenas, (budget.memory / 64 / arenas as u64).min(UNKNOWN));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "a function of the C library that takes two numbers, and has no safe form")]
fn set(arenas: usize, share: u64) {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    let share = libc::c_int::try_from(share.clamp(LEAST, MOST)).unwrap_or(libc::c_int::MAX);
    if LAST.swap(share.unsigned_abs() as usize, Ordering::Relaxed) == share.unsigned_abs() as usize {
        return;
    }
    let arenas = libc::c_int::try_from(arenas).unwrap_or(libc::c_int::MAX);
    // glibc's own trim threshold is twice the mmap threshold.
    let options = [(libc::M_ARENA_MAX, arenas), (libc::M_MMAP_THRESHOLD, share), (libc::M_TRIM_THRESHOLD, 2 * share)];
    for (option, value) in options {
        // SAFETY: `mallopt` takes two numbers and locks its own state. A refused call changes nothing.
        unsafe { libc::mallopt(option, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn set(_arenas: usize, _share: u64) {}
