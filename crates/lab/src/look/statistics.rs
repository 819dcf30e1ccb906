//! The values of the columns of a table in figures: counts, extremes, moments, quantiles, lengths of lists, a small histogram. The table is
//! read once, batch by batch within the budget, and the columns of a batch are added up on all threads.

use dataset::layout::Container;
use flow::inputs::Input;
use flow::read::{BatchSize, Dataset, Request, batches};
use flow::{Budget, Choice, Chosen, CutStep, Progress};
use rootfile::{Follow, Result, public_path};
use serde::Serialize;

use super::accumulate::Accumulator;
use super::check_entries;
use super::schema::{ColumnType, column_type};
use crate::readspeed::Columns;
use crate::system::on_each::on_each;

/// Bytes of columns that are read at a time.
const PORTION: u64 = 32 << 20;
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
    /// Numbers that are NaN.
    pub nans: u64,
    /// Numbers that are infinite.
    pub infinite: u64,
    /// The least number.
    pub min: Option<f64>,
    /// The largest number.
    pub max: Option<f64>,
    /// Mean of the finite numbers.
    pub mean: Option<f64>,
    /// Standard deviation of the finite numbers.
    pub deviation: Option<f64>,
    /// Quantiles of the finite numbers.
    pub quantiles: Vec<Quantile>,
    /// Different values; none if there are more than 65,536.
    pub different: Option<u64>,
    /// Whether quantiles and histogram are of all finite numbers, or of a random sample of 65,536.
    pub exact: bool,
    /// Lengths of lists, or of texts in characters.
    pub lengths: Option<LengthStatistics>,
    /// Counts of the finite numbers in bins of equal width from the least to the largest; in a sample of them.
    pub histogram: Vec<u64>,
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
    let columns = match options.columns.is_empty() {
        true => dataset.stored_columns(),
        false => Columns::Listed(options.columns.clone()).choose(&dataset, options.allow_no_match)?,
    };
    if !options.allow_no_match {
        check_entries(&dataset, &options.entries.entries)?;
    }
    let nodes = dataset.schema().nodes();
    let types: Vec<(usize, ColumnType)> =
        columns.iter().filter_map(|&column| Some((column, column_type(&dataset, &nodes, column)?))).collect();
    let readable: Vec<usize> =
        types.iter().filter(|(_, kind)| kind.unreadable.is_none()).map(|(column, _)| *column).collect();
    let Chosen { range: entries, selection, cuts, .. } =
        options.entries.of(&dataset, options.budget, &|_| progress(0))?;
    let request =
        Request { columns: readable.clone(), entries, selection, budget: options.budget, progress: &flow::unwatched };
    let mut found: Vec<Accumulator> = readable.iter().map(|_| Accumulator::new()).collect();
    let mut seen = 0;
    for read in batches(&dataset, request, BatchSize::Bytes(PORTION)) {
        let read = read?;
        seen += read.batch.num_rows() as u64;
        let mut adding: Vec<_> = found.iter_mut().zip(read.batch.columns()).collect();
        on_each(options.budget.threads, &mut adding, |(accumulator, column)| {
            accumulator.add(column);
            Ok(())
        })?;
        flow::tell(progress, read.spent.iter().map(|spent| spent.uncompressed).sum())?;
    }
    let mut found = readable.into_iter().zip(found).collect::<std::collections::HashMap<_, _>>();
    let columns = types.into_iter().map(|(column, kind)| figures(kind, found.remove(&column))).collect();
    Ok(TableStatistics {
        files: inputs.iter().map(|input| public_path(&input.path).display().to_string()).collect(),
        table: dataset.path().to_owned(),
        container: dataset.container(),
        all_entries: dataset.entries(),
        entries: seen,
        cuts,
        columns,
    })
}

fn figures(kind: ColumnType, found: Option<Accumulator>) -> ColumnStatistics {
    let ColumnType { name, type_name, arrow, unreadable, .. } = kind;
    let named = ColumnStatistics { name, type_name, arrow, unreadable, ..ColumnStatistics::default() };
    let Some(mut found) = found else { return named };
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
        nans: found.nans,
        infinite: found.infinite,
        min: found.least,
        max: found.most,
        mean: has_numbers.then_some(found.mean),
        deviation: found.deviation(),
        quantiles: QUANTILES.iter().filter_map(|&share| quantile(&found.sample, share)).collect(),
        different: found.different(),
        exact: found.is_exact(),
        lengths,
        histogram: histogram(&found.sample),
        ..named
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
