//! The verbs, one module each: its arguments, a call into the crates below, and what it prints.

mod hadd;
mod inspect;
mod making;
mod merge;
mod readspeed;
mod rewrite;
mod tune;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use crate::output::{self, Answer};

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    Inspect(inspect::Args),
    Rewrite(rewrite::Args),
    Merge(merge::Args),
    Hadd(hadd::Args),
    Readspeed(readspeed::Args),
    Tune(tune::Args),
    Verify(verify::Args),
}

impl Verb {
    /// Does it. Errors are printed.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Hadd(args) => hadd::exit_code(hadd::run(&args)),
            verb => output::exit_code(verb.run()),
        }
    }

    fn run(self) -> rootfile::Result<Answer> {
        match self {
            Self::Inspect(args) => inspect::run(&args),
            Self::Rewrite(args) => rewrite::run(&args),
            Self::Merge(args) => merge::run(&args),
            Self::Hadd(args) => hadd::run(&args),
            Self::Readspeed(args) => readspeed::run(&args),
            Self::Tune(args) => tune::run(&args),
            Self::Verify(args) => verify::run(&args),
        }
    }
}
