//! The rows that [`rows`](super::rows) would show, as a Parquet file.

use std::path::Path;

use dataset::glob::{ColumnPattern, NameFilter};
use flow::convert::{Conversion, Converted, ParquetCodec, ToParquet, to_parquet};
use flow::inputs::{Input, refuse_pattern};
use flow::read::Dataset;
use flow::{Chosen, Progress};
use rootfile::{Error, Hint, Result};

use super::asked_columns::{AskedColumn, asked_columns};
use super::check_entries;
use super::rows::{RowOptions, named_histogram};

/// Writes the chosen columns and entries of a table to a Parquet file.
///
/// # Errors
///
/// The file cannot be read or has no such table, but a histogram; a name means no column, or that of a friend; a column does not hold all of
/// the entries; or the output cannot be written.
pub fn extract(
    input: &Input,
    options: &RowOptions,
    output: &Path,
    overwrite: bool,
    progress: Progress<'_>,
) -> Result<Converted> {
    refuse_pattern(input)?;
    if let Some(found) = named_histogram(input)? {
        let (csv, json) = (Hint::switch("csv"), Hint::switch("json"));
        let why = format!("{} is a histogram, and no table: {csv} and {json} have its bins", found.path);
        return Err(Error::request(why).hint(csv).hint(json).file(&input.path));
    }
    let conversion = Conversion {
        filter: filter(input, options, progress)?,
        entries: options.entries.clone(),
        follow: options.follow,
        budget: options.budget,
        overwrite,
        progress,
    };
    let job =
        ToParquet { inputs: std::slice::from_ref(input), output, codec: ParquetCodec::default(), row_group: None };
    to_parquet(&job, &conversion)
}

/// The chosen columns.
fn filter(input: &Input, options: &RowOptions, progress: Progress<'_>) -> Result<NameFilter> {
    let dataset = Dataset::open_following(std::slice::from_ref(input), options.follow)?;
    if !options.allow_no_match {
        check_entries(&dataset, &options.entries.entries)?;
    }
    if options.columns.is_empty() {
        refuse_missing(&dataset, &dataset.stored_columns(), input, options, progress)?;
        return Ok(NameFilter::default());
    }
    let defined: Vec<&str> = options.entries.defines.iter().map(|define| define.name.as_str()).collect();
    let chosen = asked_columns(&dataset, &defined, &options.columns, options.allow_no_match)?;
    let stored: Vec<usize> = chosen.iter().filter_map(|column| column.stored()).collect();
    refuse_missing(&dataset, &stored, input, options, progress)?;
    let mut names = Vec::new();
    for column in chosen.into_iter().filter_map(AskedColumn::stored) {
        let Some(plan) = dataset.column(column) else { continue };
        if column >= dataset.number_of_columns() {
            let why =
                format!("{} is a column of a friend, which a Parquet file of this table has not", plan.field().name());
            return Err(Error::request(why).object(dataset.path()).file(&input.path));
        }
        let mut path = dataset.schema().lineage(plan.node());
        path.reverse();
        names.push(ColumnPattern::exact(dataset.path(), &path.join("/")));
    }
    Ok(NameFilter::only(names.into_iter()))
}

/// Fails if columns do not hold all of the entries: the file would have zeros there.
fn refuse_missing(
    dataset: &Dataset,
    columns: &[usize],
    input: &Input,
    options: &RowOptions,
    progress: Progress<'_>,
) -> Result<()> {
    let all = 0..dataset.entries();
    let short: Vec<usize> = columns.iter().copied().filter(|one| dataset.missing(*one, &all, None).is_some()).collect();
    if short.is_empty() {
        return Ok(());
    }
    let Chosen { range, selection, .. } = options.entries.of(dataset, options.budget, progress)?;
    match dataset.notes_on_missing(&short, &range, selection.as_ref(), "have no value").into_iter().next() {
        Some(note) => {
            let (entries, convert) = (Hint::named("entries"), "`basketry convert` fills them in");
            let why = format!("{note}: choose entries with {entries}, or other columns; {convert}");
            Err(Error::request(why).hint(entries).object(dataset.path()).file(&input.path))
        }
        None => Ok(()),
    }
}
