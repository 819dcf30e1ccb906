//! The allocator of this test binary: it counts memory, and refuses allocations beyond the limit of the current case.
//!
//! A refusal ends the process with a backtrace, and the parent process reports the case. Memory of C libraries (codec
//! contexts) is not counted.
#![allow(unsafe_code, reason = "there is no safe way to make an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The counting allocator.
pub struct Counting;

/// Allows `more` bytes beyond what is in use.
pub fn allow(more: usize) {
    let used = USED.load(Relaxed);
    LIMIT.store(used.saturating_add(more), Relaxed);
}

fn take(size: usize) {
    let used = USED.fetch_add(size, Relaxed).saturating_add(size);
    if used > LIMIT.load(Relaxed) {
        LIMIT.store(usize::MAX, Relaxed);
        let trace = std::backtrace::Backtrace::force_capture();
        eprintln!("memory limit: {used} bytes in use with these {size}\n{trace}");
        std::process::abort();
    }
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
