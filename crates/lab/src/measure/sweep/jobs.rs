//! Runs the user's own command as a job: one process for each stream, side by side, watched by the [`monitor`](crate::monitor). A command that
//! fails, takes too long or writes nothing is a result like others, with the reason.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use rootfile::text::printable;
use rootfile::{Error, Result};
use rustix::process::Signal;

use super::contents::{Contents, layout};
use super::runner::{Measured, Task};
use crate::monitor::{Ended, Options, Sample, Signaller, Summary, watch};
use crate::system::descendants::{adopt, begin_ending, ended};
use crate::system::subprocess::{Memory, STARTER};

/// Time between two looks at a job.
const EVERY: Duration = Duration::from_millis(20);
/// Bytes at the end of a job's words that are looked at, and lines of them that are told.
const TAIL: u64 = 8192;
const LINES: usize = 3;
/// The mark behind which only what is no event is written, such as the records of the file.
const AFTER_EVENTS: [&str; 2] = ["finalize", "stop"];

/// Runs the commands of a task at once, and measures them.
///
/// # Errors
///
/// The files for their words cannot be written. What goes wrong with a command is part of the result.
pub(super) fn run(task: &Task) -> Result<Measured> {
    adopt();
    let late = AtomicBool::new(false);
    let all: Vec<Result<Ended>> = std::thread::scope(|scope| {
        let (done, waits) = channel::<()>();
        if let Some(limit) = task.limit {
            let late = &late;
            scope.spawn(move || {
                // The channel closes when all jobs have ended.
                let limit = Duration::try_from_secs_f64(limit).unwrap_or(Duration::MAX);
                if waits.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                    late.store(true, Ordering::Relaxed);
                    begin_ending(Signal::TERM.as_raw());
                    ended();
                }
            });
        }
        let running: Vec<_> =
            task.jobs.iter().enumerate().map(|(n, words)| scope.spawn(move || one(task, n, words))).collect();
        let join = |running: std::thread::ScopedJoinHandle<'_, Result<Ended>>| {
            running.join().unwrap_or_else(|_| Err(Error::request("a stream failed")))
        };
        let all = running.into_iter().map(join).collect();
        drop(done);
        all
    });
    // This process was told to end, or the time is over: nothing that a job has started goes on.
    ended();
    let mut measured = Measured::default();
    let mut failed = None;
    for (number, ended) in all.into_iter().enumerate() {
        match ended {
            Ok(ended) => {
                add(&mut measured, &ended.watched.summary);
                let trouble = || trouble(task, number, &ended, late.load(Ordering::Relaxed));
                failed = failed.or_else(trouble);
            }
            // No such program, or no right to run it.
            Err(e) => failed = failed.or_else(|| Some(e.to_string())),
        }
    }
    if failed.is_none()
        && let Some(output) = task.outputs.first()
    {
        measured.bytes = std::fs::metadata(output).map_err(|e| Error::from(e).file(output))?.len();
        // What is no ROOT file has a size, and no more.
        if let Ok(found) = Contents::of(output) {
            let streams = task.outputs.len() as u64;
            measured.entries = found.entries.saturating_mul(streams);
            (measured.baskets, measured.clusters, measured.compressed) =
                (found.baskets, found.clusters, found.compressed);
            measured.layout = layout(output);
        }
    }
    if measured.entries == 0
        && let (None, Ok(read)) = (task.outputs.first(), Contents::of(&task.input))
    {
        (measured.entries, measured.baskets, measured.clusters) = (read.entries, read.baskets, read.clusters);
        measured.bytes = std::fs::metadata(&task.input).map_or(0, |meta| meta.len());
    }
    measured.failed = failed;
    Ok(measured)
}

/// Runs one command to its end.
fn one(task: &Task, number: usize, words: &[String]) -> Result<Ended> {
    let (name, arguments) = words.split_first().ok_or_else(|| Error::request("no command to run"))?;
    let file = |path: PathBuf| File::create(&path).map_err(|e| Error::from(e).file(path));
    let [out, err] = logs(task, number);
    let mut command = Command::new(name);
    command.env_remove(STARTER);
    command.args(arguments).stdin(Stdio::null()).stdout(file(out)?).stderr(file(err)?);
    let files = task.outputs.get(number).cloned().into_iter().collect();
    let options = Options { every: EVERY, files, discover: false, ..Options::default() };
    watch(&mut command, &options, &Signaller::default(), |_| ())
}

/// The files that the words of a job go to: standard output and standard error.
fn logs(task: &Task, number: usize) -> [PathBuf; 2] {
    ["out", "err"].map(|kind| task.logs.join(format!("scratch-{number}.{kind}")))
}

/// Adds what one job used. Jobs run side by side: the longest counts, and the memory of all.
fn add(all: &mut Measured, summary: &Summary) {
    let (job, most, end) = (&summary.job, &summary.most, &summary.end);
    let mark = |names: &[&str]| summary.marks.iter().find(|mark| names.contains(&mark.mark.as_str()));
    let peak = Memory { rss: most.rss.max(job.peak_rss), vsize: most.vsize };
    let at = |sample: &Sample| Memory { rss: sample.peak_rss.max(sample.rss), vsize: sample.vsize };
    let plus = |a: Memory, b: Memory| Memory { rss: a.rss + b.rss, vsize: a.vsize + b.vsize };
    all.wall = all.wall.max(job.elapsed);
    (all.user, all.system) = (all.user + job.user, all.system + job.system);
    all.start =
        plus(all.start, mark(&["start"]).map(|mark| Memory { rss: mark.rss, vsize: mark.vsize }).unwrap_or_default());
    all.events = plus(all.events, AFTER_EVENTS.iter().find_map(|name| mark(&[name])).map_or(peak, at));
    all.peak = plus(all.peak, peak);
    all.entries += end.events;
    all.read = Some(all.read.unwrap_or(0) + end.read);
    all.written = Some(all.written.unwrap_or(0) + end.written);
}

/// What went wrong with a job, if something did. Its words are kept beside the journal then.
fn trouble(task: &Task, number: usize, ended: &Ended, late: bool) -> Option<String> {
    let output = task.outputs.get(number);
    let code = ended.code();
    let what = match (output, code) {
        _ if late => format!("it was ended after the limit of {} s", task.limit.unwrap_or_default()),
        (Some(output), 0) if std::fs::metadata(output).map_or(0, |meta| meta.len()) == 0 => {
            format!("it wrote no {{output}}, {}", output.display())
        }
        (Some(output), 0) if output.is_dir() => format!("it made a folder of {{output}}, {}", output.display()),
        (_, 0) => return None,
        _ => format!("exit code {code}"),
    };
    let [out, err] = logs(task, number);
    let tail = last_lines(&err).or_else(|| last_lines(&out)).unwrap_or_default();
    let kept = task.logs.join(format!("failed-{}-{}.log", task.job.point, task.job.kind.name()));
    let words = [out, err].map(|path| std::fs::read(path).unwrap_or_default()).concat();
    let kept = match std::fs::write(&kept, words) {
        Ok(()) => format!("; all it said is in {}", kept.display()),
        Err(_) => String::new(),
    };
    Some(format!("{what}{}{tail}{kept}", if tail.is_empty() { "" } else { ": " }))
}

/// The last lines of a file, if it has any.
fn last_lines(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).rev().take(LINES).collect();
    lines.reverse();
    (!lines.is_empty()).then(|| printable(&lines.join(" | ")).into_owned())
}
