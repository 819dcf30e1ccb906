//! `rootcp`: copies objects, with the flags of ROOT's tool.

use std::ffi::OsString;

use flow::Budget;
use flow::edit::{Taken, TransferOptions, copy};
use flow::inputs::inputs;
use flow::unwatched;
use rootfile::Result;

use super::tool::{compression, root_tool, told, without_cycles};
use crate::output::Answer;
use crate::verbs::edit::cp::split_last;

/// Copy objects into a file, with the flags of ROOT's rootcp. See also `cp`.
#[derive(clap::Args)]
pub struct Args {
    /// Sources, and at the end the destination.
    #[arg(required = true, num_args = 2.., value_name = "SOURCE")]
    inputs: Vec<OsString>,
    /// Change the compression settings of the destination, if it is not there.
    #[arg(short, long, value_name = "COMPRESS")]
    compress: Option<u32>,
    /// Make the destination anew.
    #[arg(long)]
    recreate: bool,
    /// Copy directories with all that is in them.
    #[arg(short, long)]
    recursive: bool,
    /// Replace objects that are there already.
    #[arg(long)]
    replace: bool,
    /// Say what is copied.
    #[arg(short, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let (destination, sources) = split_last(&self.inputs);
        let options = TransferOptions {
            compact: false,
            recursive: self.recursive,
            taken: if self.replace { Taken::Replace } else { Taken::Refuse },
            recreate: self.recreate,
            compression: compression(self.compress)?,
            budget: Budget::default(),
        };
        let edited = copy(&inputs(sources)?, &destination, &options, &unwatched).map_err(without_cycles)?;
        Ok(told("rootcp", &edited, self.verbose > 0))
    }
}

root_tool!(Args, "rootcp");
