//! `basketry inspect`: lists the contents of a file, its layout, and the faults of the layout.

mod findings;
mod format;
mod histograms;
mod ntuples;
mod parquet;
mod rows;
mod tables;

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use dataset::glob::TreePattern;
use lab::inspect::report::Report;
use lab::inspect::{Options, inspect_path, layout};
use lab::report::contents::page;
use rootfile::{Error, Hint, Result, RootFile, check_output};

use crate::options::Verbosity;
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};
use flow::convert::Format;
use flow::inputs::Input;
use rows::Top;

/// Show the contents of a file and their layout, and then the faults of the layout, worst first for readers.
///
/// Each finding has its cost for a reader (bytes on disk, and seconds of one core with basketry's reader), the command that
/// fixes it, and the price of the command. Each command was tried on samples: it is given if the fault is gone then and no worse
/// one has come, and its price is that of the trial. Findings that only the writer of such files pays for are shown with
/// --writer.
///
/// Sizes "in memory" are before compression, without the keys of baskets (their headers, with the names of branch and tree), which are
/// a column of their own; sizes on disk have them, and `ratio` has them on both sides, as ROOT's compression factor. `mean` and
/// `largest` are contents of baskets. The column `fill` is baskets with their keys over the buffers that they were written from;
/// `crossing` counts baskets that cross the start of a cluster, which parallel readers fetch
/// twice. Of RNTuples, pages whose bytes several columns share count once. The schema of --json is documented and versioned.
///
/// Of a Parquet file the metadata are shown: row groups, and columns with types, codecs and sizes. Its layout is not searched for faults,
/// and its sizes "in memory" are those of encoded values, of which repeated ones may be stored once.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry inspect events.root
  basketry inspect events.root:Events --all
  basketry inspect events.root -o events.html
  basketry inspect events.root --layout > layout.toml")]
pub struct Args {
    /// FILE, a ROOT or Parquet file, or FILE:TREE for one of its trees or RNTuples; TREE may be a pattern such as 'dir/*'.
    #[arg(value_name = "FILE")]
    input: Input,
    /// Number of branches or fields to show for each tree or RNTuple, largest first.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Show all branches and fields, in their order.
    #[arg(short, long, conflicts_with = "top")]
    all: bool,
    /// Read the header of every basket, however many there are (as --json does).
    #[arg(long)]
    codecs: bool,
    /// With --json: list every basket, and every page of RNTuples.
    #[arg(long, requires = "json")]
    baskets: bool,
    /// Also show findings that only the writer of the file pays for, such as memory for its buffers. --json always lists them, last.
    #[arg(long)]
    writer: bool,
    /// Try nothing: neither the commands of findings, nor what trees would take as RNTuples and RNTuples as trees. Trials are made on
    /// samples, in at most about half a second of one core for each command, and a second for the other container, and in 64 MB of
    /// memory; nothing is written. Without them, for what needs more memory, for files with more than 10 MB of metadata and for files
    /// on other machines, commands and prices are estimates.
    #[arg(long)]
    no_trials: bool,
    /// Print the layout of the file as TOML, for rewrite --layout.
    #[arg(long, conflicts_with = "json")]
    layout: bool,
    /// Also write a page: the columns as tiles, their baskets or pages along the file, clusters, findings, histograms and all objects, in one
    /// HTML file that needs no network.
    #[arg(short, long, value_name = "FILE.html", conflicts_with = "layout")]
    output: Option<PathBuf>,
    /// Replace an existing page.
    #[arg(short, long, requires = "output")]
    force: bool,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl Args {
    fn options(&self) -> Result<Options> {
        Ok(Options {
            tree: self.input.tree.as_deref().map(TreePattern::new).transpose()?,
            probe_all: self.codecs || self.verbosity.json,
            list_baskets: self.baskets || (self.output.is_some() && !Format::is_parquet(&self.input.path)),
            trials: !self.no_trials,
        })
    }
}

/// What is shown of a file.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum Shown {
    All(Box<Report>),
    /// Its layout as TOML, with notes as comments.
    Layout(String),
}

impl VerbCommand for Args {
    type Report = Shown;

    fields!(verbosity);

    fn work(&self, _: &Watch<'_>) -> Result<Shown> {
        let options = self.options()?;
        if self.layout {
            if Format::is_parquet(&self.input.path) {
                let message = "is a Parquet file, which has no layout that --layout could print";
                return Err(Error::request(message).file(&self.input.path).hint(Hint::named("layout")));
            }
            let (layout, notes) = layout(&RootFile::open(&self.input.path)?, &options)?;
            let notes: String = notes.iter().map(|note| format!("# {}\n", output::line(note))).collect();
            return Ok(Shown::Layout(notes + &layout.to_toml()?));
        }
        let Some(path) = &self.output else {
            return Ok(Shown::All(Box::new(inspect_path(&self.input.path, &options)?)));
        };
        check_output(path, self.force, [&self.input.path])?;
        let mut report = inspect_path(&self.input.path, &options)?;
        let pictures = histograms::pictures(&self.input.path, &report)?;
        output::text_file(path, &page(&report, findings::told(&report, self.writer), pictures)?, self.force)?;
        if !self.baskets {
            report.forget_pieces();
        }
        Ok(Shown::All(Box::new(report)))
    }

    fn tells_of_unclosed(&self, shown: &Shown) -> bool {
        !matches!(shown, Shown::Layout(_)) && (self.verbosity.json || !self.verbosity.quiet)
    }

    fn print(&self, shown: &Shown, _: Instant) -> Result<()> {
        match shown {
            Shown::Layout(text) => {
                let mut out = output::raw_stdout();
                out.write_all(text.as_bytes())?;
                Ok(out.flush()?)
            }
            Shown::All(report) => {
                let top = if self.all { Top::All } else { Top::Largest(self.top) };
                let (mut text, width) = (Vec::new(), output::width());
                tables::print(&mut text, report, &top, (!self.verbosity.quiet).then_some(self.writer), width)?;
                let mut out = output::stdout();
                out.write_all(output::folded(&String::from_utf8_lossy(&text), width).as_bytes())?;
                Ok(out.flush()?)
            }
        }
    }
}
