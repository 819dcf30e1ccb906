//! `basketry precision`: says what fewer bits for floating-point numbers would save, and what they would change.

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use flow::inputs::inputs;
use flow::survey::ahead::Expressions;
use flow::survey::wanted::Wanted;
use lab::precision::{ChoiceReport, ColumnReport, Limits, Options, Report, TableReport, precision};
use lab::report::page::html;
use lab::report::precision::report as page;
use rootfile::{Error, Hint, Result, check_output};

use crate::options::{Asked, Following, Matching, Resources, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Columns that the table shows; --json has them all.
const SHOWN: usize = 30;

/// Say for each column of floating-point numbers what fewer bits would save, and what they would change.
///
/// For each column some numbers of mantissa bits, half precision and quantised ranges are tried. The largest absolute and
/// relative error, and the change of mean and width, are those of all values in the files, which are read twice. The bytes are expected
/// from samples with the codec of the file. Proposed is what takes the fewest bytes within the errors that --max-error and --max-abs
/// allow, and leaves values that stand for "no number" as they are: NaN, infinity, and values that stand apart and repeat, such as
/// -999. Numbers that are stored with less precision already (Double32_t, Float16_t, half, truncated, quantized) stay as they are.
///
/// The layout of -o goes into `basketry rewrite --layout`; `basketry verify --tolerance` then proves the errors, by the commands that
/// are printed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry precision events.root:Events
  basketry precision events.root --max-error 0.1% --max-abs '*_phi=0.001' -o layout.toml")]
pub struct Args {
    /// FILE or FILE:TABLE, @list.txt, or patterns. Without a table all tables of the file are looked at. Several files count as one.
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    inputs: Vec<OsString>,
    /// The largest relative error: a share of each number, such as 1e-3 or 0.1%. With COLUMN= it is for columns that match; the last one
    /// that matches counts. Limits for columns by name replace those for all, of --max-abs as well. Default: 0.1%, if there is no other
    /// limit.
    #[arg(long, value_name = "[COLUMN=]SHARE")]
    max_error: Vec<String>,
    /// The largest absolute error, such as 0.001; with COLUMN= as in --max-error. Where both are given, both must be kept.
    #[arg(long, value_name = "[COLUMN=]LIMIT")]
    max_abs: Vec<String>,
    /// Look only at these columns: names, globs or /regex/.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    columns: Vec<String>,
    /// Write the layout with the proposed encodings to this file, for `rewrite --layout`.
    #[arg(short = 'o', long, value_name = "FILE")]
    layout_out: Option<PathBuf>,
    /// Also write a page with charts and tables, in one HTML file that needs no network.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace existing files.
    #[arg(short, long)]
    force: bool,
    /// Print all encodings that were tried, for each column.
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    matching: Matching,
    #[command(flatten)]
    following: Following,
    #[command(flatten)]
    resources: Resources,
    #[command(flatten)]
    verbosity: Verbosity,
}

impl VerbCommand for Args {
    type Report = Report;
    const DONE: &'static str = "looked at";

    fields!(verbosity, resources);

    fn asked(&self) -> Result<Asked> {
        let wanted = Wanted::default().columns("columns", &self.columns)?;
        let wanted = wanted.columns_before_sign("max-error", &self.max_error)?;
        let wanted = wanted.columns_before_sign("max-abs", &self.max_abs)?;
        Ok(self.matching.asked(inputs(&self.inputs)?, wanted, Expressions::default()))
    }

    fn work(&self, watch: &Watch<'_>) -> Result<Report> {
        let mut limits = Limits::default();
        self.max_error.iter().try_for_each(|text| limits.add_relative(text)).map_err(|e| e.object("--max-error"))?;
        self.max_abs.iter().try_for_each(|text| limits.add_absolute(text)).map_err(|e| e.object("--max-abs"))?;
        let inputs = inputs(&self.inputs)?;
        self.check_outputs(inputs.iter().map(|input| input.path.as_path()))?;
        watch.will_read(inputs.iter().map(|input| &input.path));
        let options = Options {
            inputs,
            columns: self.columns.clone(),
            limits,
            layout_out: self.layout_out.clone(),
            allow_no_match: self.matching.allow_no_match,
            follow: self.following.follow(),
            budget: self.resources.budget(),
        };
        let report = precision(&options, watch.progress)?;
        if let (Some(path), Some(layout)) = (&self.layout_out, &report.layout) {
            output::text_file(path, layout, self.force)?;
        }
        if let Some(path) = &self.report {
            output::text_file(path, &html(&page(&report))?, self.force)?;
        }
        Ok(report)
    }

    fn print(&self, report: &Report, _: Instant) -> Result<()> {
        print(report, self)
    }
}

impl Args {
    /// Refuses outputs that must not be written, before any work.
    fn check_outputs<'a>(&self, read: impl Iterator<Item = &'a std::path::Path> + Clone) -> Result<()> {
        for path in [&self.layout_out, &self.report].into_iter().flatten() {
            check_output(path, self.force, read.clone())?;
        }
        match (&self.layout_out, &self.report) {
            (Some(layout), Some(page)) if layout == page => {
                Err(Error::request("the layout and the page have the same name").hint(Hint::named("report")).file(page))
            }
            _ => Ok(()),
        }
    }
}

