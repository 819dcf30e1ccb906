//! The common part of `pick` and `join`: the options of a file with entries that are found by their keys, and of its rewrite.

use std::path::Path;

use dataset::glob::NameFilter;
use flow::inputs::Input;
use flow::survey::ahead::Expressions;
use flow::survey::wanted::Wanted;
use flow::{ContentOptions, InputOptions, Options, PlanOptions};
use rootfile::Result;

use super::file_output::refuse_parquet;
use crate::layout_args::LayoutArgs;
use crate::options::{Asked, Differing, Following, Matching, Resources, Target, Verbosity, Widening};

/// The options of both verbs.
#[derive(clap::Args)]
pub struct EventOutputArgs {
    /// Keep only branches that match a glob or /regex/, with the branches below them and their counters.
    #[arg(long, value_name = "PATTERN")]
    keep: Vec<String>,
    /// Drop branches that match a glob or /regex/.
    #[arg(long, value_name = "PATTERN")]
    drop: Vec<String>,
    #[command(flatten)]
    differing: Differing,
    #[command(flatten)]
    widening: Widening,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    pub(super) resources: Resources,
    #[command(flatten)]
    pub(super) verbosity: Verbosity,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    matching: Matching,
}

impl EventOutputArgs {
    /// The file to write.
    pub fn path(&self) -> &Path {
        &self.target.output
    }

    /// What is named in the inputs.
    pub fn asked(&self, inputs: Vec<Input>, expressions: Expressions) -> Result<Asked> {
        let wanted = Wanted::default().kept(&self.keep, &self.drop)?;
        Ok(self.matching.asked(inputs, self.layout.wanted(wanted)?, expressions))
    }

    /// Refuses an output that must not be written, beside files that are read.
    pub fn check<'a>(&'a self, read: impl Iterator<Item = &'a Path>) -> Result<()> {
        refuse_parquet(self.path())?;
        self.target.check(read.chain(self.layout.file()))
    }

    /// The options of the rewrite.
    pub fn options(&self) -> Result<Options> {
        Ok(Options {
            layout: self.layout.layout()?,
            content: ContentOptions { filter: NameFilter::new(&self.keep, &self.drop)?, ..ContentOptions::default() },
            plan: PlanOptions { schema: self.differing.schema(), widen: self.widening.widen, ..PlanOptions::default() },
            inputs: InputOptions { follow: self.following.follow(), ..InputOptions::default() },
            budget: self.resources.budget(),
            overwrite: self.target.force,
            ..Options::default()
        })
    }
}
