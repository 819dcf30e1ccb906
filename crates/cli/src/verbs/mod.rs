//! The verbs, one module each: its arguments, a call into the crates below, and its output.

mod convert;
mod file_output;
mod generate;
mod hadd;
mod inspect;
mod merge;
mod monitor;
mod readspeed;
mod recover;
mod rewrite;
mod sweep;
mod tune;
mod verify;
mod write_bench;

use clap::Subcommand;
use flow::{Budget, Progress, allocator};
use rootfile::Result;

use crate::interrupt::{self, AfterNaming};
use crate::output::{self, Answer};

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    Inspect(inspect::Args),
    Rewrite(rewrite::Args),
    Merge(merge::Args),
    Hadd(hadd::Args),
    Readspeed(readspeed::Args),
    Recover(recover::Args),
    Tune(tune::Args),
    Verify(verify::Args),
    Convert(convert::Args),
    Generate(generate::Args),
    WriteBench(write_bench::Args),
    Monitor(monitor::Args),
    Sweep(Box<sweep::Args>),
}

impl Verb {
    /// The effect of a signal once all outputs have their names. `None`: the verb handles signals itself.
    pub fn when_told_to_end(&self) -> Option<AfterNaming> {
        match self {
            Self::Monitor(_) => None,
            // These verbs write one file after the other.
            Self::Sweep(_) | Self::WriteBench(_) => Some(AfterNaming::Ends),
            _ => Some(AfterNaming::IsDone),
        }
    }

    /// Its budget, if it has one. `None`: it needs little, starts other processes, or sets the budget itself.
    fn budget(&self) -> Option<Budget> {
        match self {
            Self::Rewrite(args) => Some(args.budget()),
            Self::Merge(args) => Some(args.budget()),
            Self::Readspeed(args) => Some(args.budget()),
            Self::Recover(args) => Some(args.budget()),
            Self::Tune(args) => Some(args.budget()),
            Self::Verify(args) => Some(args.budget()),
            Self::Convert(args) => Some(args.budget()),
            Self::Generate(args) => Some(args.budget()),
            Self::WriteBench(args) => args.budget(),
            Self::Inspect(_) | Self::Hadd(_) | Self::Monitor(_) | Self::Sweep(_) => None,
        }
    }

    /// Runs the verb and prints errors.
    pub fn exit_code(self) -> u8 {
        if let Some(budget) = self.budget() {
            allocator::ours(&budget);
        }
        match self {
            Self::Hadd(args) => hadd::exit_code(ended(hadd::run(&args))),
            Self::Monitor(args) => monitor::exit_code(&args),
            verb => output::exit_code(ended(verb.run())),
        }
    }

    /// Runs the verb and returns the report as JSON, without printing.
    pub fn report(self, progress: Progress<'_>) -> Result<String> {
        match self {
            Self::Inspect(args) => inspect::report(&args),
            Self::Rewrite(args) => rewrite::report(&args, progress),
            Self::Merge(args) => merge::report(&args, progress),
            Self::Readspeed(args) => output::json_text(&readspeed::work(&args, &|_| (), &|_| ())?),
            Self::Recover(args) => output::json_text(&recover::work(&args, progress)?),
            Self::Tune(args) => output::json_text(&tune::work(&args, progress, &|_| ())?.report),
            Self::Verify(args) => output::json_text(&verify::work(&args, progress)?),
            Self::Convert(args) => output::json_text(&convert::work(&args, progress)?),
            Self::Generate(args) => output::json_text(&generate::work(&args, progress)?),
            Self::WriteBench(_) => {
                Err(rootfile::Error::request("write-bench starts processes for its runs: use the command line"))
            }
            Self::Monitor(_) => Err(rootfile::Error::request(
                "monitor runs a command: use the command line, or basketry.Monitor for this process",
            )),
            Self::Sweep(args) => sweep::report(&args, progress),
            Self::Hadd(_) => Err(rootfile::Error::request("hadd is only for the command line; use merge")),
        }
    }

    fn run(self) -> Result<Answer> {
        match self {
            Self::Inspect(args) => inspect::run(&args),
            Self::Rewrite(args) => rewrite::run(&args),
            Self::Merge(args) => merge::run(&args),
            Self::Hadd(args) => hadd::run(&args),
            Self::Readspeed(args) => readspeed::run(&args),
            Self::Recover(args) => recover::run(&args),
            Self::Tune(args) => tune::run(&args),
            Self::Verify(args) => verify::run(&args),
            Self::Convert(args) => convert::run(&args),
            Self::Generate(args) => generate::run(&args),
            Self::WriteBench(args) => write_bench::run(&args),
            Self::Monitor(args) => Ok(if monitor::exit_code(&args) == 0 { Answer::Yes } else { Answer::No }),
            Self::Sweep(args) => sweep::run(&args),
        }
    }
}

/// The result of a verb, unless a signal ends the process.
fn ended(result: Result<Answer>) -> Result<Answer> {
    interrupt::wait_if_ending();
    result
}
