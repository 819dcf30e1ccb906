//! What became of the tasks of a plan.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::model::{BadInput, Jobs, SCHEMA};
use super::state::{Ended, Found, StateFolder};

/// The report on all tasks.
#[derive(Clone, Debug, Serialize)]
pub struct Collected {
    /// Version of the report.
    pub schema: u32,
    /// The verb that was planned.
    pub verb: String,
    /// Whether all tasks are done with the answer yes, and no input is bad.
    pub whole: bool,
    /// Number of tasks.
    pub tasks: u64,
    /// Tasks that are done.
    pub done: u64,
    /// Tasks that failed.
    pub failed: u64,
    /// Tasks that have not run, or whose output is gone or was replaced.
    pub missing: u64,
    /// Tasks whose state cannot be read.
    pub unknown: u64,
    /// Outputs of the tasks that are done, in order.
    pub outputs: Vec<PathBuf>,
    /// Bytes of the outputs.
    pub bytes_written: u64,
    /// Time of all tasks by the clock, added up.
    pub seconds: f64,
    /// Tasks that are done with the answer no: files differ, or inputs were left out.
    pub no: Vec<usize>,
    /// Tasks that failed.
    pub failures: Vec<Failure>,
    /// Tasks whose state cannot be read, and why. To run them again replaces the state.
    pub unknowns: Vec<Failure>,
    /// The missing tasks.
    pub missing_tasks: Vec<usize>,
    /// Inputs that cannot be read or are damaged: those that the plan left out, and those that tasks found.
    pub bad: Vec<BadInput>,
}

/// A task that failed, or whose state cannot be read.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// The number of the task.
    pub n: usize,
    /// Why.
    pub reason: String,
}

/// Collects the states of a plan's tasks.
pub fn collect(jobs: &Jobs, path: &Path) -> Collected {
    let states = StateFolder::of(path);
    let mut all = Collected {
        schema: SCHEMA,
        verb: jobs.verb.clone(),
        whole: false,
        tasks: jobs.tasks.len() as u64,
        done: 0,
        failed: 0,
        missing: 0,
        unknown: 0,
        outputs: Vec::new(),
        bytes_written: 0,
        seconds: 0.0,
        no: Vec::new(),
        failures: Vec::new(),
        unknowns: Vec::new(),
        missing_tasks: Vec::new(),
        bad: jobs.public().bad,
    };
    for task in &jobs.tasks {
        let state = match states.last(task) {
            Found::State(state) if state.is_current() => *state,
            Found::State(_) | Found::None => {
                all.missing_tasks.push(task.n);
                continue;
            }
            Found::Unreadable(why) => {
                all.unknowns.push(Failure { n: task.n, reason: why.to_string() });
                continue;
            }
        };
        all.seconds += state.seconds;
        all.bad.extend(state.bad_inputs());
        match state.state {
            Ended::Started => all.missing_tasks.push(task.n),
            Ended::Failed => {
                let reason = state.reason.unwrap_or_default();
                all.failures.push(Failure { n: task.n, reason });
            }
            Ended::Done => {
                all.done += 1;
                if !state.whole {
                    all.no.push(task.n);
                }
                if let Some(output) = state.output {
                    all.bytes_written += output.bytes;
                    all.outputs.push(output.path);
                }
            }
        }
    }
    all.unknown = all.unknowns.len() as u64;
    (all.failed, all.missing) = (all.failures.len() as u64, all.missing_tasks.len() as u64);
    all.whole = all.done == all.tasks && all.no.is_empty() && all.bad.is_empty();
    all
}
