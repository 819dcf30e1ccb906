//! The `basketry` command as a library. [`run`] is the whole command, for packages that ship it. [`report`] runs a verb that a
//! program calls with values, and returns the JSON that `--json` prints. The work itself is in the crates below.
#![warn(missing_docs)]

mod calling;
mod container_words;
mod help;
mod interrupt;
mod job_runner;
mod json_numbers;
mod layout_args;
mod lines;
mod live_view;
mod options;
mod output;
mod prices;
mod self_command;
mod table;
mod terminal_text;
mod unclosed;
mod verb_command;
mod verbs;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser};
use dataset::near::{advice, nearest};
use rootfile::{Hint, Result};

pub use calling::{Call, Value};
pub use output::waiting as say_waiting;
pub use self_command::{SelfCommand, starts_as};

/// Reads, merges, re-lays-out and measures ROOT files.
///
/// Inputs are FILE, FILE:TREE, FILE:dir/TREE, or @list.txt with one input a line. Sizes are written as 32kB, 30MB or
/// 1GiB, compression as zstd:5 or 505. Exit code 0: success; 1: the answer is no; 2: bad usage or bad input;
/// 130: Ctrl-C; 128 plus the number of another signal that ended the command. A signal after the output has its
/// name changes nothing. With --json an error is one JSON object on standard error.
#[derive(Parser)]
#[command(name = "basketry", version, long_version = env!("BASKETRY_VERSION"))]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: verbs::Verb,
}

/// Runs the command with arguments, the first of which is its own name, and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    // A link with the name of one of ROOT's tools is that tool.
    let tool = arguments.first().and_then(|name| verbs::root_tools::verb_of(name));
    let is_tool = tool.is_some();
    if let Some(verb) = tool {
        arguments.insert(1, verb);
    }
    // hadd parses `--` itself, and clap removes the first one.
    if let [_, verb, dashes, ..] = arguments.as_slice()
        && verb == "hadd"
        && dashes == "--"
    {
        arguments.insert(2, "--".into());
    }
    // `help VERB` is `VERB --help`.
    if arguments.get(1).is_some_and(|word| word == "help") {
        arguments.remove(1);
        arguments.push("--help".into());
    }
    output::errors_as_json(arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json"));
    match parse(&arguments, is_tool) {
        // Without a signal handler the command works too; Ctrl-C then leaves the hidden file of an output.
        Ok(cli) => {
            remote::register();
            remote::say_waiting(output::waiting);
            unclosed::listen();
            let _ = interrupt::outlive_file_limits();
            if let Some(named) = cli.verb.when_told_to_end() {
                let _ = interrupt::watch(named);
            }
            cli.verb.exit_code(Cli::command)
        }
        Err(usage) => output::usage(&usage, &usage_sentence(&usage, &arguments)),
    }
}

/// The arguments as those of a verb. The usage of a tool begins with its own name.
fn parse(arguments: &[OsString], is_tool: bool) -> std::result::Result<Cli, clap::Error> {
    let command = help::grouped(Cli::command()).multicall(is_tool);
    let matches = command.try_get_matches_from(arguments.iter().skip(usize::from(is_tool)))?;
    Cli::from_arg_matches(&matches)
}

/// What is wrong with the arguments, in one sentence, with what may have been meant.
fn usage_sentence(error: &clap::Error, arguments: &[OsString]) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let command = Cli::command();
    match (error.kind(), text(ContextKind::InvalidSubcommand), text(ContextKind::InvalidArg)) {
        (clap::error::ErrorKind::InvalidSubcommand, Some(word), _) => {
            let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name);
            match help::elsewhere(word) {
                Some(instead) => format!("there is no verb {word}: `basketry {instead}` does that"),
                None => format!("there is no verb {word}{}", advice(word, verbs)),
            }
        }
        (clap::error::ErrorKind::UnknownArgument, _, Some(word)) => {
            let mut verb = &command;
            for name in arguments.iter().skip(1).map_while(|word| word.to_str()) {
                let Some(below) = verb.find_subcommand(name) else { break };
                verb = below;
            }
            let name = verb.get_name();
            let is_whole = name == command.get_name();
            let long = word.trim_start_matches('-');
            let has = |one: &&clap::Command| one.get_arguments().any(|option| option.get_long() == Some(long));
            if let Some(one) = command.get_subcommands().filter(|_| is_whole).find(has) {
                return format!(
                    "{word} is an option of verbs: write it behind one, as in `{name} {} {word}`",
                    one.get_name()
                );
            }
            let help = if is_whole { format!("{name} help") } else { format!("{} help {name}", command.get_name()) };
            let shown = verb.get_arguments().filter(|option| !option.is_hide_set());
            // Each option once, by the one of its names that is most like it.
            let spelled = shown.filter_map(clap::Arg::get_long_and_visible_aliases);
            let options: Vec<&str> = spelled.filter_map(|names| nearest(long, names).first().copied()).collect();
            let near = nearest(long, options);
            let near = near.iter().map(|option| format!("--{option}")).collect::<Vec<_>>();
            match (word.starts_with('-'), near.is_empty()) {
                (true, false) => format!("{name} has no option {word}; near it: {}", near.join(", ")),
                (true, true) => format!("{name} has no option {word}; `{help}` lists them"),
                (false, _) => {
                    format!("{name} does not take the argument {word}; `{help}` says what it takes")
                }
            }
        }
        _ => output::usage_text(error),
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
