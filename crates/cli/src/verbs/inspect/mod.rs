//! `basketry inspect`: lists the contents of a file, its layout, and the faults of the layout.

mod findings;
mod format;
mod tables;

use std::io::Write;

use dataset::glob::TreePattern;
use lab::inspect::{Options, inspect, layout};
use rootfile::{Result, RootFile};

use crate::options::Verbosity;
use crate::output::{self, Answer};
use flow::inputs::Input;

/// Show what is in a file and how it lies there; ends with what is wrong with it, worst first for those who read it.
///
/// Each finding says what it costs a reader (bytes on disk, and seconds of one core with basketry's reader), the command that
/// mends it, and the price of that; all are estimates. What only the program that writes such files pays is shown with
/// --writer.
///
/// Sizes "in memory" are before compression. The column `fill` is what baskets held over the buffers they were
/// written from; `crossing` counts the baskets that cross the start of a cluster, which readers in parallel fetch
/// twice. The schema of --json is documented and versioned.
#[derive(clap::Args)]
pub struct Args {
    /// FILE, or FILE:TREE for one of its trees (a pattern such as 'dir/*' will do).
    #[arg(value_name = "FILE")]
    input: Input,
    /// Branches to show for each tree, largest first.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Show all branches, in the order of the tree.
    #[arg(short, long, conflicts_with = "top")]
    all: bool,
    /// Look at the header of every basket, also where there are thousands (as --json does).
    #[arg(long)]
    codecs: bool,
    /// With --json: list every basket.
    #[arg(long, requires = "json")]
    baskets: bool,
    /// Show also what only the writer of the file pays, such as memory for its buffers; --json always has it, last.
    #[arg(long)]
    writer: bool,
    /// Print the layout of the file as TOML, for rewrite --layout.
    #[arg(long, conflicts_with = "json")]
    layout: bool,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl Args {
    fn options(&self) -> Result<Options> {
        Ok(Options {
            tree: self.input.tree.as_deref().map(TreePattern::new).transpose()?,
            probe_all: self.codecs || self.verbosity.json,
            list_baskets: self.baskets,
        })
    }
}

/// The report as JSON, or the layout as TOML in JSON.
pub fn report(args: &Args) -> Result<String> {
    let file = RootFile::open(&args.input.path)?;
    let options = args.options()?;
    match args.layout {
        true => output::json_text(&layout(&file, &options)?.0.to_toml()?),
        false => output::json_text(&inspect(&file, &options)?),
    }
}

/// Does it.
pub fn run(args: &Args) -> Result<Answer> {
    let file = RootFile::open(&args.input.path)?;
    let options = args.options()?;
    if args.layout {
        let (layout, problems) = layout(&file, &options)?;
        let text = layout.to_toml()?;
        let mut out = output::raw_stdout();
        for problem in &problems {
            writeln!(out, "# left out: {}", output::line(&problem.to_string()))?;
        }
        out.write_all(text.as_bytes())?;
        out.flush()?;
        return Ok(Answer::Yes);
    }
    let report = inspect(&file, &options)?;
    if args.verbosity.json {
        output::json(&report)?;
    } else {
        let top = if args.all { tables::Top::All } else { tables::Top::Largest(args.top) };
        let mut out = output::stdout();
        tables::print(&mut out, &report, &top, (!args.verbosity.quiet).then_some(args.writer))?;
        out.flush()?;
    }
    // The process ends here; to take thousands of strings apart first is a tenth of its time.
    std::mem::forget(report);
    Ok(Answer::Yes)
}
