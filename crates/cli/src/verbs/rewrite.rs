//! `basketry rewrite`: writes one output in a given layout.

use std::time::Instant;

use flow::Options;
use rootfile::Result;

use super::file_output::{FileOutputArgs, Made};
use crate::output::Answer;
use crate::verb_command::{VerbCommand, Watch, fields};

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

impl VerbCommand for Args {
    type Report = Made;
    const DONE: &'static str = "written";

    fields!(file_output.verbosity, file_output.resources);

    fn work(&self, watch: &Watch<'_>) -> Result<Made> {
        self.file_output.make(Options::default(), watch)
    }

    fn answer(made: &Made) -> Answer {
        made.answer()
    }

    fn print(&self, made: &Made, _: Instant) -> Result<()> {
        made.print(self.verbosity().quiet)
    }
}
