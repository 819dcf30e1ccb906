//! The resources of a tree of processes, summed from proc(5). Resources of an ended process are kept: the kernel adds them to
//! the parent that waits for it, and otherwise the last seen values count.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wait4::ResourceUsage;

use crate::system::clock::thread_seconds;
use crate::system::kernel::{Io, Process, Stat};

/// After an expensive reading, the pause is this many times as long as the reading. So such readings take at most a
/// thousandth of one core.
const REST: u32 = 1000;
/// Keeps /proc files open for this many processes; opening is half the cost. A process may have 1024 open files.
const KEPT: usize = 200;
/// Buffer for a file of /proc, which has one short line or a few.
const LINE: usize = 4096;

/// Resources that processes used since their start, with the children that they waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Microseconds in user mode.
    pub user: u64,
    /// Microseconds in the kernel.
    pub system: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    /// Bytes that calls read, from wherever.
    pub read: u64,
    pub written: u64,
    /// Bytes that came from a disk.
    pub disk_read: u64,
    pub disk_written: u64,
}

impl Totals {
    fn with(self, other: Self, both: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user: both(self.user, other.user),
            system: both(self.system, other.system),
            minor_faults: both(self.minor_faults, other.minor_faults),
            major_faults: both(self.major_faults, other.major_faults),
            read: both(self.read, other.read),
            written: both(self.written, other.written),
            disk_read: both(self.disk_read, other.disk_read),
            disk_written: both(self.disk_written, other.disk_written),
        }
    }

    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    pub fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }

    fn at_least(self, other: Self) -> Self {
        self.with(other, u64::max)
    }
}

/// Memory of processes now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub processes: u64,
    pub threads: u64,
    /// Bytes of address space.
    pub vsize: u64,
    /// Bytes of resident memory.
    pub rss: u64,
}

/// When something costly may be done again.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Option<(Instant, Duration)>,
    /// Whether it costs the CPU time of the thread: on a busy machine the clock goes on while the thread waits for a processor. Otherwise
    /// it costs time by the clock, as where it waits for a disk.
    by_cpu: bool,
}

/// The begin of something costly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    at: Instant,
    cpu: f64,
}

impl Begun {
    pub fn now() -> Self {
        Self { at: Instant::now(), cpu: thread_seconds() }
    }
}

impl Pace {
    /// Of what costs CPU time alone.
    pub fn by_cpu() -> Self {
        Self { last: None, by_cpu: true }
    }

    /// When it begins, if it is time or has to be.
    pub fn due(&self, now: bool) -> Option<Begun> {
        let due = self.last.is_none_or(|(last, cost)| last.elapsed() >= cost.saturating_mul(REST));
        (due || now).then(Begun::now)
    }

    /// It was done, and is to rest.
    pub fn done(&mut self, begun: Begun) {
        let clock = begun.at.elapsed();
        let cost = match self.by_cpu {
            true => Duration::try_from_secs_f64(thread_seconds() - begun.cpu).map_or(clock, |cpu| cpu.min(clock)),
            false => clock,
        };
        self.last = Some((Instant::now(), cost));
    }
}

/// A process of the tree.
struct Member {
    process: Process,
    /// Its `stat` and `io`: the kernel makes their contents anew when they are read from the start.
    kept: Option<(File, File)>,
    parent: i32,
    totals: Totals,
    /// Most resident bytes that it ever had.
    peak: u64,
    pss: u64,
    /// Its memory, when it was last looked at.
    memory: Memory,
    /// Whether a signal has stopped it.
    stopped: bool,
}

/// A process and all that descend from it.
pub(crate) struct Processes {
    proc: PathBuf,
    top: i32,
    /// A parent comes before its children.
    members: Vec<Member>,
    /// Processes outside the tree. They stay outside: the parent of a process is fixed at its start.
    foreign: HashSet<i32>,
    /// Resources of ended processes that no process of the tree waited for.
    lost: Totals,
    last: Totals,
    peak: u64,
    listing: Pace,
    listed: bool,
    peaks: Pace,
    proportional: Option<Pace>,
}

