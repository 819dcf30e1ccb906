//! `basketry merge`: one file of several.

use dataset::layout::ByteSize;
use flow::{Budget, Options, Pack, Schema};
use rootfile::Result;

use super::rewrite::{dry_run, execute, one_tree, print_summary};
use crate::layout_args::{LayoutArgs, SelectArgs};
use crate::options::{Resources, Talk, Target, inputs};
use crate::output::{self, Answer};

/// Merge files into one: trees one after the other, histograms added, directories joined.
///
/// Clusters that are large enough are copied as they are; small ones are put together into good ones. The inputs'
/// trees must have the same branches, unless --common or --fill says what to do about differences; an input
/// without entries never matters. Objects of equal names that cannot be added are all kept, as cycles. The output
/// is in the layout of the first input, unless another is asked for.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'.
    #[arg(required = true)]
    inputs: Vec<String>,
    #[command(flatten)]
    target: Target,
    /// Keep only the branches that all inputs have.
    #[arg(long, conflicts_with = "fill")]
    common: bool,
    /// Keep the branches of all inputs: zeros, empty arrays and empty strings stand for what an input lacks.
    #[arg(long)]
    fill: bool,
    /// Put neighbouring clusters together up to this size; 0B leaves all clusters as they are. If not given: the
    /// size that the first input aims at (its AutoFlush), usually 30MB.
    #[arg(long, value_name = "SIZE", conflicts_with = "cluster")]
    pack: Option<ByteSize>,
    /// Leave out inputs that cannot be read, and say so, instead of stopping.
    #[arg(short = 'k', long)]
    skip_bad: bool,
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// Show what would be done, with the expected size and memory; write nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    talk: Talk,
}

pub fn run(args: &Args) -> Result<Answer> {
    let inputs = inputs(&args.inputs)?;
    let options = Options {
        layout: args.layout.layout()?,
        filter: args.select.filter()?,
        entries: args.select.entries()?,
        tree: one_tree(&inputs)?,
        pack: match args.pack {
            None => Pack::Auto,
            Some(ByteSize(0)) => Pack::No,
            Some(ByteSize(size)) => Pack::Bytes(size),
        },
        schema: match (args.common, args.fill) {
            (true, _) => Schema::Common,
            (_, true) => Schema::Fill,
            _ => Schema::Strict,
        },
        budget: Budget::new(args.resources.memory.bytes(), args.resources.threads),
        overwrite: args.target.force,
        skip_bad: args.skip_bad,
        ..Options::default()
    };
    let paths: Vec<_> = inputs.into_iter().map(|i| i.path).collect();
    if args.dry_run {
        return dry_run(&paths, &args.target.output, &options, args.talk.json);
    }
    args.target.check()?;
    let summary = execute(&paths, &args.target.output, &options, &args.talk)?;
    if args.talk.json {
        output::json(&summary)?;
    } else if !args.talk.quiet {
        print_summary(&summary)?;
    }
    Ok(Answer::Yes)
}
