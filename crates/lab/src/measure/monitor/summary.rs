//! The summary of a job: resources used in all, maxima, and the state at each mark.

use std::ffi::OsStr;
use std::time::Duration;

use rootfile::{Result, public_text};
use serde::{Deserialize, Serialize};

use super::outputs::OutputFile;
use super::sample::Sample;
use crate::system::host::HostInfo;

/// Version of the JSON that a [`Summary`] becomes.
pub(crate) const SCHEMA: u32 = 1;
/// The exit code of a job whose end is not known.
pub(super) const UNKNOWN: i64 = -1;
/// Between these marks events are done.
const BETWEEN: [&str; 2] = ["start", "stop"];

/// The job, and the resources that it used in all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// The command, without secrets of URLs and of variables.
    pub command: String,
    /// Name of the machine.
    pub host: String,
    /// Its system and version.
    pub kernel: String,
    /// Cores that there are to use.
    pub cores: u64,
    /// When it began, in seconds since 1970.
    pub started: f64,
    /// Seconds between two samples.
    pub every: f64,
    /// The version of the monitor.
    pub version: String,
    /// Its exit code; 128 plus the number of the signal that ended it; -1 if it is not known: the job still runs, the monitor was
    /// killed, or another program had started the job (`--pid`).
    pub exit_code: i64,
    /// Seconds by the clock.
    pub elapsed: f64,
    /// Seconds of CPU in user mode.
    pub user: f64,
    /// Seconds of CPU in the kernel.
    pub system: f64,
    /// The maximum resident memory of any one of its processes.
    pub peak_rss: u64,
    /// Seconds of CPU that watching took.
    pub monitor_cpu: f64,
}

impl Job {
    /// Its columns in a tree, with the letters of their leaves; none for text.
    pub(super) const COLUMNS: [(&str, Option<char>); 13] = [
        ("command", None),
        ("host", None),
        ("kernel", None),
        ("cores", Some('L')),
        ("started", Some('D')),
        ("every", Some('D')),
        ("version", None),
        ("exit_code", Some('L')),
        ("elapsed", Some('D')),
        ("user", Some('D')),
        ("system", Some('D')),
        ("peak_rss", Some('L')),
        ("monitor_cpu", Some('D')),
    ];

    /// The job at its start: the command, and the time between two samples.
    pub(super) fn begin(words: impl IntoIterator<Item = impl AsRef<OsStr>>, every: Duration) -> Self {
        let words = words.into_iter().map(|word| public_word(&word.as_ref().to_string_lossy()));
        let machine = HostInfo::here();
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self {
            command: words.collect::<Vec<_>>().join(" "),
            host: machine.host,
            kernel: machine.kernel,
            cores: machine.processors as u64,
            started: since.map_or(0.0, |since| since.as_secs_f64()),
            every: every.as_secs_f64(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            exit_code: UNKNOWN,
            ..Self::default()
        }
    }

    /// Adds the resources at its end: the last sample, and the cost of watching.
    pub(super) fn used(&mut self, last: &Sample, monitor_cpu: f64) {
        (self.elapsed, self.user, self.system) = (last.time, last.user, last.system);
        (self.peak_rss, self.monitor_cpu) = (last.peak_rss, monitor_cpu);
    }
}

/// A word of a command without secrets: those of a URL, and the value of a variable that is one (`env BEARER_TOKEN=...`).
pub(crate) fn public_word(word: &str) -> String {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let is_secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        let of_a_file = name.ends_with("_file") || name.ends_with("-file");
        !of_a_file && ["token", "secret", "password", "passwd", "access_key"].iter().any(|part| name.contains(part))
    };
    match word.split_once('=') {
        Some((name, value)) if is_name(name) && is_secret(name) && !value.is_empty() => format!("{name}=..."),
        _ => public_text(word).into_owned(),
    }
}

