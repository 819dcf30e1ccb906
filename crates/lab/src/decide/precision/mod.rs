//! Says what fewer bits for floating-point numbers would save, and what they would change: for each column the largest errors over all
//! values, the change of mean and width, and the bytes, from samples with the file's codec. Nothing is written here: the result is a
//! layout.
//!
//! | module | job |
//! |---|---|
//! | `limits` | the errors that are allowed |
//! | `columns` | the columns of floating-point numbers, from metadata |
//! | `values` | the numbers inside of arrays |
//! | `facts` | range, and values that stand for "no number" |
//! | `candidates` | encodings to try |
//! | `errors` | what they change |
//! | `sample` | what they take |
//! | `choose` | the proposal for a column |
//! | `threads` | the same work on many columns |

mod candidates;
mod choose;
mod columns;
mod errors;
mod facts;
mod limits;
mod report;
mod sample;
mod values;

use std::path::{Path, PathBuf};

use dataset::glob::ColumnPattern;
use dataset::layout::{ColumnEncoding, ColumnLayout, Layout};
use dataset::table::catalog::{by_path, tables};
use flow::inputs::Input;
use flow::read::{ColumnGroup, Dataset, GivesWay, LeastMemory, column_groups};
use flow::{Budget, Progress, tell};
use rootfile::{Error, Follow, Result, RootFile, public_path};

pub use facts::Repeated;
pub use limits::{DEFAULT_RELATIVE, Limit, Limits};
pub use report::{ChoiceReport, ColumnReport, Report, SCHEMA, TableReport};

use crate::math::as_f64;
use crate::system::on_each::on_each;
use crate::system::shell;
use choose::ColumnWork;
use columns::FloatColumn;

/// Bytes of memory of what is known and told of a column, besides its numbers. Measured.
const COLUMN: u64 = 5000;
/// Samples take at most this share of the memory that is free. They are in memory up to three times again while they are weighed.
const SAMPLE_SHARE: u64 = 8;

/// Options of `precision`.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files, with a table in each. Without a table all tables of the file are looked at; of several files all must have the same.
    pub inputs: Vec<Input>,
    /// Only these columns: names, globs or /regex/. Empty: all.
    pub columns: Vec<String>,
    /// The errors that are allowed.
    pub limits: Limits,
    /// The file that the layout is written to, for the commands of the report. Default: `layout.toml`.
    pub layout_out: Option<PathBuf>,
    /// Whether patterns may match no column.
    pub allow_no_match: bool,
    /// How far addresses in the files are followed.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
}

/// Looks at all numbers of the files, twice. `progress` gets bytes that were read, each file's about once.
///
/// # Errors
///
/// A file cannot be read or has no such table, no column matches a pattern, or the callback ends the work.
pub fn precision(options: &Options, progress: Progress<'_>) -> Result<Report> {
    let patterns = options.columns.iter().map(|text| ColumnPattern::new(text)).collect::<Result<Vec<_>>>()?;
    let mut matched = vec![false; patterns.len()];
    let (mut reports, mut all) = (Vec::new(), 0.0);
    let mut layout = Layout::default();
    let mut notes = Vec::new();
    let mut unused: Vec<&ColumnPattern> = options.limits.patterns().collect();
    let to_look_at = tables_of(&options.inputs)?;
    let told = match to_look_at.as_slice() {
        // What does not fit is found when it is opened.
        [_] => None,
        several => Some(check_memory(several, &patterns, options)?),
    };
    for inputs in to_look_at {
        let (dataset, mut columns, bytes) = opened(&inputs, options.follow)?;
        all += bytes;
        let has = |pattern: &ColumnPattern| {
            columns.iter().flat_map(|column| &column.names).any(|name| pattern.matches(dataset.path(), name))
        };
        unused.retain(|pattern| !has(pattern));
        columns.retain(|column| {
            let found = matching(&patterns, dataset.path(), column);
            matched.iter_mut().zip(&found).for_each(|(matched, found)| *matched |= found);
            patterns.is_empty() || found.contains(&true)
        });
        let numbers: Vec<usize> = columns.iter().map(|column| column.number).collect();
        notes.extend(dataset.remarks(&numbers));
        let told = told.unwrap_or_else(|| told_of(columns.len()));
        let found = table(&dataset, columns, told, options, progress)?;
        for (column, encoding) in &found {
            if let Some(encoding) = encoding {
                let keys = ColumnLayout { encoding: Some(*encoding), ..ColumnLayout::default() };
                layout.set_column(ColumnPattern::exact(dataset.path(), &column.name), &keys);
            }
        }
        let mut columns: Vec<ColumnReport> = found.into_iter().map(|(column, _)| column).collect();
        columns.sort_by_key(|column| std::cmp::Reverse(column.stored));
        let (path, container) = (dataset.path().to_owned(), dataset.container().unwrap_or_default());
        reports.push(TableReport { path, container, entries: dataset.entries(), columns });
    }
    let missing = patterns.iter().zip(&matched).find(|(_, matched)| !**matched);
    if let Some((pattern, _)) = missing.filter(|_| !options.allow_no_match) {
        let what = format!("no column of floating-point numbers matches {}", pattern.as_str());
        return Err(Error::request(what));
    }
    let unused = unused.into_iter().map(ColumnPattern::as_str);
    notes.extend(
        unused.map(|pattern| format!("no column of floating-point numbers matches {pattern}: its limit is unused")),
    );
    Ok(finished(options, reports, all, &layout, notes))
}