impl Processes {
    /// The tree of processes below `top`. `proc` is `/proc`, or another folder in tests; with `pss` proportional memory
    /// is read as well.
    pub fn new(proc: &Path, top: i32, pss: bool) -> Self {
        // The monitor is no part of a job that it was started in.
        let own = i32::try_from(std::process::id()).ok().filter(|own| *own != top);
        let mut tree = Self {
            proc: proc.to_path_buf(),
            top,
            members: Vec::new(),
            foreign: own.into_iter().collect(),
            lost: Totals::default(),
            last: Totals::default(),
            peak: 0,
            listing: Pace::by_cpu(),
            listed: false,
            peaks: Pace::by_cpu(),
            proportional: pss.then(Pace::by_cpu),
        };
        tree.join(top, 0);
        tree
    }

    /// Reads the tree. With `all`, also expensive values that were read recently.
    pub fn look(&mut self, all: bool) -> (Memory, Totals) {
        let first = !self.listed;
        if let Some(started) = self.listing.due(all) {
            self.list();
            self.listed = true;
            self.listing.done(started);
        }
        if first {
            // The first listing takes longer than later ones, so it sets no pause.
            self.listing = Pace::by_cpu();
        }
        let mut sum = Memory::default();
        let mut gone = BTreeSet::new();
        // Parents before children: resources that move from a child to its parent in between are missed, not counted twice.
        for member in &mut self.members {
            if !member.look() {
                gone.insert(member.process.pid());
                continue;
            }
            sum.processes += member.memory.processes;
            sum.threads += member.memory.threads;
            sum.vsize += member.memory.vsize;
            sum.rss += member.memory.rss;
        }
        self.bury(&gone);
        if let Some(started) = self.peaks.due(all) {
            self.members.iter_mut().for_each(Member::look_at_peak);
            self.peaks.done(started);
        }
        if let Some(pace) = &mut self.proportional
            && let Some(started) = pace.due(all)
        {
            self.members.iter_mut().for_each(Member::look_at_pss);
            pace.done(started);
        }
        self.peak = self.members.iter().map(|member| member.peak).fold(self.peak, u64::max);
        self.last = self.now().at_least(self.last);
        (sum, self.last)
    }

    fn now(&self) -> Totals {
        self.members.iter().map(|member| member.totals).fold(self.lost, Totals::plus)
    }

    /// Proportional memory, as last read; zero if never.
    pub fn pss(&self) -> u64 {
        self.members.iter().map(|member| member.pss).sum()
    }

    /// Most resident bytes that a process had.
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Whether a signal has stopped the process at the top, as Ctrl-Z does.
    pub fn stopped(&self) -> bool {
        self.members.first().is_some_and(|member| member.process.pid() == self.top && member.stopped)
    }

    pub fn ids(&self) -> impl Iterator<Item = i32> {
        self.members.iter().map(|member| member.process.pid())
    }

    /// The process has ended and was waited for, with these resources of it and its children.
    pub fn ended(&mut self, pid: i32, used: ResourceUsage) {
        self.peak = self.peak.max(used.maxrss);
        if let Some(place) = self.members.iter().position(|member| member.process.pid() == pid) {
            let member = self.members.remove(place);
            let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            let exact = Totals { user: micros(used.utime), system: micros(used.stime), ..member.totals };
            self.lost = self.lost.plus(exact);
            // These values are exact; earlier ones were rounded.
            self.last = self.now();
        }
    }

