//! Linux: proc(5), pidfd_open(2), prctl(2), sched_setaffinity(2), and the page cache.

use std::fs::File;
use std::io::{IoSliceMut, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use procfs::{FromBufRead, FromRead};
use rustix::fs::{Advice, CWD, FileType, Mode, OFlags, fadvise, mknodat, open, readlink};
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, set_child_subreaper, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::{Io, Stat};

const MICROSECONDS: u64 = 1_000_000;

/// A process that proc(5) tells of.
pub(crate) struct Process(procfs::process::Process);

impl Process {
    /// This one; an error if the kernel does not tell of processes.
    pub fn own() -> Result<Self> {
        procfs::process::Process::myself().map(Self).map_err(other)
    }

    /// The process of a number, if there is one.
    pub fn of(pid: i32) -> Option<Self> {
        procfs::process::Process::new(pid).ok().map(Self)
    }

    /// That of a folder: `/proc/1234`, or another in tests.
    pub fn within(folder: PathBuf) -> Option<Self> {
        procfs::process::Process::new_with_root(folder).ok().map(Self)
    }

    pub fn pid(&self) -> i32 {
        self.0.pid()
    }

    pub fn stat(&self) -> Option<Stat> {
        self.0.stat().ok().map(Stat::from)
    }

    pub fn io(&self) -> Option<Io> {
        self.0.io().ok().map(Io::from)
    }

    /// What the thread that asks has read and written. The process is this one.
    pub fn io_of_thread(&self) -> Option<Io> {
        let thread = rustix::thread::gettid().as_raw_pid();
        let task = self.0.task_from_tid(thread).ok()?;
        task.io().ok().map(Io::from)
    }

    /// The most resident bytes that it ever had.
    pub fn peak(&self) -> Option<u64> {
        let kilobytes = self.0.status().ok()?.vmhwm?;
        Some(kilobytes.saturating_mul(1024))
    }

    /// Resident bytes, those that it shares counted in part.
    pub fn proportional(&self) -> Option<u64> {
        let maps = self.0.smaps_rollup().ok()?.memory_map_rollup;
        Some(maps.iter().filter_map(|map| map.extension.map.get("Pss").copied()).sum())
    }

    /// The signals that it ignores, a bit each, from signal 1.
    pub fn ignored_signals(&self) -> u64 {
        self.0.status().map_or(0, |status| status.sigign)
    }

    /// The words of its command.
    pub fn words(&self) -> Vec<String> {
        self.0.cmdline().unwrap_or_default()
    }
}

/// All that can be seen.
pub(crate) fn processes() -> Vec<Stat> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    all.filter_map(|process| process.stat().ok()).map(Stat::from).collect()
}

#[cold]
fn other(error: procfs::ProcError) -> std::io::Error {
    std::io::Error::other(error)
}

impl Stat {
    /// From the text of `/proc/1234/stat`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        procfs::process::Stat::from_read(text).ok().map(Self::from)
    }
}

impl From<procfs::process::Stat> for Stat {
    fn from(stat: procfs::process::Stat) -> Self {
        let ticks = procfs::ticks_per_second().max(1);
        let micros = |own: u64, waited: i64| {
            let all = own.saturating_add(u64::try_from(waited).unwrap_or(0));
            all.saturating_mul(MICROSECONDS) / ticks
        };
        Self {
            pid: stat.pid,
            parent: stat.ppid,
            user: micros(stat.utime, stat.cutime),
            system: micros(stat.stime, stat.cstime),
            minor_faults: stat.minflt.saturating_add(stat.cminflt),
            major_faults: stat.majflt.saturating_add(stat.cmajflt),
            threads: u64::try_from(stat.num_threads).unwrap_or(0),
            vsize: stat.vsize,
            rss: stat.rss.saturating_mul(procfs::page_size()),
            alive: !matches!(stat.state, 'Z' | 'X'),
            stopped: matches!(stat.state, 'T' | 't'),
            name: stat.comm,
        }
    }
}

impl Io {
    /// From the text of `/proc/1234/io`.
    pub fn parse(text: &[u8]) -> Option<Self> {
        procfs::process::Io::from_buf_read(text).ok().map(Self::from)
    }
}

