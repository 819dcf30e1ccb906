//! `basketry rewrite`: one output in the asked layout.

use flow::{Options, Progress};
use rootfile::Result;

use super::making::MakingArgs;
use crate::output::Answer;
use flow::inputs::inputs;

/// Rewrite trees in another layout: the same entries, other clusters, baskets and compression.
///
/// Each column is treated at the shallowest depth that reaches the asked layout: copied where it is as asked
/// already, recompressed where only the codec differs, regrouped where baskets change. Entries are moved by
/// their boundaries, so branches of any class can be rewritten. Objects that are no trees are carried over.
/// Several inputs are put one after the other (see also `merge`).
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:TREE, or @list.txt.
    #[arg(required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    making: MakingArgs,
}

pub fn report(args: &Args, progress: Progress<'_>) -> Result<String> {
    args.making.report(inputs(&args.inputs)?, Options::default(), progress)
}

pub fn run(args: &Args) -> Result<Answer> {
    args.making.run(inputs(&args.inputs)?, Options::default())
}
