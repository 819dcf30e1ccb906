//! The verbs, one module each: its arguments, a call into the crates below, and its output.

mod check;
mod collect;
mod completions;
mod convert;
mod duplicates;
mod edit;
mod event_output;
mod file_output;
mod fileset;
mod generate;
mod hadd;
mod index;
mod inspect;
mod join;
mod look;
mod man;
mod merge;
mod monitor;
mod options;
mod pick;
mod plan;
mod plan_by_keys;
mod precision;
mod readspeed;
mod recover;
mod rewrite;
pub mod root_tools;
mod run_task;
mod sort;
mod sweep;
mod tune;
mod verify;
mod write_bench;

use clap::{FromArgMatches, Subcommand};
use flow::Progress;
use rootfile::{Error, Result};

use crate::interrupt::AfterNaming;
use crate::output;
use crate::verb_command::{Commands, Reported, VerbCommand};

/// The verbs.
#[derive(Subcommand)]
pub enum Verb {
    Ls(look::ls::Args),
    Show(look::show::Args),
    Count(look::count::Args),
    Schema(look::schema::Args),
    Stats(look::stats::Args),
    Draw(Box<look::draw::Args>),
    Inspect(inspect::Args),
    Rewrite(rewrite::Args),
    Merge(merge::Args),
    Hadd(hadd::Args),
    Readspeed(readspeed::Args),
    Recover(recover::Args),
    Cp(edit::cp::Args),
    Mv(edit::mv::Args),
    Rm(edit::rm::Args),
    Mkdir(edit::mkdir::Args),
    Split(edit::split::Args),
    Sort(Box<sort::Args>),
    Tune(tune::Args),
    Precision(precision::Args),
    Verify(verify::Args),
    Check(check::Args),
    Fileset(fileset::Args),
    Index(index::Args),
    Pick(Box<pick::Args>),
    Join(Box<join::Args>),
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
    Rootls(root_tools::rootls::Args),
    #[command(hide = true)]
    Rootprint(root_tools::rootprint::Args),
    #[command(hide = true)]
    Rootcp(root_tools::rootcp::Args),
    #[command(hide = true)]
    Rootmv(root_tools::rootmv::Args),
    #[command(hide = true)]
    Rootrm(root_tools::rootrm::Args),
    #[command(hide = true)]
    Rootmkdir(root_tools::rootmkdir::Args),
    #[command(hide = true)]
    Rooteventselector(root_tools::rooteventselector::Args),
    #[command(hide = true)]
    Rootslimtree(root_tools::rootslimtree::Args),
    #[command(hide = true)]
    Man(man::Args),
    #[command(hide = true)]
    Options(options::Args),
}

/// Does the same with the arguments of whichever verb.
macro_rules! with_args {
    ($verb:expr, $args:ident => $result:expr) => {
        match $verb {
            Verb::Ls($args) => $result,
            Verb::Show($args) => $result,
            Verb::Count($args) => $result,
            Verb::Schema($args) => $result,
            Verb::Stats($args) => $result,
            Verb::Draw($args) => $result,
            Verb::Inspect($args) => $result,
            Verb::Rewrite($args) => $result,
            Verb::Merge($args) => $result,
            Verb::Hadd($args) => $result,
            Verb::Readspeed($args) => $result,
            Verb::Recover($args) => $result,
            Verb::Cp($args) => $result,
            Verb::Mv($args) => $result,
            Verb::Rm($args) => $result,
            Verb::Mkdir($args) => $result,
            Verb::Split($args) => $result,
            Verb::Sort($args) => $result,
            Verb::Tune($args) => $result,
            Verb::Precision($args) => $result,
            Verb::Verify($args) => $result,
            Verb::Check($args) => $result,
            Verb::Fileset($args) => $result,
            Verb::Index($args) => $result,
            Verb::Pick($args) => $result,
            Verb::Join($args) => $result,
            Verb::Plan($args) => $result,
            Verb::Run($args) => $result,
            Verb::Collect($args) => $result,
            Verb::Convert($args) => $result,
            Verb::Generate($args) => $result,
            Verb::WriteBench($args) => $result,
            Verb::Monitor($args) => $result,
            Verb::Sweep($args) => $result,
            Verb::Completions($args) => $result,
            Verb::Rootls($args) => $result,
            Verb::Rootprint($args) => $result,
            Verb::Rootcp($args) => $result,
            Verb::Rootmv($args) => $result,
            Verb::Rootrm($args) => $result,
            Verb::Rootmkdir($args) => $result,
            Verb::Rooteventselector($args) => $result,
            Verb::Rootslimtree($args) => $result,
            Verb::Man($args) => $result,
            Verb::Options($args) => $result,
        }
    };
}

impl Verb {
    /// The effect of a signal once all outputs have their names. `None`: the verb handles signals itself.
    pub fn when_told_to_end(&self) -> Option<AfterNaming> {
        with_args!(self, args => args.when_told_to_end())
    }

    /// Limits what the allocator of this process keeps, by the verb's budget.
    fn set_up_allocator(&self) {
        with_args!(self, args => args.set_up_allocator());
    }

    /// Runs the verb and prints errors. `whole` makes the description of the whole command.
    pub fn exit_code(self, whole: fn() -> clap::Command) -> u8 {
        self.set_up_allocator();
        let commands = Commands { whole, check, look, run: reported_within_budget };
        with_args!(self, args => args.exit_code(commands))
    }

    /// Runs the verb and returns the report as JSON and the answer, without printing.
    pub fn report(self, progress: Progress<'_>, whole: fn() -> clap::Command) -> Result<Reported> {
        let commands = Commands { whole, check, look, run: reported };
        with_args!(self, args => args.report(progress, commands))
    }
}

/// The verbs as a command of their own, for tasks.
fn tasks() -> clap::Command {
    Verb::augment_subcommands(clap::Command::new("basketry"))
}

/// The verb in the arguments of a task, which begin with its name.
fn parsed(arguments: &[String]) -> Result<Verb> {
    let words = std::iter::once("basketry").chain(arguments.iter().map(String::as_str));
    let verb = tasks().try_get_matches_from(words).and_then(|matches| Verb::from_arg_matches(&matches));
    match verb.map_err(|e| Error::request(output::usage_text(&e)))? {
        Verb::Plan(_) | Verb::Run(_) | Verb::Collect(_) => Err(Error::request("a task cannot be plan, run or collect")),
        verb => Ok(verb),
    }
}

/// Checks the arguments of a task.
fn check(arguments: &[String]) -> Result<()> {
    parsed(arguments).map(drop)
}

/// Looks whether the inputs of a task have what its arguments name. Nothing is done.
fn look(arguments: &[String]) -> Result<()> {
    with_args!(parsed(arguments)?, args => args.look_ahead())
}

/// Runs the command of a task.
fn reported(arguments: &[String], progress: Progress<'_>) -> Result<Reported> {
    parsed(arguments)?.report(progress, tasks)
}

/// Runs the command of a task in a process of its own, whose allocator it may set up.
fn reported_within_budget(arguments: &[String], progress: Progress<'_>) -> Result<Reported> {
    let verb = parsed(arguments)?;
    verb.set_up_allocator();
    verb.report(progress, tasks)
}