/// The most that was seen in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Maxima {
    /// Processes.
    pub processes: u64,
    /// Numbers of threads.
    pub threads: u64,
    /// Address space.
    pub vsize: u64,
    /// Resident memory of all processes together.
    pub rss: u64,
    /// Proportional memory.
    pub pss: u64,
}

impl Maxima {
    pub(super) fn see(&mut self, sample: &Sample) {
        self.processes = self.processes.max(sample.processes);
        self.threads = self.threads.max(sample.threads);
        self.vsize = self.vsize.max(sample.vsize);
        self.rss = self.rss.max(sample.rss);
        self.pss = self.pss.max(sample.pss);
    }
}

/// The summary of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Version of these fields.
    pub schema: u32,
    /// The job, and the resources that it used in all.
    #[serde(flatten)]
    pub job: Job,
    /// The most that was seen in samples.
    pub most: Maxima,
    /// How things stood at the end.
    pub end: Sample,
    /// Events for each second between the marks `start` and `stop`, or over the whole time without these marks.
    pub events_per_second: f64,
    /// Samples with a mark, in order.
    pub marks: Vec<Sample>,
    /// Samples at which the monitor itself saw something, in order.
    pub seen: Vec<Sample>,
    /// Its output files.
    pub files: Vec<OutputFile>,
    /// How many samples there are.
    pub samples: u64,
}

impl Summary {
    /// As JSON.
    ///
    /// # Errors
    ///
    /// A number has no form in JSON.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string(self).map_err(std::io::Error::from)?)
    }

    pub(super) fn new(
        job: Job,
        most: Maxima,
        [marks, seen]: [Vec<Sample>; 2],
        files: Vec<OutputFile>,
        samples: u64,
    ) -> Self {
        let end = marks.last().cloned().unwrap_or_default();
        let at = |name: &str| marks.iter().find(|mark| mark.mark == name);
        let [start, stop] = BETWEEN.map(at);
        let zero = Sample::default();
        let (from, to) = (start.unwrap_or(&zero), stop.unwrap_or(&end));
        let (events, time) = (to.events.saturating_sub(from.events), to.time - from.time);
        #[expect(clippy::cast_precision_loss, reason = "a rate")]
        let events_per_second = if time > 0.0 { events as f64 / time } else { 0.0 };
        Self { schema: SCHEMA, job, most, end, events_per_second, marks, seen, files, samples }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(mark: &str, time: f64, events: u64) -> Sample {
        Sample { mark: mark.to_owned(), time, events, ..Sample::default() }
    }

    #[test]
    fn the_command_shows_no_secrets() {
        let words =
            ["env", "BEARER_TOKEN=secret", "BEARER_TOKEN_FILE=/t", "a", "https://me:secret@h/a?authz=secret", "x=1"];
        let job = Job::begin(words, Duration::ZERO);
        assert_eq!(job.command, "env BEARER_TOKEN=... BEARER_TOKEN_FILE=/t a https://h/a x=1");
    }

    #[test]
    fn events_are_counted_between_start_and_stop() {
        let rate = |marks: Vec<Sample>| {
            Summary::new(Job::default(), Maxima::default(), [marks, Vec::new()], Vec::new(), 0).events_per_second
        };
        assert_eq!(rate(vec![mark("start", 10.0, 0), mark("stop", 20.0, 500), mark("end", 50.0, 500)]), 50.0);
        assert_eq!(rate(vec![mark("start", 10.0, 0), mark("end", 50.0, 500)]), 12.5);
        assert_eq!(rate(vec![mark("end", 50.0, 500)]), 10.0);
        assert_eq!(rate(Vec::new()), 0.0);
    }

    #[test]
    fn the_most_is_of_each_by_itself() {
        let mut most = Maxima::default();
        most.see(&Sample { rss: 5, vsize: 10, threads: 1, ..Sample::default() });
        most.see(&Sample { rss: 4, vsize: 11, processes: 3, ..Sample::default() });
        assert_eq!(most, Maxima { processes: 3, threads: 1, vsize: 11, rss: 5, pss: 0 });
    }
}
