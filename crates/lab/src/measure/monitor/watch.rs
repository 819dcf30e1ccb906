//! Runs a command and watches it from outside.

use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rootfile::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getgid, kill_process};
use wait4::Wait4;

use super::Watched;
use super::options::Options;
use super::phase_marks::{Message, Pipe, VARIABLE};
use super::record::Recorder;
use super::sample::Sample;
use super::sampler::{Sampler, Subject, check, proc};
use super::summary::{Job, Summary};
use crate::system::clock::process_seconds;
use crate::system::kernel::{Process, end_of};

/// Shortest time between two readings of the pipe, so that frequent messages cost no more than rare ones.
const WORDS_APART: Duration = Duration::from_millis(5);
/// The overflow group of user namespaces, which cannot be set: user_namespaces(7).
const NOBODY: u32 = 65_534;
/// Shells add this to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// Sends signals to a job that is watched, for as long as it runs.
#[derive(Clone, Debug, Default)]
pub struct Signaller(Arc<Mutex<State>>);

/// The job that signals go to, and the signals that it got.
#[derive(Debug, Default)]
struct State {
    pid: Option<Pid>,
    names: Vec<String>,
    /// Whether the watching is to end, and the job is another program's.
    ended: bool,
}

impl Signaller {
    /// Sends a signal by its number; false if the job has ended.
    pub fn send(&self, signal: i32) -> bool {
        // The lock is held while sending: the process id is not reused before the job was waited for.
        let state = self.state();
        let signal = Signal::from_named_raw(signal);
        state.pid.zip(signal).is_some_and(|(pid, signal)| kill_process(pid, signal).is_ok())
    }

    fn set(&self, pid: Option<Pid>) {
        self.state().pid = pid;
    }

    /// The job has got a signal of this name, from here or as everyone on its terminal.
    pub fn heard(&self, name: &str) {
        self.state().names.push(name.to_owned());
    }

    /// The job goes on, and is watched no longer.
    pub fn end(&self) {
        self.state().ended = true;
    }

    pub(super) fn is_ended(&self) -> bool {
        self.state().ended
    }

    pub(super) fn names(&self) -> Vec<String> {
        std::mem::take(&mut self.state().names)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether this process ignores a signal, as under nohup(1). Its jobs inherit that.
pub fn ignored(signal: i32) -> bool {
    let ignored = Process::own().map_or(0, |own| own.ignored_signals());
    let bit = u32::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    bit.and_then(|bit| 1_u64.checked_shl(bit)).is_some_and(|bit| ignored & bit != 0)
}

/// A job that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// Its summary.
    pub watched: Watched,
}

impl Ended {
    /// The code that a shell has for it.
    pub fn code(&self) -> i32 {
        code(self.status)
    }
}

fn code(status: ExitStatus) -> i32 {
    status.code().or(status.signal().map(|signal| SIGNALLED + signal)).unwrap_or(1)
}

/// Runs the command to its end. `signaller` gets its process id; `seen` gets every sample. A command that cannot be
/// started is an error; a later failure of the file of samples is not, see [`Watched::trouble`].
///
/// # Errors
///
/// The command cannot be started or observed.
pub fn watch(
    command: &mut Command,
    options: &Options,
    signaller: &Signaller,
    mut seen: impl FnMut(&Sample),
) -> Result<Ended> {
    check()?;
    let record = Recorder::for_options(options)?;
    let mut pipe = Pipe::new()?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let job = Job::begin(words, options.every);
    let cpu = process_seconds();
    let mut child = forked(command).env(VARIABLE, pipe.path()).spawn().map_err(|e| started(e, command))?;
    let pid = i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| Error::request("a process without a number"))?;
    signaller.set(Some(pid));
    let mut sampler = Sampler::new(&proc(), Subject { top: pid.as_raw_pid(), attached: false, job }, options, record);
    seen(&sampler.take("", false));
    let handle = end_of(pid);
    // Without a pidfd only waiting for the job shows its end.
    let handle = handle.inspect_err(|_| drop(child.kill()))?;
    follow(&handle, &mut pipe, options.every, signaller, &mut sampler, &mut seen)?;
    let status = end(&mut child, &mut pipe, &mut sampler, signaller, &mut seen)?;
    sampler.job.exit_code = i64::from(code(status));
    Ok(Ended { status, watched: sampler.finish(process_seconds() - cpu) })
}

