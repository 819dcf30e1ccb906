//! The functions of glibc's allocator that [`allocator`](super::allocator) needs: `mallopt` and `malloc_trim`. With other C libraries
//! they do nothing.

/// A limit of `mallopt(3)`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// M_ARENA_MAX: the most arenas.
    Arenas,
    /// M_MMAP_THRESHOLD: blocks of this many bytes and more are mapped one by one, and unmapped when they are freed.
    Mapped,
    /// M_TRIM_THRESHOLD: free bytes that an arena may keep at its end.
    Kept,
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "functions of the C library that take numbers, and have no safe form")]
mod calls {
    use super::Limit;

    pub(crate) fn set(limit: Limit, value: usize) {
        let option = match limit {
            Limit::Arenas => libc::M_ARENA_MAX,
            Limit::Mapped => libc::M_MMAP_THRESHOLD,
            Limit::Kept => libc::M_TRIM_THRESHOLD,
        };
        let value = libc::c_int::try_from(value).unwrap_or(libc::c_int::MAX);
        // SAFETY: `mallopt` takes two numbers and locks its own state. A refused call changes nothing.
        unsafe { libc::mallopt(option, value) };
    }

    pub(crate) fn trim() {
        // SAFETY: `malloc_trim` takes a number and locks one arena after another. What is in use stays where it is.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod calls {
    pub(crate) fn set(_limit: super::Limit, _value: usize) {}

    pub(crate) fn trim() {}
}

/// Sets a limit.
pub(super) fn set(limit: Limit, value: usize) {
    calls::set(limit, value);
}

/// Gives the pages of freed blocks back to the kernel, in all arenas. What is free at the end of an arena other than the first stays.
pub(super) fn trim() {
    calls::trim();
}
