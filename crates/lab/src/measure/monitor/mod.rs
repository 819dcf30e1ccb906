//! Watches a job: memory, CPU, input and output of a tree of processes over time, from proc(5).
//!
//! [`watch()`] runs a command and samples it from outside, [`watch_process`] does so with a process that runs; [`Monitor`] samples the own
//! process. All take the same samples
//! (`sampler`, from `processes` and `outputs`), write the same file (`journal`, then `record`) and end with the same [`Summary`]. A job reports
//! phases and counts of events: to a `Monitor` by calls, to [`watch()`] through a pipe (`phase_marks`). LHCb's monitor of 2012 did
//! this for one framework; this one does it for any job.
//!
//! `watch` sleeps until the next sample is due, the job reports a mark or a count, or the job ends (a pidfd). Outputs are files that are open
//! for writing, held by handles without access; resources of processes that ended are kept. A `Pace` limits expensive readings: after each the sampler
//! rests a thousand times as long as the reading took.

mod attach;
mod in_process;
mod journal;
mod options;
mod outputs;
mod phase_marks;
mod processes;
mod record;
mod sample;
mod sampler;
mod summary;
mod watch;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use rootfile::Error;

pub use attach::watch_process;
pub use in_process::Monitor;
pub(crate) use journal::{each_of_csv, newest_beside};
pub use options::Options;
pub use outputs::OutputFile;
pub use phase_marks::VARIABLE;
pub(crate) use record::Rewriter;
pub use record::SAMPLES;
pub use sample::Sample;
pub use summary::{Job, Maxima, Summary};
pub(crate) use summary::{SCHEMA as SUMMARY_SCHEMA, public_word};
pub use watch::{Ended, Signaller, ignored, watch};

/// The result of watching.
#[derive(Debug)]
pub struct Watched {
    /// The summary of the job.
    pub summary: Summary,
    /// Why the file of samples failed; the job was not affected.
    pub trouble: Option<Error>,
}