#[cold]
fn started(error: std::io::Error, command: &Command) -> Error {
    Error::from(error).file(command.get_program())
}

/// Makes the command start by fork(2). The kernel counts the peak of the starting process as the job's. With
/// posix_spawn(3) this is the peak of the monitor, whose memory the new process shares; with fork(2) it is small. The
/// standard library forks if it must set a group, so the present group is set.
fn forked(command: &mut Command) -> &mut Command {
    match getgid().as_raw() {
        NOBODY => command,
        group => command.gid(group),
    }
}

/// Takes samples until the job ends.
fn follow(
    job: &OwnedFd,
    pipe: &mut Pipe,
    every: Duration,
    signaller: &Signaller,
    sampler: &mut Sampler,
    seen: &mut impl FnMut(&Sample),
) -> Result<()> {
    let mut next = Instant::now() + every;
    let mut silence = Instant::now();
    loop {
        let now = Instant::now();
        if now >= next {
            signaller.names().into_iter().for_each(|name| sampler.note(name));
            seen(&sampler.take("", false));
            // A late sample does not shorten the next interval.
            next = (next + every).max(Instant::now());
        }
        let heard = now >= silence;
        let until = if heard { next } else { next.min(silence) };
        let wait = Timespec::try_from(until.saturating_duration_since(Instant::now())).ok();
        let (ended, said) = {
            let ends = PollFd::new(job, PollFlags::IN);
            let says = PollFd::from_borrowed_fd(pipe.end(), PollFlags::IN);
            let mut both = [ends, says];
            let requested = if heard { &mut both[..] } else { &mut both[..1] };
            match poll(requested, wait.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => (),
                Err(e) => return Err(std::io::Error::from(e).into()),
            }
            let [ends, says] = both;
            (ends.revents().contains(PollFlags::IN), says.revents().contains(PollFlags::IN))
        };
        if ended {
            return Ok(());
        }
        if said {
            listen(pipe, sampler, false, seen);
            silence = Instant::now() + WORDS_APART;
        }
    }
}

/// Reads the messages of the job.
fn listen(pipe: &mut Pipe, sampler: &mut Sampler, ended: bool, seen: &mut impl FnMut(&Sample)) {
    for word in pipe.messages() {
        match word {
            Message::Events(events) => sampler.events = events,
            Message::More(events) => sampler.events = sampler.events.saturating_add(events),
            Message::Mark(mark) => seen(&sampler.take(&mark, ended)),
        }
    }
}

/// The last samples. A process that has ended keeps its counts until it is waited for.
fn end(
    child: &mut Child,
    pipe: &mut Pipe,
    sampler: &mut Sampler,
    signaller: &Signaller,
    seen: &mut impl FnMut(&Sample),
) -> Result<ExitStatus> {
    listen(pipe, sampler, true, seen);
    let pid = i32::try_from(child.id()).unwrap_or(0);
    sampler.totals();
    signaller.set(None);
    let ended = child.wait4()?;
    sampler.processes.ended(pid, ended.rusage);
    signaller.names().into_iter().for_each(|name| sampler.note(name));
    sampler.note(format!("exit {}", code(ended.status)));
    seen(&sampler.take("end", false));
    Ok(ended.status)
}

impl Sampler {
    /// Ends the file, and makes the summary. Watching took so much CPU.
    pub(super) fn finish(mut self, monitor_cpu: f64) -> Watched {
        let last = self.marks.last().cloned().unwrap_or_default();
        self.job.used(&last, monitor_cpu);
        let files = self.files();
        let mut trouble = self.trouble.take();
        if let Some(recorder) = self.recorder() {
            trouble = recorder.finish(&self.job, &files).err().or(trouble);
        }
        let moments = self.moments();
        let summary = Summary::new(self.job, self.most, moments, files, self.samples);
        Watched { summary, trouble }
    }
}