    /// Finds processes that are new.
    fn list(&mut self) {
        let Ok(entries) = std::fs::read_dir(&self.proc) else { return };
        let present: HashSet<i32> = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect();
        let members: HashSet<i32> = self.ids().collect();
        self.foreign.retain(|pid| present.contains(pid));
        let unknown = present.into_iter().filter(|pid| !members.contains(pid) && !self.foreign.contains(pid));
        let mut unknown: Vec<(i32, i32)> = unknown.filter_map(|pid| Some((pid, self.parent(pid)?))).collect();
        // Process numbers start again from low values, so a child may have a smaller number than its parent.
        loop {
            let members: HashSet<i32> = self.ids().collect();
            let (ours, rest): (Vec<_>, Vec<_>) = unknown.iter().partition(|(_, parent)| members.contains(parent));
            if ours.is_empty() {
                self.foreign.extend(rest.iter().map(|(pid, _)| *pid));
                return;
            }
            for (pid, parent) in ours {
                self.join(pid, parent);
            }
            unknown = rest;
        }
    }

    fn parent(&self, pid: i32) -> Option<i32> {
        Some(self.open(pid)?.stat()?.parent)
    }

    fn open(&self, pid: i32) -> Option<Process> {
        Process::within(self.proc.join(pid.to_string()))
    }

    fn join(&mut self, pid: i32, parent: i32) {
        if let Some(process) = self.open(pid) {
            let (totals, memory) = (Totals::default(), Memory::default());
            let folder = self.proc.join(pid.to_string());
            let file = |name| (self.members.len() < KEPT).then(|| File::open(folder.join(name)).ok()).flatten();
            let kept = file("stat").zip(file("io"));
            self.members.push(Member { process, kept, parent, totals, peak: 0, pss: 0, memory, stopped: false });
        }
    }

    /// Forgets ended processes. No process of the tree waited for one that outlived its parent.
    fn bury(&mut self, gone: &BTreeSet<i32>) {
        if gone.is_empty() {
            return;
        }
        let all: HashSet<i32> = self.ids().collect();
        for member in self.members.extract_if(.., |member| gone.contains(&member.process.pid())) {
            self.peak = self.peak.max(member.peak);
            if !all.contains(&member.parent) {
                self.lost = self.lost.plus(member.totals);
            }
        }
    }
}

/// The present contents of a file.
fn contents<'a>(file: &File, buffer: &'a mut [u8; LINE]) -> &'a [u8] {
    let length = file.read_at(buffer, 0).unwrap_or(0);
    buffer.get(..length).unwrap_or_default()
}

impl Member {
    fn stat(&self) -> Option<Stat> {
        match &self.kept {
            Some((stat, _)) => Stat::parse(contents(stat, &mut [0; LINE])),
            None => self.process.stat(),
        }
    }

    fn io(&self) -> Option<Io> {
        match &self.kept {
            Some((_, io)) => Io::parse(contents(io, &mut [0; LINE])),
            None => self.process.io(),
        }
    }

    /// Looks at it; false if it is gone.
    fn look(&mut self) -> bool {
        let Some(stat) = self.stat() else { return false };
        self.parent = stat.parent;
        self.totals.user = stat.user;
        self.totals.system = stat.system;
        self.totals.minor_faults = stat.minor_faults;
        self.totals.major_faults = stat.major_faults;
        // The counts of another user's process are hidden. Those of children that a process waited for are part of its
        // own.
        if let Some(io) = self.io() {
            self.totals.read = io.read;
            self.totals.written = io.written;
            self.totals.disk_read = io.disk_read;
            self.totals.disk_written = io.disk_written;
        }
        self.stopped = stat.stopped;
        self.memory = match stat.alive {
            true => Memory { processes: 1, threads: stat.threads, vsize: stat.vsize, rss: stat.rss },
            false => Memory::default(),
        };
        if !stat.alive {
            self.pss = 0;
        }
        true
    }

    fn look_at_peak(&mut self) {
        if let Some(peak) = self.process.peak() {
            self.peak = self.peak.max(peak);
        }
    }

    fn look_at_pss(&mut self) {
        if let Some(proportional) = self.process.proportional() {
            self.pss = proportional;
        }
    }
}
