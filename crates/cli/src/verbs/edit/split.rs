//! `basketry split`: splits a table of a file into several files.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use dataset::layout::ByteSize;
use flow::inputs::Input;
use flow::split::{Rule, SplitOptions, SplitReport, split};
use rootfile::Result;

use crate::options::{Resources, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Split a tree or RNTuple into several files: by entries, by size, or by the values of a column.
///
/// Parts are called FILE-0001.root, or FILE-VALUE.root, and get their names when all are whole. The first part also has all other objects of
/// the file, the others have the table alone, so `merge` of all parts gives back what the file has. Baskets and pages are copied where all
/// their entries go into one part.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry split events.root --entries 100000
  basketry split events.root:Events --size 1GB -o parts
  basketry split events.root --by run -o runs")]
pub struct Args {
    /// FILE, or FILE:TREE if the file has several tables.
    #[arg(value_name = "FILE[:TREE]")]
    input: String,
    #[command(flatten)]
    rule: RuleArgs,
    /// The folder of the parts, which is made if it is not there. Default: that of the file.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// The most files. A split into more is refused before anything is written.
    #[arg(long, value_name = "N", default_value_t = 500)]
    max_files: usize,
    /// Replace existing files, and remove the parts of an earlier split whose numbers go on from those of the new parts.
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

/// How the table is split.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct RuleArgs {
    /// So many entries in each part; the last one may have fewer.
    #[arg(long, value_name = "N")]
    entries: Option<u64>,
    /// About so many bytes of the table in each part: whole clusters, as long as they fit.
    #[arg(long, value_name = "SIZE")]
    size: Option<ByteSize>,
    /// A part for each value of a column, or of an expression with a whole number, a text or a truth value for each entry. Parts of an
    /// earlier split by other values stay.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    by: Option<String>,
}

impl RuleArgs {
    fn rule(&self) -> Rule {
        match (self.entries, self.size, &self.by) {
            (Some(entries), _, _) => Rule::Entries(entries),
            (_, Some(size), _) => Rule::Bytes(size.bytes()),
            (_, _, by) => Rule::By(by.clone().unwrap_or_default()),
        }
    }
}

impl VerbCommand for Args {
    type Report = SplitReport;
    const DONE: &'static str = "written";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<SplitReport> {
        let input = Input::from(std::ffi::OsString::from(&self.input));
        watch.will_read([&input.path]);
        let options = SplitOptions {
            rule: self.rule.rule(),
            folder: self.output.clone(),
            overwrite: self.force,
            most: self.max_files,
            budget: self.resources.budget(),
        };
        split(&input, &options, watch.progress)
    }

    fn print(&self, report: &SplitReport, _: Instant) -> Result<()> {
        if self.verbosity.quiet {
            return Ok(());
        }
        let mut out = output::stdout();
        let by_value = report.parts.iter().any(|part| part.value.is_some());
        let mut heads = vec!["file", ">entries", ">bytes"];
        if by_value {
            heads.push("=value");
        }
        let mut table = output::table(&heads);
        for part in &report.parts {
            let file = part.path.display().to_string();
            let mut cells = vec![file, output::count(part.entries), output::bytes(part.bytes)];
            if by_value {
                cells.push(part.value.clone().unwrap_or_default());
            }
            table.add_row(cells);
        }
        writeln!(out, "{table}")?;
        output::notes(&mut out, &report.notes)?;
        Ok(out.flush()?)
    }
}
