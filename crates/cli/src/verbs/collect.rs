//! `basketry collect`: what became of the tasks of a plan.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use lab::jobs::{Collected, Jobs, collect};
use rootfile::Result;

use crate::options::Verbosity;
use crate::output::{self, Answer};
use crate::verb_command::{VerbCommand, Watch, fields};

/// Numbers, failures and bad inputs that are printed; --json has all.
const SHOWN: usize = 20;

/// Collect the results of a plan's tasks: which are done, failed, missing or unknown, all outputs, and all bad inputs.
///
/// Exit code 0: all tasks are done, and no input is bad; 1: tasks failed or are missing, files differ, or inputs were left
/// out, or a state cannot be read; 2: the plan cannot be read.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry collect plan.json
  basketry collect plan.json --json")]
pub struct Args {
    /// The plan.
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Collected;

    fields!(verbosity);

    fn work(&self, _: &Watch<'_>) -> Result<Collected> {
        Ok(collect(&Jobs::read(&self.plan)?, &self.plan))
    }

    fn answer(all: &Collected) -> Answer {
        if all.whole { Answer::Yes } else { Answer::No }
    }

    fn print(&self, all: &Collected, _: Instant) -> Result<()> {
        print(all, self.verbosity.quiet)
    }
}

fn print(all: &Collected, quiet: bool) -> Result<()> {
    let mut out = output::stdout();
    for failure in all.failures.iter().take(SHOWN) {
        writeln!(out, "task {} failed: {}", failure.n, output::line(&failure.reason))?;
    }
    for unknown in all.unknowns.iter().take(SHOWN) {
        writeln!(
            out,
            "task {}: {}; remove the state, and the output if there is one, and run it again",
            unknown.n,
            output::line(&unknown.reason)
        )?;
    }
    for (numbers, what) in [(&all.no, "the answer is no"), (&all.missing_tasks, "not done")] {
        if !numbers.is_empty() {
            let shown: Vec<String> = numbers.iter().take(SHOWN).map(ToString::to_string).collect();
            let more = if numbers.len() > SHOWN { ", ..." } else { "" };
            writeln!(out, "{what}: tasks {}{more}", shown.join(", "))?;
        }
    }
    for bad in all.bad.iter().take(SHOWN) {
        writeln!(out, "bad input: {}: {}", output::line(&bad.path), output::line(&bad.reason))?;
    }
    let longest = all.failures.len().max(all.unknowns.len()).max(all.bad.len());
    if longest > SHOWN {
        writeln!(out, "more; --json lists all")?;
    }
    if !quiet {
        let unknown = if all.unknown > 0 { format!(", {} unknown", output::count(all.unknown)) } else { String::new() };
        writeln!(
            out,
            "{} of {} tasks done, {} failed, {} missing{unknown}; {}, {}",
            output::count(all.done),
            output::count(all.tasks),
            output::count(all.failed),
            output::count(all.missing),
            output::plural(all.outputs.len() as u64, "output", "outputs"),
            output::bytes(all.bytes_written)
        )?;
    }
    Ok(out.flush()?)
}
