//! The verbs, one module each: its arguments, a call into the crates below, and its output.

mod check;
mod collect;
mod completions;
mod convert;
mod file_output;
mod fileset;
mod generate;
mod hadd;
mod inspect;
mod man;
mod merge;
mod monitor;
mod plan;
mod readspeed;
mod recover;
mod rewrite;
mod run_task;
mod sweep;
mod tune;
mod verify;
mod write_bench;

use clap::{FromArgMatches, Subcommand};
use flow::{Budget, Progress, allocator};
use rootfile::{Error, Result};

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
    Check(check::Args),
    Fileset(fileset::Args),
    Plan(Box<plan::Args>),
    Run(run_task::Args),
    Collect(collect::Args),
    Convert(convert::Args),
    Generate(generate::Args),
    WriteBench(write_bench::Args),
    Monitor(monitor::Args),
    Sweep(Box<sweep::Args>),
    Completions(completions::Args),
    #[command(hide = true)]
    Man(man::Args),
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
            Self::Check(args) => Some(args.budget()),
            Self::Fileset(args) => Some(args.budget()),
            Self::Convert(args) => Some(args.budget()),
            Self::Generate(args) => Some(args.budget()),
            Self::WriteBench(args) => args.budget(),
            Self::Inspect(_) | Self::Hadd(_) | Self::Monitor(_) | Self::Sweep(_) => None,
            // A task has the budget of its own command.
            Self::Plan(_) | Self::Run(_) | Self::Collect(_) => None,
            Self::Completions(_) | Self::Man(_) => None,
        }
    }

    /// Limits what the allocator of this process keeps, by the verb's budget.
    fn set_up_allocator(&self) {
        match (self, self.budget()) {
            (_, None) => {}
            (Self::Generate(_) | Self::WriteBench(_), Some(budget)) => allocator::ours_for_writing(&budget),
            (_, Some(budget)) => allocator::ours(&budget),
        }
    }

    /// Runs the verb and prints errors. `command` makes the description of the whole command.
    pub fn exit_code(self, command: fn() -> clap::Command) -> u8 {
        self.set_up_allocator();
        match self {
            Self::Hadd(args) => hadd::exit_code(ended(hadd::run(&args))),
            Self::Monitor(args) => monitor::exit_code(&args),
            verb => output::exit_code(ended(verb.run(command))),
        }
    }

    /// Runs the verb and returns the report as JSON, without printing.
    pub fn report(self, progress: Progress<'_>) -> Result<String> {
        self.outcome(progress).map(|(report, _)| report)
    }

    /// Runs the verb and returns the report as JSON and the answer, without printing.
    fn outcome(self, progress: Progress<'_>) -> Result<(String, Answer)> {
        let done = |report: String| Ok((report, Answer::Yes));
        match self {
            Self::Inspect(args) => done(inspect::report(&args)?),
            Self::Rewrite(args) => rewrite::report(&args, progress),
            Self::Merge(args) => merge::report(&args, progress),
            Self::Readspeed(args) => {
                // A reading that is measured runs to its end.
                let read = |bytes| {
                    let _ = progress(bytes);
                };
                done(output::json_text(&readspeed::work(&args, &|_| (), &read)?)?)
            }
            Self::Recover(args) => answered(&recover::work(&args, progress)?, |recovery| recovery.whole),
            Self::Tune(args) => {
                let tuned = tune::work(&args, progress, &|_| ())?;
                answered(&tuned.report, |report| tuned.layout.is_some() && report.delivered.unwrap_or(true))
            }
            Self::Verify(args) => answered(&verify::work(&args, progress)?, |verdict| verdict.equal),
            Self::Check(args) => answered(&check::work(&args, progress)?, |report| report.whole),
            Self::Fileset(args) => answered(&fileset::work(&args, progress)?, |report| report.skipped.is_empty()),
            Self::Plan(args) => {
                answered(&plan::work(&args, (&parses, &reported), progress)?.public(), |jobs| jobs.bad.is_empty())
            }
            Self::Run(args) => answered(&run_task::work(&args, &reported, progress)?.0.public(), |state| state.whole),
            Self::Collect(args) => answered(&collect::work(&args)?, |all| all.whole),
            Self::Convert(args) => done(output::json_text(&convert::work(&args, progress)?)?),
            Self::Generate(args) => done(output::json_text(&generate::work(&args, progress)?)?),
            Self::WriteBench(_) => {
                Err(Error::request("write-bench starts processes for its runs: use the command line"))
            }
            Self::Monitor(_) => Err(Error::request(
                "monitor runs a command: use the command line, or basketry.Monitor for this process",
            )),
            Self::Sweep(args) => done(sweep::report(&args, progress)?),
            Self::Hadd(_) => Err(Error::request("hadd is only for the command line; use merge")),
            Self::Completions(_) | Self::Man(_) => {
                Err(Error::request("completions and man are only for the command line: they have no report"))
            }
        }
    }

    fn run(self, command: fn() -> clap::Command) -> Result<Answer> {
        match self {
            Self::Inspect(args) => inspect::run(&args),
            Self::Rewrite(args) => rewrite::run(&args),
            Self::Merge(args) => merge::run(&args),
            Self::Hadd(args) => hadd::run(&args),
            Self::Readspeed(args) => readspeed::run(&args),
            Self::Recover(args) => recover::run(&args),
            Self::Tune(args) => tune::run(&args),
            Self::Verify(args) => verify::run(&args),
            Self::Check(args) => check::run(&args),
            Self::Fileset(args) => fileset::run(&args),
            Self::Plan(args) => plan::run(&args, (&parses, &reported_within_budget)),
            Self::Run(args) => run_task::run(&args, &reported_within_budget),
            Self::Collect(args) => collect::run(&args),
            Self::Convert(args) => convert::run(&args),
            Self::Generate(args) => generate::run(&args),
            Self::WriteBench(args) => write_bench::run(&args),
            Self::Monitor(args) => Ok(if monitor::exit_code(&args) == 0 { Answer::Yes } else { Answer::No }),
            Self::Sweep(args) => sweep::run(&args),
            Self::Completions(args) => completions::run(&args, command()),
            Self::Man(args) => man::run(&args, command()),
        }
    }
}

