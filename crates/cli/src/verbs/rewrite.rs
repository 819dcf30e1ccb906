//! `basketry rewrite`: writes one output in a given layout.

use flow::{InputOptions, Options, Progress};
use rootfile::Result;

use super::file_output::FileOutputArgs;
use crate::output::Answer;

/// Rewrite trees in another layout: the same entries, with other clusters, baskets or compression.
///
/// Each column is treated at the shallowest depth that gives the layout: copied where nothing changes,
/// recompressed where only the codec changes, regrouped where baskets change. Entries are moved by
/// their boundaries, so branches of any class can be rewritten. Other objects are copied.
/// Several inputs are appended one after the other (see also `merge`).
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'.
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Leave out damaged or unreadable inputs; of a single input, leave out damaged objects and directories. All are
    /// listed, and the exit code is 1.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    file_output: FileOutputArgs,
}

impl Args {
    /// Its budget.
    pub fn budget(&self) -> flow::Budget {
        self.file_output.budget()
    }

    fn options(&self) -> Options {
        let inputs = InputOptions { skip_bad: self.skip_bad, ..InputOptions::default() };
        Options { inputs, ..Options::default() }
    }
}

pub fn report(args: &Args, progress: Progress<'_>) -> Result<String> {
    args.file_output.report(&args.inputs, args.options(), progress)
}

pub fn run(args: &Args) -> Result<Answer> {
    args.file_output.run(&args.inputs, args.options())
}
