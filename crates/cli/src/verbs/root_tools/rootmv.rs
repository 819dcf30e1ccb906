//! `rootmv`: moves objects, with the flags of ROOT's tool. As there, objects of the name are replaced.

use std::ffi::OsString;

use flow::Budget;
use flow::edit::{Taken, TransferOptions, move_objects};
use flow::inputs::inputs;
use flow::unwatched;
use rootfile::Result;

use super::tool::{compression, root_tool, told, without_cycles};
use crate::output::Answer;
use crate::verbs::edit::cp::split_last;
use crate::verbs::edit::{ask, yes};

/// Move objects to a file, with the flags of ROOT's rootmv. See also `mv`.
#[derive(clap::Args)]
pub struct Args {
    /// Sources, and at the end the destination.
    #[arg(required = true, num_args = 2.., value_name = "SOURCE")]
    inputs: Vec<OsString>,
    /// Change the compression settings of the destination, if it is not there.
    #[arg(short, long, value_name = "COMPRESS")]
    compress: Option<u32>,
    /// Ask before each object is removed.
    #[arg(short, long)]
    interactive: bool,
    /// Make the destination anew.
    #[arg(long)]
    recreate: bool,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let (destination, sources) = split_last(&self.inputs);
        let options = TransferOptions {
            compact: false,
            recursive: true,
            taken: Taken::Replace,
            recreate: self.recreate,
            compression: compression(self.compress)?,
            budget: Budget::default(),
        };
        let confirm = if self.interactive { ask } else { yes };
        let edited =
            move_objects(&inputs(sources)?, &destination, &options, &confirm, &unwatched).map_err(without_cycles)?;
        Ok(told("rootmv", &edited, false))
    }
}

root_tool!(Args, "rootmv");
