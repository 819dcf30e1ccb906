//! The verbs, one module each: its arguments, a call into the crates below, and what it prints.

mod inspect;
mod rewrite;
mod verify;

use clap::Subcommand;

use crate::output::Answer;

/// What to do.
#[derive(Subcommand)]
pub enum Verb {
    Inspect(inspect::Args),
    Rewrite(rewrite::Args),
    Verify(verify::Args),
}

impl Verb {
    /// Does it.
    pub fn run(self) -> rootfile::Result<Answer> {
        match self {
            Self::Inspect(args) => inspect::run(&args),
            Self::Rewrite(args) => rewrite::run(&args),
            Self::Verify(args) => verify::run(&args),
        }
    }
}
