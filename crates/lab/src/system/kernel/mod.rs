//! What the kernel tells of processes and does for them. On Linux it is proc(5), pidfds and the like; other systems have a
//! part of it, and what they lack is refused or left out, as each item says. Nothing here knows what a process is watched for.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::*;

/// A process at a moment, with the children that it waited for.
#[derive(Clone, Debug)]
pub(crate) struct Stat {
    pub pid: i32,
    pub parent: i32,
    /// The name of its program.
    pub name: String,
    /// Whether it runs or waits: one that has ended stays until its parent waits for it.
    pub alive: bool,
    /// Whether a signal has stopped it.
    pub stopped: bool,
    /// Microseconds in user mode, rounded to the kernel's ticks.
    pub user: u64,
    /// Microseconds in the kernel.
    pub system: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub threads: u64,
    /// Bytes of address space.
    pub vsize: u64,
    /// Bytes of resident memory.
    pub rss: u64,
}

/// Bytes that a process read and wrote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Io {
    /// Bytes that calls read, from wherever.
    pub read: u64,
    pub written: u64,
    /// Bytes that came from a disk.
    pub disk_read: u64,
    pub disk_written: u64,
}
