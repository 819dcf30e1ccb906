//! `basketry rewrite`: writes one output in a given layout.

use flow::{Options, Progress};
use rootfile::Result;

use super::file_output::FileOutputArgs;
use crate::output::Answer;

/// Rewrite trees in another layout: the same entries, with other clusters, baskets or compression.
///
/// Each column is treated at the shallowest depth that gives the layout: copied where nothing changes, recompressed
/// where only the codec changes, regrouped where baskets change, recoded where the split level or streaming changes.
/// Only a recode decodes entries, so branches of any class can be rewritten at the other depths. Other objects are
/// copied. Several inputs are appended one after the other (see also `merge`).
///
/// Parquet files are inputs too: their columns become a tree, or an RNTuple with --container, as `convert` makes them. A row group
/// becomes a cluster, unless the layout has a cluster size. Several files count as one; ROOT files cannot be among them.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    file_output: FileOutputArgs,
}

impl Args {
    /// Its budget.
    pub fn budget(&self) -> flow::Budget {
        self.file_output.budget()
    }
}

pub fn report(args: &Args, progress: Progress<'_>) -> Result<(String, Answer)> {
    args.file_output.report(Options::default(), progress)
}

pub fn run(args: &Args) -> Result<Answer> {
    args.file_output.run(Options::default())
}
