//! `rootmkdir`: makes directories, with the flags of ROOT's tool.

use std::ffi::OsString;

use flow::Budget;
use flow::edit::make_directories;
use flow::inputs::Input;
use flow::unwatched;
use rootfile::Result;

use super::tool::{root_tool, told};
use crate::output::Answer;

/// Make directories in files, with the flags of ROOT's rootmkdir. See also `mkdir`.
#[derive(clap::Args)]
pub struct Args {
    /// FILE:PATH, or FILE.
    #[arg(required = true, value_name = "FILE:PATH")]
    inputs: Vec<OsString>,
    /// Make the directories above and the file as well; what is there already is no error.
    #[arg(short, long)]
    parents: bool,
    /// Say what is made.
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let targets: Vec<Input> = self.inputs.iter().cloned().map(Input::from).collect();
        let edited = make_directories(&targets, self.parents, Budget::default(), &unwatched)?;
        Ok(told("rootmkdir", &edited, self.verbose > 0))
    }
}

root_tool!(Args, "rootmkdir");