fn print(report: &Report, args: &Args) -> Result<()> {
    let mut out = output::stdout();
    if !args.verbosity.quiet {
        for table in &report.tables {
            columns(&mut out, table, args.all)?;
        }
        output::notes(&mut out, &report.notes)?;
    }
    let proposed = report.tables.iter().flat_map(|table| &table.columns).filter(|c| c.proposed.is_some()).count();
    let share = if report.stored == 0 {
        String::new()
    } else {
        format!(" ({})", output::percent(report.expected, report.stored))
    };
    writeln!(
        out,
        "{} of columns, {} of them of floating-point numbers; expected {}{share} with {}",
        output::bytes(report.stored),
        output::bytes(report.floats),
        output::bytes(report.expected),
        output::plural(proposed as u64, "encoding proposed", "encodings proposed"),
    )?;
    match (&report.layout, &args.layout_out) {
        (None, _) => writeln!(out, "nothing is proposed, so there is no layout")?,
        (Some(_), Some(path)) => writeln!(out, "the layout is in {}:", output::name(&path.to_string_lossy()))?,
        (Some(_), None) => writeln!(out, "-o layout.toml writes the layout; then:")?,
    }
    report.commands.iter().try_for_each(|command| writeln!(out, "    {}", output::name(command)))?;
    Ok(out.flush()?)
}

fn columns(out: &mut impl Write, table: &TableReport, all: bool) -> Result<()> {
    let entries = output::plural(table.entries, "entry", "entries");
    writeln!(out, "{} {}, {entries}", table.container.noun(), output::name(&table.path))?;
    let heads = [
        "column",
        "type",
        ">on disk",
        "=encoding",
        ">expected",
        ">largest error",
        ">relative",
        ">mean shift",
        ">width change",
        "=kept",
    ];
    let mut lines = output::table(&heads);
    let shown = if all { usize::MAX } else { SHOWN };
    for column in table.columns.iter().take(shown) {
        let chosen = column.choices.iter().find(|choice| Some(&choice.encoding) == column.proposed.as_ref());
        let name = [column.name.clone(), column.typename.clone(), output::bytes(column.stored)];
        match chosen {
            Some(choice) => lines.add_row(name.into_iter().chain(cells(choice, column))),
            None => lines.add_row(name.into_iter().chain([
                column.reason.clone().unwrap_or_default(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                String::new(),
                kept(column),
            ])),
        }
        for choice in column.choices.iter().filter(|choice| all && Some(&choice.encoding) != column.proposed.as_ref()) {
            lines.add_row([String::new(), String::new(), String::new()].into_iter().chain(cells(choice, column)));
        }
    }
    writeln!(out, "{lines}\n")?;
    if let Some(more @ 1..) = table.columns.len().checked_sub(shown) {
        writeln!(
            out,
            "and {} more columns; --all prints them, and all encodings that were tried",
            output::count(more as u64)
        )?;
    }
    Ok(())
}

/// The cells of an encoding.
fn cells(choice: &ChoiceReport, column: &ColumnReport) -> [String; 7] {
    let small = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1e}"));
    let mark = match (choice.holds, choice.allowed) {
        (false, _) => " (changes kept values)",
        (true, false) => " (beyond the limit)",
        (true, true) => "",
    };
    [
        format!("{}{mark}", choice.encoding),
        format!("{} ({})", output::bytes(choice.bytes), output::percent(choice.bytes, column.stored)),
        small(Some(choice.largest_absolute)),
        small(choice.largest_relative),
        small(choice.mean_shift),
        small(choice.width_change),
        kept(column),
    ]
}

/// The values that stay, in words.
fn kept(column: &ColumnReport) -> String {
    let mut words: Vec<String> = match column.kept.len() {
        n @ 4.. => vec![format!("{n} values")],
        _ => column.kept.iter().map(|one| one.value.to_string()).collect(),
    };
    words.extend((column.nans > 0).then(|| "NaN".to_owned()));
    words.extend((column.infinite > 0).then(|| "inf".to_owned()));
    words.join(", ")
}
