//! `basketry rm`: removes objects and directories from files.

use std::ffi::OsString;

use flow::edit::{Edited, RemoveOptions, remove};
use flow::inputs::inputs;
use rootfile::Result;

use super::{ask, edited, sentence, would_remove, yes};
use crate::options::{Resources, Verbosity};
use crate::verb_command::{VerbCommand, Watch};

/// Remove objects and directories from files, and give their space back.
///
/// FILE:PATH means all cycles of an object, FILE:PATH;2 one of them; a pattern in quotes such as 'f.root:tmp/h*' stays within a directory.
/// With -r directories go with all that is in them, and FILE without a colon is the whole file. A tree goes with its entries.
///
/// Each file is changed in place, and is the old one or the new one at any moment; what goes leaves gaps, which later changes use. With
/// --compact it is written anew beside the old one, and takes its place when it is whole.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry rm hists.root:pt 'hists.root:tmp/h*'
  basketry rm -r hists.root:tmp
  basketry rm 'events.root:Events;1'")]
pub struct Args {
    /// FILE:PATH, FILE:PATH;CYCLE, or a pattern in quotes.
    #[arg(required = true, value_name = "FILE:PATH")]
    inputs: Vec<OsString>,
    /// Also remove directories with all that is in them, and files that are named without a colon.
    #[arg(short, long)]
    recursive: bool,
    /// Pass over what is not there.
    #[arg(short, long)]
    force: bool,
    /// Ask before each object is removed; y removes it.
    #[arg(short, long)]
    interactive: bool,
    /// Show what would be removed, and remove nothing.
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Write the file anew, without gaps, and not in place: the space of what goes comes back at once. Otherwise later changes use it.
    #[arg(long)]
    compact: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    edited!(|args| if args.dry_run { would_remove } else { sentence });

    fn work(&self, watch: &Watch<'_>) -> Result<Edited> {
        let options = RemoveOptions {
            recursive: self.recursive,
            force: self.force,
            dry_run: self.dry_run,
            compact: self.compact,
            budget: self.resources.budget(),
        };
        let confirm = if self.interactive { ask } else { yes };
        remove(&inputs(&self.inputs)?, &options, &confirm, watch.progress)
    }
}
