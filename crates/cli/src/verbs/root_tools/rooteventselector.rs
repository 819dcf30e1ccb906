//! `rooteventselector`: copies some entries and branches of trees, with the flags of ROOT's tool.

use std::ffi::OsString;

use rootfile::Result;

use super::subset::Subset;
use super::tool::{compression, root_tool};
use crate::output::Answer;

/// Copy some entries and branches of trees into a file, with the flags of ROOT's rooteventselector. See also `rewrite`.
#[derive(clap::Args)]
pub struct Args {
    /// Trees, and at the end the destination.
    #[arg(required = true, num_args = 2.., value_name = "SOURCE")]
    inputs: Vec<OsString>,
    /// Change the compression settings of the destination, if it is not there.
    #[arg(short, long, value_name = "COMPRESS")]
    compress: Option<u32>,
    /// Make the destination anew.
    #[arg(long)]
    recreate: bool,
    /// The first entry, counted from 0.
    #[arg(short, long, default_value_t = 0)]
    first: u64,
    /// The last entry; -1 is the last of the tree.
    #[arg(short, long, default_value_t = -1, allow_negative_numbers = true)]
    last: i64,
    /// Only entries for which this expression is true.
    #[arg(short, long, default_value = "", allow_hyphen_values = true)]
    selection: String,
    /// Branches to include again, separated by commas.
    #[arg(short = 'i', long, default_value = "")]
    branchinclude: String,
    /// Branches to leave out, separated by commas.
    #[arg(short = 'e', long, default_value = "")]
    branchexclude: String,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let subset = Subset {
            inputs: &self.inputs,
            compression: compression(self.compress)?,
            recreate: self.recreate,
            first: self.first,
            last: u64::try_from(self.last).ok(),
            selection: &self.selection,
            include: &self.branchinclude,
            exclude: &self.branchexclude,
        };
        subset.copy()
    }
}

root_tool!(Args, "rooteventselector");
