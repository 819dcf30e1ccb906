//! `basketry stats`: the values of the columns of a table in figures.

use std::io::Write;
use std::time::Instant;

use flow::inputs::inputs;
use flow::survey::decided::decided_by_columns;
use flow::{Choice, Entries};
use lab::look::statistics::{ColumnStatistics, Extreme, StatisticsOptions, TableStatistics, statistics};
use rootfile::Result;

use crate::container_words::words;
use crate::layout_args::{CutArgs, DefineArgs};
use crate::options::{Following, Matching, Resources, Verbosity};
use crate::output;
use crate::verb_command::{VerbCommand, Watch, fields};

/// Heights of the bins of a small histogram.
const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Show the values of the columns of a tree, an RNTuple or a Parquet file in figures: counts, extremes, mean and standard deviation, the median,
/// lengths of lists, and a small histogram.
///
/// Each column is read once, on all threads and within --memory: where that has no room for all columns side by side, they are read one group
/// after the other. Of a list column the values are those in the lists. Quantiles and histograms are exact for up to 65,536 numbers of a
/// column; beyond, they are those of a random sample of so many, which is the same each time: the share of numbers below a quantile is
/// within 0.4% of what it should be, in 19 of 20 cases. So many different values are counted; beyond, their number is estimated within 1%.
/// --json has more quantiles.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  basketry stats events.root:Events
  basketry stats events.root:Events 'Muon_*' MET_pt --entries 0:100000
  basketry stats --json 'run*.root:Events' --columns MET_pt
  basketry stats events.root:Events MET_pt --define ht='sum(Jet_pt)' --cut 'ht > 100'")]
pub struct Args {
    /// FILE, if it has one table, or FILE:TREE; @list.txt, or a pattern in quotes such as 'run*.root:Events', whose files count as one.
    #[arg(value_name = "FILE[:TREE]")]
    input: String,
    /// Columns: names, globs or /regex/. Default: all.
    #[arg(value_name = "COLUMN")]
    names: Vec<String>,
    /// More columns, for scripts.
    #[arg(long, value_name = "NAME", num_args = 1.., hide_short_help = true)]
    columns: Vec<String>,
    /// Look only at these entries: ranges as in Python (100:110, or :5,-5:), a random share (1%), or entries listed in a file.
    #[arg(long, value_name = "1%|A:B,...|FILE", allow_hyphen_values = true)]
    entries: Option<Entries>,
    #[command(flatten)]
    cuts: CutArgs,
    #[command(flatten)]
    defines: DefineArgs,
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
    type Report = TableStatistics;
    const DONE: &'static str = "looked at";

    fields!(verbosity, resources);

    fn work(&self, watch: &Watch<'_>) -> Result<TableStatistics> {
        let options = StatisticsOptions {
            columns: self.names.iter().chain(&self.columns).cloned().collect(),
            entries: Choice { defines: self.defines.defines()?, ..self.cuts.choice(self.entries.as_ref(), 1) },
            allow_no_match: self.matching.allow_no_match,
            follow: self.following.follow(),
            budget: self.resources.budget(),
        };
        let meant = decided_by_columns(inputs(&[&self.input])?, &options.columns)?;
        statistics(&meant, &options, watch.progress)
    }

    fn print(&self, found: &TableStatistics, _: Instant) -> Result<()> {
        let mut out = output::stdout();
        if !self.verbosity.quiet {
            let what = found.container.map_or("table", |container| words(container).table);
            let all = output::plural(found.all_entries, "entry", "entries");
            writeln!(out, "{what} {}: {} of {all}", output::name(&found.table), output::count(found.entries))?;
            output::cut_flow(&mut out, &found.table, &found.cuts)?;
        }
        let heads = [
            "column",
            ">values",
            ">no number",
            ">min",
            ">median",
            ">mean",
            ">max",
            ">st. dev.",
            ">different",
            ">lengths",
            "=histogram",
        ];
        let mut table = output::table(&heads);
        found.columns.iter().for_each(|column| table.add_row(cells(column)));
        writeln!(out, "{table}")?;
        for column in &found.columns {
            if let Some(why) = &column.unreadable {
                writeln!(out, "{} cannot be read: {}", output::name(&column.name), output::line(why))?;
            }
        }
        let is_estimated = |column: &ColumnStatistics| {
            column.unreadable.is_none() && !(column.exact && (column.different_exact || column.different.is_none()))
        };
        if found.columns.iter().any(is_estimated) {
            writeln!(out, "≈: estimated from 65,536 of the numbers or values")?;
        }
        output::notes(&mut out, &found.notes)?;
        Ok(out.flush()?)
    }
}

/// The row of a column.
fn cells(column: &ColumnStatistics) -> Vec<String> {
    let maybe = |value: Option<f64>| value.map_or_else(String::new, number);
    let median = column.quantiles.iter().find(|one| (one.share - 0.5).abs() < 1e-9).map(|one| number(one.value));
    let about = |is_exact: bool| if is_exact { "" } else { "≈" };
    let different = column.different.filter(|_| column.unreadable.is_none());
    let no_number = column.nulls + column.missing + column.nans + column.infinite;
    let lengths = column.lengths.map(|lengths| match lengths.min == lengths.max {
        true => lengths.min.to_string(),
        false => format!("{}-{}, mean {}", lengths.min, lengths.max, number(lengths.mean)),
    });
    let counted = |count: u64| if column.unreadable.is_some() { String::new() } else { output::count(count) };
    vec![
        column.name.clone(),
        counted(column.values),
        if no_number > 0 { output::count(no_number) } else { String::new() },
        maybe(column.min.map(Extreme::as_f64)),
        median.map(|median| format!("{}{median}", about(column.exact))).unwrap_or_default(),
        maybe(column.mean),
        maybe(column.max.map(Extreme::as_f64)),
        maybe(column.deviation),
        different.map(|count| format!("{}{}", about(column.different_exact), output::count(count))).unwrap_or_default(),
        lengths.unwrap_or_default(),
        picture(&column.histogram),
    ]
}

/// A number of at most five digits.
fn number(value: f64) -> String {
    let size = value.abs();
    match value == 0.0 || (1e-3..1e6).contains(&size) {
        true if value.fract() == 0.0 => format!("{value}"),
        true if size >= 100.0 => format!("{value:.1}"),
        true => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
        false if !value.is_finite() => value.to_string(),
        false => format!("{value:.3e}"),
    }
}

fn picture(bins: &[u64]) -> String {
    let most = bins.iter().copied().max().unwrap_or(0);
    let height = |count: &u64| {
        let level = if most == 0 { 0 } else { count.saturating_mul(8).div_ceil(most) };
        usize::try_from(level).ok().and_then(|level| HEIGHTS.get(level)).copied().unwrap_or(' ')
    };
    bins.iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(0.0, "0"), (12.0, "12"), (0.25, "0.25"), (1234.56, "1234.6"), (1e9, "1.000e9"), (1e-7, "1.000e-7")]
        {
            assert_eq!(number(value), text);
        }
        assert_eq!(picture(&[0, 1, 8]), " ▁█");
    }
}