impl From<procfs::process::Io> for Io {
    fn from(io: procfs::process::Io) -> Self {
        Self {
            read: io.rchar,
            written: io.wchar,
            disk_read: io.read_bytes,
            disk_written: io.write_bytes.saturating_sub(io.cancelled_write_bytes),
        }
    }
}

/// Becomes readable when a process ends.
pub(crate) fn end_of(process: Pid) -> Result<OwnedFd> {
    Ok(pidfd_open(process, PidfdFlags::empty())?)
}

/// From here on processes whose parent ends before them become children of this one.
pub(crate) fn adopt_orphans() -> Result<()> {
    Ok(set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// This process gets a signal when its parent ends.
pub(crate) fn hear_end_of_parent(signal: Signal) -> Result<()> {
    Ok(set_parent_process_death_signal(Some(signal))?)
}

/// Makes a pipe with a name.
pub(crate) fn make_pipe(path: &Path) -> Result<()> {
    Ok(mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?)
}

/// Holds a file without read or write access.
pub(crate) fn hold(path: &Path) -> Result<OwnedFd> {
    Ok(open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// The present name of a file that is held.
pub(crate) fn name_of(held: BorrowedFd<'_>) -> Option<String> {
    let name = readlink(format!("/proc/self/fd/{}", held.as_raw_fd()), Vec::new()).ok()?;
    Some(name.to_string_lossy().into_owned())
}

/// Resident and virtual bytes of this process: `VmHWM` and `VmPeak` with `peak`, otherwise `VmRSS` and `VmSize`.
pub(crate) fn own_memory(peak: bool) -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bytes = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    };
    if peak { (bytes("VmHWM"), bytes("VmPeak")) } else { (bytes("VmRSS"), bytes("VmSize")) }
}

/// Drops a file's pages from the cache.
pub(crate) fn drop_pages(file: &File) -> Result<()> {
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Whether a byte of a file is in the page cache: a read that fails instead of waiting for the disk. None if the file system does
/// not support that.
pub(crate) fn is_cached(file: &File, offset: u64) -> Option<bool> {
    let mut byte = [0_u8];
    match preadv2(file.as_fd(), &mut [IoSliceMut::new(&mut byte)], offset, ReadWriteFlags::NOWAIT) {
        Ok(read) => Some(read > 0),
        Err(Errno::AGAIN) => Some(false),
        Err(_) => None,
    }
}

/// Pins this thread and its children to some processors, until it is dropped.
pub(crate) struct Pinned(CpuSet);

impl Pinned {
    /// Pins to the first `count` of the allowed processors, or to all if there are fewer.
    pub fn to(count: usize) -> Result<Self> {
        let before = sched_getaffinity(None)?;
        let mut set = CpuSet::new();
        let allowed = (0..CpuSet::MAX_CPU).filter(|&cpu| before.is_set(cpu));
        allowed.take(count.max(1)).for_each(|cpu| set.set(cpu));
        sched_setaffinity(None, &set)?;
        Ok(Self(before))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // The former set of processors is allowed.
        let _ = sched_setaffinity(None, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn children_are_pinned_until_the_pin_is_dropped() {
        let count = || {
            let allowed = sched_getaffinity(None).unwrap();
            (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).count()
        };
        let before = count();
        let pinned = Pinned::to(1).unwrap();
        let output = Command::new("nproc").env_remove("OMP_NUM_THREADS").output().unwrap();
        assert_eq!((count(), String::from_utf8_lossy(&output.stdout).trim()), (1, "1"));
        drop(pinned);
        assert_eq!(count(), before);
    }

    #[test]
    fn a_process_is_told_of() {
        let own = Process::own().unwrap();
        let stat = own.stat().unwrap();
        assert_eq!((own.pid(), stat.pid), (i32::try_from(std::process::id()).unwrap(), own.pid()));
        assert!(stat.alive && !stat.stopped && stat.threads > 0 && stat.rss > 100_000, "{stat:?}");
        assert!(own.peak().unwrap() >= 100_000 && own.proportional().unwrap() > 100_000);
        assert!(processes().iter().any(|other| other.pid == stat.pid && other.parent == stat.parent));
        assert!(Process::of(stat.parent).is_none_or(|parent| parent.pid() == stat.parent) && Process::of(-1).is_none());
    }
}
