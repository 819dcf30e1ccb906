//! Records in figures, as `monitor show` says and prints them.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::digest::{Curve, Digested, Moment, Phase};
use super::read::Head;
use crate::monitor::{Job, OutputFile};

/// Version of the JSON of [`Shown`].
pub const SCHEMA: u32 = 1;

/// A record, summarised.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// Where it is.
    pub path: PathBuf,
    /// The job; none where the record has samples alone (.csv, .jsonl, .parquet).
    pub job: Option<Job>,
    /// Whether the job was watched to its end. If not, the monitor still runs, or was killed.
    pub finished: bool,
    /// How many samples there are.
    pub samples: u64,
    /// All of the time.
    pub whole: Phase,
    /// The time between marks of the job, or, without any, between the opening and closing of outputs.
    pub phases: Vec<Phase>,
    /// Marks of the job, and what the monitor itself saw, in order.
    pub moments: Vec<Moment>,
    /// The outputs of the job; none where the record has samples alone.
    pub files: Vec<OutputFile>,
    /// What is to be known about the record.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(super) curve: Curve,
}

/// What `monitor show` says.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of these fields.
    pub schema: u32,
    /// The records, first those to compare.
    pub records: Vec<Shown>,
    /// How many of them are on the first side of the comparison.
    pub first: usize,
    /// The differences of the second side from the first, if there are two.
    pub comparison: Vec<Difference>,
}

/// What a difference means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// More than the noise.
    More,
    /// Less, by more than the noise.
    Less,
    /// Within the noise, or no difference at all.
    Same,
    /// There is no noise to compare with: one record of each side.
    Unknown,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The phase, or `all`.
    pub phase: String,
    /// The figure.
    pub figure: &'static str,
    /// Its unit: `s`, `B`, `B/s`, or none.
    pub unit: &'static str,
    /// Of the first records; of several the median.
    pub a: f64,
    /// Of the others.
    pub b: f64,
    /// What a difference has to exceed.
    pub noise: Option<f64>,
    /// What the difference means.
    pub verdict: Verdict,
}

impl Shown {
    pub(super) fn new(path: &Path, head: Head, digested: Digested) -> Self {
        let Head { job, files, most, samples, mut notes } = head;
        let Digested { mut whole, phases, moments, left_out, curve, samples: read, finished } = digested;
        if let Some(most) = most {
            (whole.rss_peak, whole.vsize_peak) = (whole.rss_peak.max(most.rss), whole.vsize_peak.max(most.vsize));
            whole.pss_peak = whole.pss_peak.max(most.pss);
        }
        if !finished {
            notes.push("the record ends before the job: the monitor still runs, or was killed".to_owned());
        }
        if left_out > 0 {
            notes.push(format!("{left_out} more moments are not listed"));
        }
        let (path, samples) = (path.to_path_buf(), samples.unwrap_or(read));
        Self { path, job, finished, samples, whole, phases, moments, files, notes, curve }
    }
}