/// A table, its columns of floating-point numbers, and the bytes of all of its columns.
fn opened(inputs: &[Input], follow: Follow) -> Result<(Dataset, Vec<FloatColumn>, f64)> {
    let dataset = Dataset::open_following(inputs, follow)?;
    let (columns, bytes) = match dataset.entries() {
        0 => (Vec::new(), 0.0),
        _ => columns::columns(&dataset)?,
    };
    Ok((dataset, columns, bytes))
}

/// Which of the patterns a column of a table matches.
fn matching(patterns: &[ColumnPattern], table: &str, column: &FloatColumn) -> Vec<bool> {
    let fits = |pattern: &ColumnPattern| column.names.iter().any(|name| pattern.matches(table, name));
    patterns.iter().map(fits).collect()
}

/// Bytes of memory of what is told of columns.
fn told_of(columns: usize) -> u64 {
    COLUMN.saturating_mul(columns as u64)
}

/// Checks that the memory will do for each of the tables, before any of them is read. Returns the bytes of all that is told of columns.
fn check_memory(tables: &[Vec<Input>], patterns: &[ColumnPattern], options: &Options) -> Result<u64> {
    let (mut least, mut told) = (LeastMemory::default(), 0u64);
    for inputs in tables {
        let (dataset, columns, _) = opened(inputs, options.follow)?;
        let is_asked =
            |column: &&FloatColumn| patterns.is_empty() || matching(patterns, dataset.path(), column).contains(&true);
        let counted: Vec<_> = columns.iter().filter(is_asked).map(choose::counted).collect();
        told = told.saturating_add(told_of(counted.len()));
        least = least.or_more(LeastMemory::of(&dataset, &counted, 0));
    }
    least.beside(told).check(options.budget)?;
    Ok(told)
}

/// The report of all tables.
fn finished(options: &Options, tables: Vec<TableReport>, all: f64, layout: &Layout, notes: Vec<String>) -> Report {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
    let stored = all.max(0.0) as u64;
    let columns = || tables.iter().flat_map(|table| &table.columns);
    let floats: u64 = columns().map(|column| column.stored).sum();
    let saved: u64 = columns().map(|column| column.stored.saturating_sub(column.expected)).sum();
    let proposed = columns().any(|column| column.proposed.is_some());
    let layout = layout.to_toml().ok().filter(|_| proposed);
    let commands = match (&layout, options.inputs.first()) {
        (Some(_), Some(input)) => commands(options, &input.path.to_string_lossy()),
        _ => Vec::new(),
    };
    Report {
        schema: SCHEMA,
        files: options.inputs.iter().map(|input| public_path(&input.path).into_owned()).collect(),
        stored,
        floats,
        expected: stored.saturating_sub(saved),
        tables,
        layout,
        commands,
        notes,
    }
}

/// The commands that apply the layout, and prove it.
fn commands(options: &Options, input: &str) -> Vec<String> {
    let output = shell::output(input, "precision");
    let (input, output) = (shell::pasted(input), shell::pasted(&output).into_owned());
    let tolerances: String =
        options.limits.tolerances().iter().map(|text| format!(" --tolerance {}", shell::pasted(text))).collect();
    let layout = options.layout_out.as_deref().unwrap_or_else(|| Path::new("layout.toml")).to_string_lossy();
    vec![
        format!("basketry rewrite {input} -o {output} --layout {}", shell::pasted(&layout)),
        format!("basketry verify {input} {output}{tolerances}"),
    ]
}

