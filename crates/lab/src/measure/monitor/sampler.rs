//! Takes samples, keeps the values that the summary needs, and passes the samples to the file, if there is one.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rootfile::{Error, Result};

use super::options::Options;
use super::outputs::{OutputFile, Outputs, Seen};
use super::processes::{Memory, Processes, Totals};
use super::record::{Record, Recorder};
use super::sample::Sample;
use super::summary::{Job, Maxima};
use crate::system::kernel::Process;

/// Marks beyond these are in the file alone.
const MARKS: usize = 1000;

/// What is watched.
pub(crate) struct Subject {
    /// The process at the top.
    pub top: i32,
    /// Whether another program had started it.
    pub attached: bool,
    /// The job, as far as it is known.
    pub job: Job,
}

/// Takes samples.
pub(crate) struct Sampler {
    pub processes: Processes,
    outputs: Outputs,
    started: Instant,
    /// Resources used before the start, and those of the sampling itself.
    apart: Totals,
    pub events: u64,
    memory: (Memory, u64),
    pub most: Maxima,
    pub marks: Vec<Sample>,
    /// Samples at which the monitor saw something.
    seen: Vec<Sample>,
    /// What it saw since the last one.
    notes: Vec<String>,
    stopped: bool,
    /// The job, as far as it is known.
    pub job: Job,
    pub samples: u64,
    recorder: Option<Recorder>,
    /// An error of the file; the job goes on.
    pub trouble: Option<Error>,
}

impl Sampler {
    /// A sampler of the process and all that descend from it.
    pub fn new(proc: &Path, subject: Subject, options: &Options, record: Record) -> Self {
        let Subject { top, attached, job } = subject;
        let Record { recorder, trouble } = record;
        let record = recorder.as_ref().map(Recorder::at);
        let attached = attached.then_some(top);
        Self {
            processes: Processes::new(proc, top, options.pss),
            outputs: Outputs::new(proc, &options.files, options.discover, record, attached),
            started: Instant::now(),
            apart: Totals::default(),
            events: 0,
            memory: Default::default(),
            most: Maxima::default(),
            marks: Vec::new(),
            seen: Vec::new(),
            notes: Vec::new(),
            stopped: false,
            job,
            samples: 0,
            recorder,
            trouble,
        }
    }

    /// Sets the resources that do not count for the job.
    pub fn leave_apart(&mut self, apart: Totals) {
        self.apart = apart;
    }

    /// Everything that the processes have used until now.
    pub fn totals(&mut self) -> Totals {
        self.processes.look(false).1
    }

    /// What the next sample says that the monitor saw.
    pub fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Takes a sample, by the clock or with a mark. If the job has `ended`, the memory is that of the last sample
    /// before.
    pub fn take(&mut self, mark: &str, ended: bool) -> Sample {
        let (mut memory, totals) = self.processes.look(!mark.is_empty());
        let mut pss = self.processes.pss();
        if ended {
            (memory, pss) = self.memory;
        }
        self.memory = (memory, pss);
        let time = self.elapsed();
        let Seen { sizes: output_bytes, events } = self.outputs.look(self.processes.ids(), !mark.is_empty(), time);
        // Files are closed before a job ends.
        self.notes.splice(0..0, events);
        if self.processes.stopped() != self.stopped {
            self.stopped = !self.stopped;
            self.note(if self.stopped { "stopped" } else { "continued" });
        }
        let used = totals.minus(self.apart);
        let sample = Sample {
            time,
            mark: mark.to_owned(),
            events: self.events,
            processes: memory.processes,
            threads: memory.threads,
            vsize: memory.vsize,
            rss: memory.rss,
            pss,
            peak_rss: self.processes.peak(),
            user: seconds(used.user),
            system: seconds(used.system),
            read: used.read,
            written: used.written,
            disk_read: used.disk_read,
            disk_written: used.disk_written,
            minor_faults: used.minor_faults,
            major_faults: used.major_faults,
            output: output_bytes.iter().sum(),
            outputs: output_bytes.len() as u64,
            output_bytes,
            seen: std::mem::take(&mut self.notes).join("; "),
        };
        self.keep(&sample);
        sample
    }

    fn keep(&mut self, sample: &Sample) {
        self.samples += 1;
        self.most.see(sample);
        if !sample.mark.is_empty() && (self.marks.len() < MARKS || sample.mark == "end") {
            self.marks.push(sample.clone());
        }
        if !sample.seen.is_empty() && self.seen.len() < MARKS {
            self.seen.push(sample.clone());
        }
        // After a failure, as of a full disk, what was recorded is kept, and the job goes on.
        if self.trouble.is_none()
            && let Some(recorder) = &mut self.recorder
        {
            self.trouble = recorder.add(sample).err();
            // A mark is answered at once.
            if sample.mark.is_empty() && self.trouble.is_none() && recorder.is_due(sample.rss) {
                self.job.used(sample, 0.0);
                recorder.save(&self.job, &self.outputs.list(), sample.rss);
            }
        }
    }

    /// Saves the record before it has a sample: the memory that this takes is there before the job begins, if the job is this
    /// process.
    pub fn save_first(&mut self) {
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.is_due(0)) {
            recorder.save(&self.job, &[], 0);
        }
    }

    /// The samples with marks, and those at which the monitor saw something.
    pub fn moments(&mut self) -> [Vec<Sample>; 2] {
        [std::mem::take(&mut self.marks), std::mem::take(&mut self.seen)]
    }

    pub fn files(&mut self) -> Vec<OutputFile> {
        self.outputs.list()
    }

    /// The file that samples go to.
    pub fn recorder(&mut self) -> Option<Recorder> {
        self.recorder.take()
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of many years")]
fn seconds(micros: u64) -> f64 {
    micros as f64 * 1e-6
}

/// Where the kernel tells of processes.
pub(crate) fn proc() -> PathBuf {
    PathBuf::from("/proc")
}

/// Refuses a system that does not tell.
pub(crate) fn check() -> Result<()> {
    match Process::own() {
        Ok(_) => Ok(()),
        Err(e) => Err(Error::request(format!("cannot watch processes: {e}"))),
    }
}