/// The verb in the arguments of a task, which begin with its name.
fn parsed(arguments: &[String]) -> Result<Verb> {
    let words = std::iter::once("basketry").chain(arguments.iter().map(String::as_str));
    let matches = Verb::augment_subcommands(clap::Command::new("basketry")).try_get_matches_from(words);
    let verb = matches.and_then(|matches| Verb::from_arg_matches(&matches));
    match verb.map_err(|e| Error::request(output::usage_text(&e)))? {
        Verb::Plan(_) | Verb::Run(_) | Verb::Collect(_) => Err(Error::request("a task cannot be plan, run or collect")),
        verb => Ok(verb),
    }
}

/// Checks the arguments of a task.
fn parses(arguments: &[String]) -> Result<()> {
    parsed(arguments).map(drop)
}

/// Runs the command of a task.
fn reported(arguments: &[String], progress: Progress<'_>) -> Result<(String, Answer)> {
    parsed(arguments)?.outcome(progress)
}

/// Runs the command of a task in a process of its own, whose allocator it may set up.
fn reported_within_budget(arguments: &[String], progress: Progress<'_>) -> Result<(String, Answer)> {
    let verb = parsed(arguments)?;
    verb.set_up_allocator();
    verb.outcome(progress)
}

/// A report as JSON, and its answer.
fn answered<R: serde::Serialize>(report: &R, is_yes: impl Fn(&R) -> bool) -> Result<(String, Answer)> {
    Ok((output::json_text(report)?, if is_yes(report) { Answer::Yes } else { Answer::No }))
}

/// The result of a verb, unless a signal ends the process.
fn ended(result: Result<Answer>) -> Result<Answer> {
    interrupt::wait_if_ending();
    result
}
