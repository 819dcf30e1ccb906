//! `basketry mkdir`: makes directories in files.

use std::ffi::OsString;

use flow::edit::{Edited, make_directories};
use flow::inputs::Input;
use rootfile::Result;

use super::edited;
use crate::options::{Resources, Verbosity};
use crate::verb_command::{VerbCommand, Watch};

/// Make directories in files, or files without objects.
///
/// FILE:PATH is a directory to make, FILE alone a file that is not there. With -p directories above it and the file are made as well, and a
/// directory that is there is no error.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry mkdir hists.root:run1
  basketry mkdir -p new.root:run1/muons new.root:run1/jets")]
pub struct Args {
    /// FILE:PATH, or FILE.
    #[arg(required = true, value_name = "FILE[:PATH]")]
    inputs: Vec<OsString>,
    /// Also make the directories above and the file; what is there already is no error.
    #[arg(short, long)]
    parents: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    edited!();

    fn work(&self, watch: &Watch<'_>) -> Result<Edited> {
        // No patterns: the names are new.
        let targets: Vec<Input> = self.inputs.iter().cloned().map(Input::from).collect();
        make_directories(&targets, self.parents, self.resources.budget(), watch.progress)
    }
}
