//! The values of the columns of a table in figures: counts, extremes, moments, quantiles, lengths of lists, a small histogram. Each column is
//! read once, step by step, and the columns of a step are added up on all threads. What is kept of a column is in the budget: columns for
//! which that has no room side by side are read one group after the other, so figures depend on neither memory nor threads.

use std::collections::HashMap;
use std::ops::ControlFlow;

use arrow_array::ArrayRef;
use arrow_schema::FieldRef;
use dataset::layout::Container;
use flow::inputs::Input;
use flow::read::{CountedColumn, Dataset, GivesWay, column_groups};
use flow::{Budget, Choice, Chosen, CutStep, Defined, DefinedSteps, Progress};
use rootfile::{Follow, Result, public_path};
use serde::Serialize;

use super::accumulate::{Accumulator, kept_bytes};
use super::asked_columns::{AskedColumn, asked_columns};
use super::check_entries;
use super::distinct::Distinct;
use super::schema::{ColumnType, column_type, defined_type};
use crate::math::as_f64;
use crate::system::on_each::on_each;

/// Bins of a histogram.
const BINS: usize = 20;
/// The quantiles that are told.
const QUANTILES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/// What is looked at.
#[derive(Clone, Debug)]
pub struct StatisticsOptions {
    /// Columns by name or pattern; all, if none is named.
    pub columns: Vec<String>,
    /// Entries.
    pub entries: Choice,
    /// Whether names of columns may mean none.
    pub allow_no_match: bool,
    /// How far addresses in the files are followed.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
}

/// The figures of a table.
#[derive(Clone, Debug, Serialize)]
pub struct TableStatistics {
    /// The files, as given.
    pub files: Vec<String>,
    /// Path of the table.
    pub table: String,
    /// Its container; none of a Parquet file.
    pub container: Option<Container>,
    /// Entries of the table.
    pub all_entries: u64,
    /// Entries that were looked at.
    pub entries: u64,
    /// What the cuts leave of the entries.
    pub cuts: Vec<CutStep>,
    /// What users should know, such as columns that hold fewer entries than their table.
    pub notes: Vec<String>,
    /// The columns.
    pub columns: Vec<ColumnStatistics>,
}

/// The figures of a column.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ColumnStatistics {
    /// Name.
    pub name: String,
    /// Type in C++.
    pub type_name: String,
    /// Type in Arrow.
    pub arrow: String,
    /// Why it cannot be read; then nothing else is known.
    pub unreadable: Option<String>,
    /// Values: numbers, truth values (0 and 1), texts; of lists those in them.
    pub values: u64,
    /// Entries or items without a value.
    pub nulls: u64,
    /// Entries that the column does not hold, as it has fewer than its table: they have no value, and are not among the nulls.
    pub missing: u64,
    /// Numbers that are NaN.
    pub nans: u64,
    /// Numbers that are infinite.
    pub infinite: u64,
    /// The least number: of a column of whole numbers a whole one, with all its digits.
    pub min: Option<Extreme>,
    /// The largest number.
    pub max: Option<Extreme>,
    /// Mean of the finite numbers.
    pub mean: Option<f64>,
    /// Standard deviation of the finite numbers.
    pub deviation: Option<f64>,
    /// Quantiles of the finite numbers.
    pub quantiles: Vec<Quantile>,
    /// Different values; none of a column with values that are neither numbers nor texts.
    pub different: Option<u64>,
    /// Whether different values are counted, or, of more than 65,536, estimated: within about 1%.
    pub different_exact: bool,
    /// Whether quantiles and histogram are of all finite numbers, or of a random sample of 65,536.
    pub exact: bool,
    /// Lengths of lists, or of texts in characters.
    pub lengths: Option<LengthStatistics>,
    /// Counts of the finite numbers in bins of equal width from the least to the largest; in a sample of them.
    pub histogram: Vec<u64>,
}

/// The least or the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Extreme {
    /// Of whole numbers.
    Whole(i128),
    /// Of others.
    Number(f64),
}

impl Extreme {
    /// As a double, which may have fewer digits.
    #[expect(clippy::cast_precision_loss, reason = "to show it")]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Number(number) => number,
        }
    }
}

/// A quantile.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantile {
    /// Share of the numbers that are less.
    pub share: f64,
    /// The number.
    pub value: f64,
}

/// Lengths of lists.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LengthStatistics {
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// The mean.
    pub mean: f64,
}

