//! `basketry rewrite`: writes one output in a given layout.

use flow::Options;
use rootfile::Result;

use super::file_output::{FileOutputArgs, FileOutputVerb};

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
#[command(after_help = "Examples:
  basketry rewrite events.root -o small.root --compression zstd:5
  basketry rewrite events.root:Events -o muons.root --keep 'Muon_*' --keep nMuon --entries 0:1000
  basketry rewrite events.root -o new.root --container rntuple
  basketry rewrite events.root -o other.root --layout layout.toml --dry-run")]
pub struct Args {
    #[command(flatten)]
    file_output: FileOutputArgs,
}

impl FileOutputVerb for Args {
    fn file_output(&self) -> &FileOutputArgs {
        &self.file_output
    }

    fn own_options(&self) -> Result<Options> {
        Ok(Options::default())
    }
}
