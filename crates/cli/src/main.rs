//! The `basketry` command: arguments in, tables and exit codes out. What the verbs do lies in the crates below.
#![warn(missing_docs)]

mod interrupt;
mod layout_args;
mod options;
mod output;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

/// Reads, merges, re-lays-out and measures ROOT files.
///
/// Inputs are FILE, FILE:TREE, FILE:dir/TREE, or @list.txt with one of them a line. Sizes are written 32kB, 30MB or
/// 1GiB; compression zstd:5 or 505. Exit code 0: done; 1: the answer is no; 2: bad usage or bad input;
/// 130: Ctrl-C.
#[derive(Parser)]
#[command(name = "basketry", version, arg_required_else_help = true, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    verb: verbs::Verb,
}

fn main() -> ExitCode {
    match Cli::try_parse() {
        // Without it the command works as well: Ctrl-C then leaves the hidden file of an unfinished output.
        Ok(cli) => {
            let _ = interrupt::watch();
            cli.verb.exit_code()
        }
        Err(usage) => output::usage(&usage),
    }
}