/// Looks at the values of a table of some files, which count as one. `progress` gets bytes before compression.
///
/// # Errors
///
/// A file or a column cannot be read, has no such table, a name means no column, or the callback ends the work.
pub fn statistics(inputs: &[Input], options: &StatisticsOptions, progress: Progress<'_>) -> Result<TableStatistics> {
    let dataset = Dataset::open_following(inputs, options.follow)?;
    let names: Vec<&str> = options.entries.defines.iter().map(|define| define.name.as_str()).collect();
    let mut asked = asked_columns(&dataset, &names, &options.columns, options.allow_no_match)?;
    if options.columns.is_empty() {
        asked.extend(dataset.stored_columns().into_iter().map(AskedColumn::Stored));
    }
    if !options.allow_no_match {
        check_entries(&dataset, &options.entries.entries)?;
    }
    let nodes = dataset.schema().nodes();
    let stored = asked.iter().filter_map(|column| column.stored());
    let types: Vec<(usize, ColumnType)> =
        stored.filter_map(|column| Some((column, column_type(&dataset, &nodes, column)?))).collect();
    let readable: Vec<usize> =
        types.iter().filter(|(_, kind)| kind.unreadable.is_none()).map(|(column, _)| *column).collect();
    let chosen = options.entries.of(&dataset, options.budget, &|_| progress(0))?;
    let defined = Defined::bind(&dataset, dataset.path(), &options.entries.defines)?.all(dataset.path())?;
    let defined = of_defined(&dataset, &defined, &chosen, options, progress)?;
    let is_short = |column: &usize| dataset.missing(*column, &chosen.range, chosen.selection.as_ref()).is_some();
    let short: Vec<usize> = readable.iter().copied().filter(is_short).collect();
    let notes = dataset.notes_on_missing(&short, &chosen.range, chosen.selection.as_ref(), "have no value");
    let counted: Vec<CountedColumn> = readable.iter().map(|&column| counted(&dataset, column)).collect();
    let mut found: HashMap<usize, ColumnStatistics> = HashMap::new();
    for group in column_groups(&dataset, &counted, options.budget, 0, GivesWay::Columns)? {
        let columns = readable.get(group.places.clone()).unwrap_or_default();
        let mut accumulators: Vec<Accumulator> = columns.iter().map(|_| Accumulator::new()).collect();
        let mut entries = chosen_entries(&chosen);
        for read in group.read_entries(chosen.range.clone(), chosen.selection.clone(), 0) {
            let read = read?;
            let arrays = read.batch.columns();
            if columns.iter().any(|column| short.contains(column)) {
                let numbers: Vec<u64> = entries.by_ref().take(read.batch.num_rows()).collect();
                let mut adding: Vec<_> = accumulators.iter_mut().zip(columns).zip(arrays).collect();
                on_each(options.budget.threads, &mut adding, |((accumulator, column), array)| {
                    add_held(accumulator, &dataset, **column, array, &numbers);
                    Ok(())
                })?;
            } else {
                add(options.budget.threads, &mut accumulators, arrays)?;
            }
            flow::tell(progress, read.spent.iter().map(|spent| spent.uncompressed).sum())?;
        }
        found.extend(columns.iter().copied().zip(accumulators.into_iter().map(figures)));
    }
    let named = |(column, kind): (usize, ColumnType)| {
        let ColumnType { name, type_name, arrow, unreadable, .. } = kind;
        ColumnStatistics { name, type_name, arrow, unreadable, ..found.get(&column).cloned().unwrap_or_default() }
    };
    let mut stored: HashMap<usize, ColumnStatistics> =
        types.into_iter().map(|(column, kind)| (column, named((column, kind)))).collect();
    let of = |column: AskedColumn| match column {
        AskedColumn::Defined(place) => defined.get(place).cloned(),
        AskedColumn::Stored(column) => stored.remove(&column),
    };
    let columns = asked.into_iter().filter_map(of).collect();
    Ok(TableStatistics {
        files: inputs.iter().map(|input| public_path(&input.path).display().to_string()).collect(),
        table: dataset.path().to_owned(),
        container: dataset.container(),
        all_entries: dataset.entries(),
        entries: chosen.count(),
        cuts: chosen.cuts,
        notes,
        columns,
    })
}

