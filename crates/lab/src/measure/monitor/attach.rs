//! Watches a process that another program has started, and all that descend from it. Nothing of it is changed: it has no pipe for
//! marks, and its exit code is its parent's alone.

use std::time::{Duration, Instant};

use rootfile::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::Watched;
use super::options::Options;
use super::record::Recorder;
use super::sample::Sample;
use super::sampler::{Sampler, Subject, check, proc};
use super::summary::Job;
use super::watch::Signaller;
use crate::system::clock::process_seconds;
use crate::system::kernel::{Process, end_of};

/// Longest time until a request to end is heard.
const HEARING: Duration = Duration::from_millis(200);

/// Watches the process until it ends, `most` has passed, or the signaller is told to end. What the process used before does
/// not count; only `peak_rss` is of its whole life, as the kernel has no other.
///
/// # Errors
///
/// There is no such process, it cannot be observed, or the file for the record cannot be created.
pub fn watch_process(
    pid: i32,
    options: &Options,
    most: Option<Duration>,
    signaller: &Signaller,
    mut seen: impl FnMut(&Sample),
) -> Result<Watched> {
    check()?;
    let none = |e: std::io::Error| Error::request(format!("process {pid} cannot be watched: {e}"));
    let process =
        Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(|| Error::request(format!("{pid} is no process")))?;
    let handle = end_of(process).map_err(none)?;
    let record = Recorder::for_options(options)?;
    let job = Job::begin(words(pid), options.every);
    let cpu = process_seconds();
    let mut sampler = Sampler::new(&proc(), Subject { top: pid, attached: true, job }, options, record);
    let before = sampler.totals();
    sampler.leave_apart(before);
    seen(&sampler.take("", false));
    let started = Instant::now();
    let mut next = started + options.every;
    let ended = loop {
        let now = Instant::now();
        let left = most.map(|most| most.saturating_sub(started.elapsed()));
        if signaller.is_ended() || left == Some(Duration::ZERO) {
            break false;
        }
        if now >= next {
            seen(&sampler.take("", false));
            next = (next + options.every).max(Instant::now());
        }
        let wait = next.saturating_duration_since(Instant::now()).min(HEARING).min(left.unwrap_or(HEARING));
        let mut ends = [PollFd::new(&handle, PollFlags::IN)];
        match poll(&mut ends, Timespec::try_from(wait).ok().as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => break true,
            Err(e) => return Err(std::io::Error::from(e).into()),
        }
    };
    sampler.note(if ended { "exit" } else { "watched no longer" });
    seen(&sampler.take("end", false));
    Ok(sampler.finish(process_seconds() - cpu))
}

/// The words of its command.
fn words(pid: i32) -> Vec<String> {
    let Some(process) = Process::of(pid) else { return Vec::new() };
    let words = process.words();
    if words.is_empty() { process.stat().map(|stat| stat.name).into_iter().collect() } else { words }
}
