//! `rootslimtree`: copies some branches of trees, with the flags of ROOT's tool.

use std::ffi::OsString;

use rootfile::Result;

use super::subset::Subset;
use super::tool::{compression, root_tool};
use crate::output::Answer;

/// Copy some branches of trees into a file, with the flags of ROOT's rootslimtree. See also `rewrite`.
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
            first: 0,
            last: None,
            selection: "",
            include: &self.branchinclude,
            exclude: &self.branchexclude,
        };
        subset.copy()
    }
}

root_tool!(Args, "rootslimtree");
