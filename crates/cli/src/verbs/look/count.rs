//! `basketry count`: counts the entries of tables.

use std::ffi::OsString;
use std::io::Write;
use std::time::Instant;

use flow::inputs::inputs;
use lab::look::count::{Counts, count};
use rootfile::Result;

use crate::options::{Matching, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Count the entries of trees, RNTuples and Parquet files. Only metadata are read.
///
/// Without a tree all tables of a file are counted, the newest cycle of each; TREE may be a pattern. Several files are counted one by one and
/// together. With --quiet only numbers are printed: of each path the entries of all files.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry count events.root
  basketry count 'run*.root:Events'
  basketry count -q events.root:Events")]
pub struct Args {
    /// FILE or FILE:TREE, @list.txt, or a pattern in quotes such as 'run*.root'; paths on this machine or URLs.
    #[arg(required = true, value_name = "FILE[:TREE]")]
    inputs: Vec<OsString>,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Counts;

    fields!(verbosity);

    fn work(&self, _: &Watch<'_>) -> Result<Counts> {
        count(&inputs(&self.inputs)?, self.matching.allow_no_match)
    }

    fn print(&self, counts: &Counts, _: Instant) -> Result<()> {
        let mut out = output::stdout();
        if self.verbosity.quiet {
            counts.totals.iter().try_for_each(|total| writeln!(out, "{}", total.entries))?;
            return Ok(out.flush()?);
        }
        let several = counts.totals.iter().any(|total| total.files > 1);
        let mut table = output::table(&[">entries", "table", "file"]);
        for one in &counts.tables {
            table.add_row([output::count(one.entries), one.table.clone(), one.file.clone()]);
        }
        for total in counts.totals.iter().filter(|_| several) {
            let files = output::plural(total.files, "file", "files");
            table.add_row([output::count(total.entries), total.table.clone(), format!("({files} together)")]);
        }
        if !counts.tables.is_empty() {
            writeln!(out, "{table}")?;
        }
        Ok(out.flush()?)
    }
}
