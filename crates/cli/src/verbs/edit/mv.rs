//! `basketry mv`: moves or renames objects and directories.

use std::ffi::OsString;

use flow::edit::{Edited, TransferOptions, move_objects};
use flow::inputs::inputs;
use rootfile::Result;

use super::cp::split_last;
use super::{TakenArgs, ask, edited, yes};
use crate::options::{Resources, Verbosity};
use crate::verb_command::{VerbCommand, Watch};

/// Move or rename objects and directories, within a file or to another one, as mv does with files.
///
/// Sources and destination are those of `cp`. All cycles of an object move, or the one that is named (FILE:PATH;CYCLE); directories move with
/// all that is in them. An object that is called as its name gets the new name.
///
/// The destination is written first, and then the files from which objects go, each anew beside the old file. That all can be
/// written is tested before. If the command is killed or fails between the two, objects are in both.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry mv hists.root:pt hists.root:muon_pt
  basketry mv 'hists.root:tmp/h*' hists.root:final
  basketry mv run1.root:Events archive.root")]
pub struct Args {
    /// Sources, and at the end the destination: FILE or FILE:PATH.
    #[arg(required = true, num_args = 2.., value_name = "FILE[:PATH]")]
    inputs: Vec<OsString>,
    /// Ask before each object is moved; y moves it.
    #[arg(short, long)]
    interactive: bool,
    #[command(flatten)]
    taken: TakenArgs,
    /// Write the file anew, without gaps, and not in place: the space of what goes comes back at once. Otherwise later changes use it.
    #[arg(long)]
    compact: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    edited!();

    fn work(&self, watch: &Watch<'_>) -> Result<Edited> {
        let (destination, sources) = split_last(&self.inputs);
        let options = TransferOptions {
            taken: self.taken.taken(),
            compact: self.compact,
            budget: self.resources.budget(),
            ..TransferOptions::default()
        };
        let confirm = if self.interactive { ask } else { yes };
        move_objects(&inputs(sources)?, &destination, &options, &confirm, watch.progress)
    }
}
