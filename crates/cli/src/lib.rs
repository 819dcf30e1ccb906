//! The `basketry` command as a library. [`run`] is the whole command, for packages that ship it. [`report`] runs a verb and
//! returns the JSON that `--json` prints, for programs that call it. The work itself is in the crates below.
#![warn(missing_docs)]

mod interrupt;
mod layout_args;
mod live_view;
mod options;
mod output;
mod self_command;
mod terminal_text;
mod verbs;

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, Parser};
use rootfile::Result;

pub use self_command::{SelfCommand, starts_as};

/// Reads, merges, re-lays-out and measures ROOT files.
///
/// Inputs are FILE, FILE:TREE, FILE:dir/TREE, or @list.txt with one of them a line. Sizes are written 32kB, 30MB or
/// 1GiB; compression zstd:5 or 505. Exit code 0: done; 1: the answer is no; 2: bad usage or bad input;
/// 130: Ctrl-C, and 128 and the number of any other signal that ended it. A signal that comes when the output has its
/// name already changes nothing.
#[derive(Parser)]
#[command(name = "basketry", version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: verbs::Verb,
}

/// Runs the command with these arguments, the first of which is its own name, and says with which code to exit.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // A link to the command that is called hadd is hadd.
    if arguments.first().is_some_and(|name| Path::new(name).file_stem().is_some_and(|stem| stem == "hadd")) {
        arguments.insert(1, "hadd".into());
    }
    // hadd knows `--` itself, and clap takes away the first.
    if let [_, verb, dashes, ..] = arguments.as_slice()
        && verb == "hadd"
        && dashes == "--"
    {
        arguments.insert(2, "--".into());
    }
    match Cli::try_parse_from(arguments) {
        // If signals cannot be watched the command works as well: Ctrl-C then leaves the hidden file of an output.
        Ok(cli) => {
            let _ = interrupt::outlive_file_limits();
            if let Some(named) = cli.verb.when_told_to_end() {
                let _ = interrupt::watch(named);
            }
            cli.verb.exit_code()
        }
        Err(usage) => output::usage(&usage),
    }
}

/// Does what the verb that the arguments open with does, and hands back its report as JSON. Nothing is printed, and
/// no signal is watched for; `progress` can end the work.
pub fn report(arguments: impl IntoIterator<Item = OsString>, progress: flow::Progress<'_>) -> Result<String> {
    let arguments = std::iter::once(OsString::from("basketry")).chain(arguments);
    let cli = Cli::try_parse_from(arguments).map_err(|e| rootfile::Error::request(output::usage_text(&e)))?;
    cli.verb.report(progress)
}

/// The options of a verb, by their long names without dashes; none if there is no such verb.
pub fn options(verb: &str) -> Vec<String> {
    let command = Cli::command();
    let verb = command.find_subcommand(verb);
    verb.into_iter().flat_map(|v| v.get_arguments().filter_map(|a| a.get_long()).map(str::to_owned)).collect()
}
