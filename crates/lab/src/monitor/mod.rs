//! Watches a job: memory, CPU, input and output of a whole tree of processes over time, by what proc(5) tells.
//!
//! [`watch`] runs a command and samples it from outside; [`Monitor`] samples the process that it is in. Both take the
//! same samples (`sample`, of `processes` and `outputs`), put them into the same file (`record`) and end with the same
//! [`Summary`]. A job says how far it is by marks and counts of events: to a `Monitor` by calls, to whoever watches
//! from outside through a pipe (`words`). It is what LHCb's monitor of 2012 did for one framework, for whatever runs.

mod inside;
mod outputs;
mod processes;
mod record;
mod sample;
mod summary;
mod watch;
mod words;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use rootfile::Error;

pub use inside::Monitor;
pub use outputs::OutputFile;
pub use record::SAMPLES;
pub use sample::Sample;
pub use summary::{Job, Most, Summary};
pub use watch::{Ended, Signaller, ignored, watch};
pub use words::VARIABLE;

/// How a job is watched.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file that samples go to: a ROOT file, Parquet, CSV or lines of JSON, by its extension.
    pub output: Option<PathBuf>,
    /// Whether a file of that name is replaced.
    pub overwrite: bool,
    /// Time between two samples.
    pub every: Duration,
    /// Whether proportional memory is sampled: the kernel walks over all pages for it, so it is looked at less often.
    pub pss: bool,
    /// Files whose size is sampled.
    pub files: Vec<PathBuf>,
    /// Whether files that are open for writing are sampled, too.
    pub discover: bool,
}

impl Default for Options {
    fn default() -> Self {
        let every = Duration::from_millis(100);
        Self { output: None, overwrite: false, every, pss: false, files: Vec::new(), discover: true }
    }
}

/// What came of watching.
#[derive(Debug)]
pub struct Watched {
    /// What is to be said of the job.
    pub summary: Summary,
    /// Why the samples are not in their file; the job was not disturbed by it.
    pub trouble: Option<Error>,
}
