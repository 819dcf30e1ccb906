//! The `basketry` command as a library. [`run`] is the whole command, for packages that ship it. [`report`] runs a verb that a
//! program calls with values, and returns the JSON that `--json` prints. The work itself is in the crates below.
#![warn(missing_docs)]

mod calling;
mod container_words;
mod interrupt;
mod job_runner;
mod layout_args;
mod live_view;
mod options;
mod output;
mod prices;
mod self_command;
mod terminal_text;
mod verb_command;
mod verbs;

use std::ffi::OsString;
use std::path::Path;

use clap::error::ContextValue;
use clap::{CommandFactory, FromArgMatches, Parser};
use rootfile::{Hint, Result};

pub use calling::{Call, Value};
pub use output::waiting as say_waiting;
pub use self_command::{SelfCommand, starts_as};

/// Reads, merges, re-lays-out and measures ROOT files.
///
/// Inputs are FILE, FILE:TREE, FILE:dir/TREE, or @list.txt with one input a line. Sizes are written as 32kB, 30MB or
/// 1GiB, compression as zstd:5 or 505. Exit code 0: success; 1: the answer is no; 2: bad usage or bad input;
/// 130: Ctrl-C; 128 plus the number of another signal that ended the command. A signal after the output has its
/// name changes nothing.
#[derive(Parser)]
#[command(name = "basketry", version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: verbs::Verb,
}

/// Runs the command with arguments, the first of which is its own name, and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // A link named hadd to the command is hadd.
    if arguments.first().is_some_and(|name| Path::new(name).file_stem().is_some_and(|stem| stem == "hadd")) {
        arguments.insert(1, "hadd".into());
    }
    // hadd parses `--` itself, and clap removes the first one.
    if let [_, verb, dashes, ..] = arguments.as_slice()
        && verb == "hadd"
        && dashes == "--"
    {
        arguments.insert(2, "--".into());
    }
    match Cli::try_parse_from(arguments) {
        // Without a signal handler the command works too; Ctrl-C then leaves the hidden file of an output.
        Ok(cli) => {
            remote::register();
            remote::say_waiting(output::waiting);
            let _ = interrupt::outlive_file_limits();
            if let Some(named) = cli.verb.when_told_to_end() {
                let _ = interrupt::watch(named);
            }
            cli.verb.exit_code(Cli::command)
        }
        Err(usage) => output::usage(&usage),
    }
}

/// Runs a verb, and returns its report as JSON. Nothing is printed, and signals are not handled; `progress` can stop the work.
///
/// # Errors
///
/// Those of the verb, also of its options, which they name as hints.
pub fn report(call: &Call, progress: flow::Progress<'_>) -> Result<String> {
    let (words, command) = call.words(Cli::command())?;
    let cli = command.try_get_matches_from(words).and_then(|matches| Cli::from_arg_matches(&matches));
    let verb = cli.map_err(|e| usage_error(&e))?.verb;
    verb.report(progress, Cli::command).map(|(report, _)| report)
}

/// clap's error about the arguments, with the options that it names.
fn usage_error(error: &clap::Error) -> rootfile::Error {
    let mut result = rootfile::Error::request(output::usage_text(error));
    let command = Cli::command();
    let options = || command.get_subcommands().flat_map(clap::Command::get_arguments);
    for (_, value) in error.context() {
        let named = match value {
            ContextValue::String(text) => std::slice::from_ref(text),
            ContextValue::Strings(texts) => texts.as_slice(),
            _ => &[],
        };
        for text in named {
            let name = text.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default();
            let Some(option) = options().find(|option| option.get_long() == Some(name)) else { continue };
            let takes_value = option.get_action().takes_values();
            let hint: fn(String) -> Hint = if takes_value { Hint::named } else { Hint::switch };
            result = result.hint(hint(name.to_owned()));
        }
    }
    result
}
