//! `rootslimtree`: copies some branches of trees, with the flags of ROOT's tool.

use rootfile::Result;

use super::subset::{ChosenEntries, SubsetArgs};
use super::tool::root_tool;
use crate::output::Answer;

/// Copy some branches of trees into a file, with the flags of ROOT's rootslimtree. See also `rewrite`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subset: SubsetArgs,
}

impl Args {
    fn do_it(&self) -> Result<Answer> {
        self.subset.copy(&ChosenEntries::default())
    }
}

root_tool!(Args, "rootslimtree");