/// The tables to look at: each with the inputs that have it.
fn tables_of(inputs: &[Input]) -> Result<Vec<Vec<Input>>> {
    let Some(first) = inputs.first() else { return Err(Error::request("no input: give a file, as in FILE:TABLE")) };
    if first.tree.is_some() {
        return Ok(vec![inputs.to_vec()]);
    }
    let file = RootFile::open(&first.path)?;
    let tables = tables(&file);
    let tables = by_path(&tables).into_iter().filter(|table| !table.is_unreleased());
    let of = |path: &str| inputs.iter().map(|input| Input { tree: Some(path.to_owned()), ..input.clone() }).collect();
    let found: Vec<Vec<Input>> = tables.map(|table| of(&table.path)).collect();
    match found.is_empty() {
        true => Err(Error::request("has no tree or RNTuple").file(&first.path)),
        false => Ok(found),
    }
}

/// What the columns of a table are, and the encoding that is proposed for each. `told` bytes are for what is told of all tables.
fn table(
    dataset: &Dataset,
    columns: Vec<FloatColumn>,
    told: u64,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Vec<(ColumnReport, Option<ColumnEncoding>)>> {
    let names = |column: &FloatColumn| column.names.clone();
    let limit = |column: &FloatColumn| {
        let names = names(column);
        options.limits.of(dataset.path(), &names.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let counted: Vec<_> = columns.iter().map(choose::counted).collect();
    let mut work: Vec<ColumnWork> = columns.into_iter().map(|column| ColumnWork::new(limit(&column), column)).collect();
    if work.is_empty() {
        return Ok(Vec::new());
    }
    let bytes: f64 = work.iter().map(ColumnWork::bytes).sum();
    let mut done = Vec::with_capacity(work.len());
    for group in column_groups(dataset, &counted, options.budget, told, GivesWay::Steps)? {
        let mut part: Vec<ColumnWork> = work.drain(..group.places.len()).collect();
        pass(&group, &mut part, 0, options, progress, ColumnWork::survey)?;
        let taken = prepare(&mut part, bytes, group.free());
        pass(&group, &mut part, taken, options, progress, ColumnWork::measure)?;
        let room = group.free_after().saturating_sub(taken);
        on_each(threads_in(room, &part, options.budget.threads), &mut part, |column| {
            tell(progress, 0)?;
            column.weigh()
        })?;
        done.extend(part.into_iter().map(ColumnWork::finish));
    }
    Ok(done)
}

/// Decides what is tried for columns, between the passes, where `free` bytes are free. All columns of the table have `bytes` bytes.
/// Returns the bytes that the samples take of what is free.
fn prepare(work: &mut [ColumnWork], bytes: f64, free: u64) -> u64 {
    let wanted: Vec<u64> = work.iter().map(|column| column.wanted(bytes)).collect();
    let all = sample::bytes_of(wanted.iter().sum());
    let room = free / SAMPLE_SHARE;
    let share = as_f64(room) / as_f64(all.max(1));
    for (column, wanted) in work.iter_mut().zip(wanted) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of numbers")]
        let fitting = if all > room { (as_f64(wanted) * share) as u64 } else { wanted };
        column.prepare(fitting);
    }
    all.min(room)
}

/// The threads that can weigh samples at the same time in so many bytes.
fn threads_in(room: u64, work: &[ColumnWork], most: usize) -> usize {
    let each = work.iter().map(ColumnWork::weighing).max().unwrap_or(0).max(1);
    usize::try_from(room / each).unwrap_or(usize::MAX).clamp(1, most.max(1))
}

/// Shows each column all of its numbers. Samples take `taken` bytes of what is free.
fn pass(
    group: &ColumnGroup<'_>,
    work: &mut [ColumnWork],
    taken: u64,
    options: &Options,
    progress: Progress<'_>,
    see: impl Fn(&mut ColumnWork, &[f64]) + Sync,
) -> Result<()> {
    for read in group.read(taken) {
        let read = read?;
        let mut both: Vec<_> = work.iter_mut().zip(read.batch.columns()).collect();
        on_each(options.budget.threads, &mut both, |(column, array)| {
            values::each(array, &mut |numbers| see(column, numbers));
            Ok(())
        })?;
        let compressed: u64 = read.spent.iter().map(|spent| spent.compressed).sum();
        // Both passes together count each byte once.
        tell(progress, compressed / 2)?;
    }
    Ok(())
}
