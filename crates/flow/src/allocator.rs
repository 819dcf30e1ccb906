//! What the system's allocator is asked for: to keep little of what is given back where memory is scarce, and much where
//! that is faster. What it keeps counts for whoever looks at the process. How much a job may take is the [`Budget`]'s to say.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::budget::Budget;

/// The most that glibc takes for M_MMAP_THRESHOLD (`DEFAULT_MMAP_THRESHOLD_MAX`).
const MOST: u64 = 32 << 20;
/// What it begins with (`DEFAULT_MMAP_THRESHOLD`).
const LEAST: u64 = 128 << 10;
/// What an arena may keep as long as nobody knows what the work needs.
const UNKNOWN: u64 = 1 << 20;

/// Arenas of this process, where it is ours to say; otherwise 0.
static ARENAS: AtomicUsize = AtomicUsize::new(0);

/// Lets the allocator keep what is given back for what comes next, about so many bytes: handing pages back to the kernel
/// and having them cleared again costs more than decoding or encoding. Where the process is not [`ours`], glibc is led to
/// that: it raises its limits to the size of the largest mapped block that was ever freed (`mallopt(3)`,
/// M_MMAP_THRESHOLD); elsewhere this does nothing. The block is not touched.
pub(crate) fn keep(bytes: u64) {
    match ARENAS.load(Ordering::Relaxed) {
        // A little less than what it raises them to at most. What nobody sees the compiler leaves out.
        0 => {
            let most = bytes.min(MOST - (1 << 20));
            drop(std::hint::black_box(Vec::<u8>::with_capacity(usize::try_from(most).unwrap_or(0))));
        }
        arenas => set(arenas, bytes / arenas as u64),
    }
}

/// Says that the process is ours alone, so that what its allocator keeps may be limited: to little, until it is known what
/// the work leaves of the budget. Each thread may have an arena of its own, so which of them keeps how much would depend
/// on who did what; there are no more of them than threads in the budget, and what is larger than an arena's share is
/// mapped by itself and goes back to the kernel at once. Only glibc's allocator is asked.
pub fn ours(budget: &Budget) {
    let arenas = budget.threads.max(1);
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
    // At an arena's end twice as much may be free, as glibc itself has it.
    let options = [(libc::M_ARENA_MAX, arenas), (libc::M_MMAP_THRESHOLD, share), (libc::M_TRIM_THRESHOLD, 2 * share)];
    for (option, value) in options {
        // SAFETY: it takes numbers alone, and locks what it changes. One that is refused changes nothing.
        unsafe { libc::mallopt(option, value) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn set(_arenas: usize, _share: u64) {}
