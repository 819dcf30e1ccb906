//! `rooteventselector`: copies some entries and branches of trees, with the flags of ROOT's tool.

use rootfile::Result;

use super::subset::{ChosenEntries, SubsetArgs};
use super::tool::root_tool;
use crate::output::Answer;

/// Copy some entries and branches of trees into a file, with the flags of ROOT's rooteventselector. See also `rewrite`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subset: SubsetArgs,
    /// The first entry, counted from 0.
    #[arg(short, long, default_value_t = 0)]
    first: u64,
    /// The last entry; -1 is the last of the tree.
    #[arg(short, long, default_value_t = -1, allow_negative_numbers = true)]
    last: i64,
    /// Only entries for which this expression is true.
    #[arg(short, long, default_value = "", allow_hyphen_values = true)]
    selection: String,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        let (first, last, selection) = (self.first, u64::try_from(self.last).ok(), self.selection.as_str());
        self.subset.copy(&ChosenEntries { first, last, selection })
    }
}

root_tool!(Args, "rooteventselector");
