//! Watches this process and its children. A thread of its own takes the samples, so that the input and output of sampling
//! can be told from those of the process.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use rootfile::{Error, Result};

use super::Watched;
use super::options::Options;
use super::phase_marks::VARIABLE;
use super::processes::Totals;
use super::record::{Record, Recorder};
use super::sampler::{Sampler, Subject, check, proc};
use super::summary::Job;
use crate::system::clock::thread_seconds;
use crate::system::kernel::Process;

/// A monitor of this process: from [`Monitor::begin`] to [`Monitor::end`], whose samples are the first and the last.
pub struct Monitor {
    asks: Sender<Ask>,
    events: Arc<AtomicU64>,
    /// The process that it watches: one that it forks has no such thread.
    process: u32,
    thread: Option<JoinHandle<Watched>>,
}

struct Ask {
    mark: String,
    /// The exit code, if there is nothing to come.
    last: Option<i64>,
    done: SyncSender<()>,
}

impl Monitor {
    /// Begins, with the mark `start`. What the process used before does not count. If a monitor outside watches this
    /// process it hears of marks and events, too.
    ///
    /// # Errors
    ///
    /// The process cannot be observed, or the file for the record cannot be created.
    pub fn begin(options: &Options) -> Result<Self> {
        check()?;
        let record = Recorder::for_options(options)?;
        let (asks, requested) = channel();
        let events = Arc::new(AtomicU64::new(0));
        let (options, counted) = (options.clone(), Arc::clone(&events));
        let work = move || sample(&options, record, &requested, &counted);
        let thread = std::thread::Builder::new().name("monitor".to_owned()).spawn(work)?;
        let monitor = Self { asks, events, process: std::process::id(), thread: Some(thread) };
        monitor.mark("start");
        Ok(monitor)
    }

    /// So many more events are done.
    pub fn events(&self, more: u64) {
        self.events.fetch_add(more, Ordering::Relaxed);
    }

    /// Takes a sample now and gives it a name: `stop` where events are done, `finalize` where files are closed. A
    /// process that was forked has no monitor, and takes none.
    pub fn mark(&self, name: &str) {
        self.ask(name, None);
    }

    /// Ends, with the mark `end`. The record says this exit code.
    ///
    /// # Errors
    ///
    /// The record cannot be written.
    pub fn end(mut self, exit_code: i64) -> Result<Watched> {
        if std::process::id() != self.process {
            return Err(Error::request("only the process that started a monitor can end it"));
        }
        self.ask("end", Some(exit_code));
        let ended = self.thread.take().map(JoinHandle::join);
        ended.and_then(std::result::Result::ok).ok_or_else(|| Error::request("the monitor's thread failed"))
    }

    fn ask(&self, mark: &str, last: Option<i64>) {
        if std::process::id() != self.process {
            return;
        }
        let (done, wait) = sync_channel(1);
        if self.asks.send(Ask { mark: mark.to_owned(), last, done }).is_ok() {
            // If the thread has ended, the channel is closed, which ends the wait as well.
            let _ = wait.recv();
        }
    }
}

/// The thread's work.
fn sample(options: &Options, record: Record, requested: &Receiver<Ask>, events: &AtomicU64) -> Watched {
    let me = i32::try_from(std::process::id()).unwrap_or(0);
    let job = Job::begin(std::env::args_os(), options.every);
    let mut outside = outside();
    let mut sampler = Sampler::new(&proc(), Subject { top: me, attached: false, job }, options, record);
    sampler.save_first();
    let own = own_io();
    let before = sampler.totals().minus(own);
    let mut told = 0;
    let mut next = Instant::now() + options.every;
    loop {
        let ask = match requested.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(ask) => Some(ask),
            Err(RecvTimeoutError::Timeout) => None,
            // The monitor was dropped without an end: the journal stays.
            Err(RecvTimeoutError::Disconnected) => return Watched { summary: Default::default(), trouble: None },
        };
        sampler.events = events.load(Ordering::Relaxed);
        sampler.leave_apart(before.plus(own_io()));
        let mark = ask.as_ref().map_or("", |ask| ask.mark.as_str());
        sampler.take(mark, false);
        if sampler.events != told {
            told = sampler.events;
            say(&mut outside, &format!("events {told}"));
        }
        if let Some(Ask { mark, last, done }) = ask {
            if let Some(exit_code) = last {
                sampler.job.exit_code = exit_code;
                return sampler.finish(thread_seconds());
            }
            say(&mut outside, &mark);
            let _ = done.send(());
        } else {
            next = (next + options.every).max(Instant::now());
        }
    }
}

/// Bytes that this thread itself read and wrote.
fn own_io() -> Totals {
    let io = Process::own().ok().and_then(|own| own.io_of_thread());
    io.map_or_else(Totals::default, |io| Totals {
        read: io.read,
        written: io.written,
        disk_read: io.disk_read,
        disk_written: io.disk_written,
        ..Totals::default()
    })
}

/// The pipe of a monitor outside.
fn outside() -> Option<File> {
    let path = std::env::var_os(VARIABLE)?;
    let flags = rustix::fs::OFlags::NONBLOCK.bits();
    File::options().write(true).custom_flags(i32::try_from(flags).ok()?).open(path).ok()
}

fn say(outside: &mut Option<File>, line: &str) {
    // One that listens no more is not told again.
    if let Some(file) = outside
        && file.write_all(format!("{line}\n").as_bytes()).is_err()
    {
        *outside = None;
    }
}
