//! `rootrm`: removes objects, with the flags of ROOT's tool.

use std::ffi::OsString;

use flow::Budget;
use flow::edit::{RemoveOptions, remove};
use flow::inputs::inputs;
use flow::unwatched;
use rootfile::Result;

use super::tool::{root_tool, told, told_as};
use crate::output::Answer;
use crate::verbs::edit::{ask, would_remove, yes};

/// Remove objects from files, with the flags of ROOT's rootrm. See also `rm`.
#[derive(clap::Args)]
pub struct Args {
    /// FILE:PATH, or FILE.
    #[arg(required = true, value_name = "FILE:PATH")]
    inputs: Vec<OsString>,
    /// Pass over what is not there, and never ask.
    #[arg(short, long)]
    force: bool,
    /// Ask before each object is removed.
    #[arg(short, long, conflicts_with = "force")]
    interactive: bool,
    /// Show what would be removed, and remove nothing.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Remove directories with all that is in them, and whole files.
    #[arg(short, long)]
    recursive: bool,
    /// Say what is removed.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let options = RemoveOptions {
            compact: false,
            recursive: self.recursive,
            force: self.force,
            dry_run: self.dry_run,
            budget: Budget::default(),
        };
        let confirm = if self.interactive { ask } else { yes };
        let edited = remove(&inputs(&self.inputs)?, &options, &confirm, &unwatched)?;
        Ok(match self.dry_run {
            true => told_as("rootrm", &edited, Some(would_remove)),
            false => told("rootrm", &edited, self.verbose > 0),
        })
    }
}

root_tool!(Args, "rootrm");