/// The figures of defined columns.
fn of_defined(
    dataset: &Dataset,
    defined: &Defined,
    chosen: &Chosen,
    options: &StatisticsOptions,
    progress: Progress<'_>,
) -> Result<Vec<ColumnStatistics>> {
    if defined.is_empty() {
        return Ok(Vec::new());
    }
    let fields = defined.fields();
    let kept = kept_bytes(u64::MAX).saturating_mul(fields.len() as u64);
    let budget = Budget { memory: options.budget.memory.saturating_sub(kept), ..options.budget };
    let (entries, selection) = (chosen.range.clone(), chosen.selection.as_ref());
    let mut accumulators: Vec<Accumulator> = fields.iter().map(|_| Accumulator::new()).collect();
    DefinedSteps { table: dataset, defined, entries, selection, budget }.each(progress, &mut |values, _| {
        add(options.budget.threads, &mut accumulators, &values)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let named = |(field, found): (FieldRef, Accumulator)| {
        let ColumnType { name, type_name, arrow, unreadable, .. } = defined_type(&field);
        ColumnStatistics { name, type_name, arrow, unreadable, ..figures(found) }
    };
    Ok(fields.into_iter().zip(accumulators).map(named).collect())
}

/// Adds the values of a step, on all threads.
fn add(threads: usize, accumulators: &mut [Accumulator], values: &[ArrayRef]) -> Result<()> {
    let mut adding: Vec<_> = accumulators.iter_mut().zip(values).collect();
    on_each(threads, &mut adding, |(accumulator, column)| {
        accumulator.add(column);
        Ok(())
    })
}

/// The entries that are looked at.
fn chosen_entries(chosen: &Chosen) -> Box<dyn Iterator<Item = u64> + '_> {
    match &chosen.selection {
        Some(set) => Box::new(set.all_runs().flatten()),
        None => Box::new(chosen.range.clone()),
    }
}

/// Adds the values of those of these entries that a column holds.
fn add_held(accumulator: &mut Accumulator, dataset: &Dataset, column: usize, array: &ArrayRef, entries: &[u64]) {
    let mut from = 0;
    for run in entries.chunk_by(|a, b| dataset.holds(column, *a) == dataset.holds(column, *b)) {
        match run.first().is_some_and(|entry| dataset.holds(column, *entry)) {
            true => accumulator.add(&array.slice(from, run.len())),
            false => accumulator.missing += run.len() as u64,
        }
        from += run.len();
    }
}

/// A column, and what it needs while it is read.
fn counted(dataset: &Dataset, column: usize) -> CountedColumn {
    let (bytes, entries) = (dataset.bytes(column), dataset.entries());
    let width = dataset.column(column).and_then(|plan| plan.field().data_type().primitive_width());
    let growth = width.map_or(1.0, |width| as_f64(entries) * as_f64(width as u64) / as_f64(bytes.max(1)));
    // A value has at least a bit.
    let values = bytes.saturating_mul(8).max(entries);
    CountedColumn { column, growth, beside: kept_bytes(values) }
}

fn figures(mut found: Accumulator) -> ColumnStatistics {
    found.sample.sort_unstable_by(f64::total_cmp);
    let has_numbers = found.finite() > 0;
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    let lengths = found.lengths.shortest.zip(found.lengths.longest).map(|(min, max)| LengthStatistics {
        min,
        max,
        mean: found.lengths.items as f64 / found.lengths.lists.max(1) as f64,
    });
    ColumnStatistics {
        values: found.values,
        nulls: found.nulls,
        missing: found.missing,
        nans: found.nans,
        infinite: found.infinite,
        min: found.whole.map(|[least, _]| Extreme::Whole(least)).or(found.least.map(Extreme::Number)),
        max: found.whole.map(|[_, most]| Extreme::Whole(most)).or(found.most.map(Extreme::Number)),
        mean: has_numbers.then_some(found.mean()),
        deviation: found.deviation(),
        quantiles: QUANTILES.iter().filter_map(|&share| quantile(&found.sample, share)).collect(),
        different: found.different().map(Distinct::count),
        different_exact: found.different().is_some_and(Distinct::is_exact),
        exact: found.is_exact(),
        lengths,
        histogram: histogram(&found.sample),
        ..ColumnStatistics::default()
    }
}

/// A quantile of sorted numbers, between neighbours by their distance (NumPy's default).
fn quantile(sorted: &[f64], share: f64) -> Option<Quantile> {
    #[expect(clippy::cast_precision_loss, reason = "at most 65,536 numbers")]
    let place = share * sorted.len().checked_sub(1)? as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among them")]
    let below = place.floor() as usize;
    let (low, high) = (*sorted.get(below)?, *sorted.get(below + 1).or(sorted.get(below))?);
    Some(Quantile { share, value: low + (high - low) * place.fract() })
}

fn histogram(sorted: &[f64]) -> Vec<u64> {
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let mut bins = vec![0; BINS];
    for value in sorted {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a bin"
        )]
        let bin = ((value - least) / (most - least).max(f64::MIN_POSITIVE) * BINS as f64) as usize;
        if let Some(count) = bins.get_mut(bin.min(BINS - 1)) {
            *count += 1;
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        let at = |share| quantile(&sorted, share).map(|one| one.value);
        assert_eq!((at(0.0), at(0.5), at(0.75), at(1.0)), (Some(1.0), Some(3.0), Some(5.0), Some(8.0)));
        assert!(quantile(&[], 0.5).is_none());
        assert_eq!(histogram(&sorted).iter().sum::<u64>(), 4);
        assert_eq!(histogram(&[3.0, 3.0])[0], 2);
    }
}
