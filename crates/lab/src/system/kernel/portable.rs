//! Systems other than Linux, such as macOS. Processes are not watched there, runs are not pinned, and files stay in the page
//! cache: what is asked for is refused, and what only helps is left out.

use std::convert::Infallible;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::sys::resource::{UsageWho, getrusage};
use rustix::process::{Pid, Signal};

use super::{Io, Stat};

#[cold]
fn lacking(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("{what} needs Linux"))
}

/// There is none.
pub(crate) struct Process(Infallible);

impl Process {
    pub fn own() -> Result<Self> {
        Err(lacking("watching processes"))
    }

    pub fn of(_: i32) -> Option<Self> {
        None
    }

    pub fn within(_: PathBuf) -> Option<Self> {
        None
    }

    pub fn pid(&self) -> i32 {
        match self.0 {}
    }

    pub fn stat(&self) -> Option<Stat> {
        match self.0 {}
    }

    pub fn io(&self) -> Option<Io> {
        match self.0 {}
    }

    pub fn io_of_thread(&self) -> Option<Io> {
        match self.0 {}
    }

    pub fn peak(&self) -> Option<u64> {
        match self.0 {}
    }

    pub fn proportional(&self) -> Option<u64> {
        match self.0 {}
    }

    pub fn ignored_signals(&self) -> u64 {
        match self.0 {}
    }

    pub fn words(&self) -> Vec<String> {
        match self.0 {}
    }
}

/// None can be seen.
pub(crate) fn processes() -> Vec<Stat> {
    Vec::new()
}

impl Stat {
    pub fn parse(_: &[u8]) -> Option<Self> {
        None
    }
}

impl Io {
    pub fn parse(_: &[u8]) -> Option<Self> {
        None
    }
}

pub(crate) fn end_of(_: Pid) -> Result<OwnedFd> {
    Err(lacking("watching processes"))
}

pub(crate) fn adopt_orphans() -> Result<()> {
    Err(lacking("finding processes without a parent"))
}

/// Without it a run whose parent was killed goes on to its end.
pub(crate) fn hear_end_of_parent(_: Signal) -> Result<()> {
    Ok(())
}

pub(crate) fn make_pipe(_: &Path) -> Result<()> {
    Err(lacking("watching processes"))
}

pub(crate) fn hold(_: &Path) -> Result<OwnedFd> {
    Err(lacking("watching files"))
}

pub(crate) fn name_of(_: BorrowedFd<'_>) -> Option<String> {
    None
}

/// The most resident bytes that this process had, also for now; the address space is not known.
pub(crate) fn own_memory(_peak: bool) -> (u64, u64) {
    // macOS counts in bytes, other systems in kB: getrusage(2).
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    let most = getrusage(UsageWho::RUSAGE_SELF).map_or(0, |used| used.max_rss());
    (u64::try_from(most).unwrap_or(0).saturating_mul(unit), 0)
}

pub(crate) fn drop_pages(_: &File) -> Result<()> {
    Err(lacking("dropping a file from the page cache"))
}

pub(crate) fn is_cached(_: &File, _: u64) -> Option<bool> {
    None
}

/// Never pinned.
pub(crate) struct Pinned(Infallible);

impl Pinned {
    pub fn to(_: usize) -> Result<Self> {
        Err(lacking("keeping a run to some processors"))
    }
}
