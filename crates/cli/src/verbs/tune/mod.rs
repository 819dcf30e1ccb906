//! `basketry tune`: measure, decide, explain, and with an output rewrite and prove.

mod print;

use std::path::PathBuf;

use flow::Progress;
use lab::tune::report::Proof;
use lab::tune::{Limit, Options, Tuned, Workload, prove, tune};
use rootfile::{Error, Result, refuse_existing};

use crate::options::{Resources, Talk};
use crate::output::{self, Answer};
use flow::inputs::Input;

/// Find the layout that a workload wants: measure candidates on samples, choose codec, basket and cluster sizes for
/// each column under limits, and say why. With an output the file is rewritten, measured again and proven equal.
///
/// Reading time is the CPU time of one thread: fetching baskets (from the page cache), decompressing them, and
/// decoding the entries that the workload asks for into columns. Within the limits the reading time of the workload is made as small as can be; a second of
/// compression counts as 5 ms of reading, and one per cent of size as 0.05 per cent of reading time. The choice over
/// columns is solved, not guessed: the report says how far from the optimum it can be at most. Sizes are expected
/// with an error: a limit on size is met with 0.5 to 3 % to spare, by what a second look at other samples says.
/// The schema of --json is documented and versioned.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, or FILE:TREE for one of its trees.
    #[arg(value_name = "FILE")]
    input: Input,
    /// Rewrite into this file, in the chosen layout.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the output if it is there.
    #[arg(short, long)]
    force: bool,
    /// Write the chosen layout to this file, for `rewrite --layout`.
    #[arg(long, value_name = "FILE")]
    layout_out: Option<PathBuf>,
    /// What the file will be read for: full, sparse:1%, columns:GLOB,..., or a mix such as
    /// full=0.3,columns:Muon_*=0.7.
    #[arg(long, value_name = "WORKLOAD", default_value = "full")]
    workload: Workload,
    /// The most bytes the file may have: a size, or a multiple of today's such as 1.05x. If nothing is said: 1x.
    #[arg(long, value_name = "LIMIT")]
    max_size: Option<Limit>,
    /// The most memory that a reader of all columns may need: its largest baskets and one cluster. If nothing is
    /// said: 256MB, or 1.5x today's if that is more.
    #[arg(long, value_name = "LIMIT")]
    max_read_memory: Option<Limit>,
    /// The most CPU time that compression may take: 90s, 5min, or a multiple of today's codec's such as 2x.
    #[arg(long, value_name = "LIMIT", value_parser = Limit::time)]
    max_write_time: Option<Limit>,
    /// Try columns of objects split (level 99) and unsplit (member-wise), too. Without it their branches stay as they
    /// are: who reads members by their branches' names finds them only where they are split.
    #[arg(long)]
    recode: bool,
    /// Seed of the samples: the same seed takes the same baskets.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    talk: Talk,
}

/// Measures, decides, and where there is an output rewrites and proves.
pub fn work(args: &Args, progress: Progress<'_>) -> Result<Tuned> {
    if let Some(output) = &args.output {
        refuse_existing(output, args.force)?;
    }
    let options = Options {
        workload: args.workload.clone(),
        max_size: args.max_size,
        max_read_memory: args.max_read_memory,
        max_write_time: args.max_write_time,
        memory: args.resources.memory.bytes(),
        seed: args.seed,
        tree: args.input.tree.clone(),
        recode: args.recode,
    };
    let mut tuned = tune(&args.input.path, &options)?;
    if let (Some(path), Some(layout)) = (&args.layout_out, &tuned.report.layout) {
        std::fs::write(path, layout).map_err(|e| Error::from(e).file(path))?;
    }
    if let (Some(out), Some(_)) = (&args.output, &tuned.layout) {
        let budget = (args.resources.budget(), args.force);
        prove(&mut tuned, (&args.input.path, out), &options, budget, progress)?;
    }
    Ok(tuned)
}

/// Does it.
pub fn run(args: &Args) -> Result<Answer> {
    let bar = args.talk.progress([&args.input.path], "written");
    let tuned = work(args, &|bytes| output::advance(&bar, bytes))?;
    bar.finish_and_clear();
    if args.talk.json {
        output::json(&tuned.report)?;
    } else if !args.talk.quiet || tuned.layout.is_none() {
        print::report(&tuned.report)?;
    }
    // A limit that nobody asked for is no promise: metadata may grow a little.
    let sized = |p: &Proof| p.within_size || args.max_size.is_none();
    let proven = tuned.report.proof.as_ref().is_none_or(|p| p.equal && sized(p));
    Ok(if tuned.layout.is_some() && proven { Answer::Yes } else { Answer::No })
}
