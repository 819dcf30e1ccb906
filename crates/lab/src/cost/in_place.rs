//! What a reader spends on some entries of all columns: the samples' times, seen from where the work is done.
//!
//! A basket that is decoded over and over stays in the processor's caches; one among hundreds does not.
//! So some entries are read as readers read them, by [`flow::read`], and what was measured on samples is corrected by that.

use std::time::Duration;

use flow::Budget;
use flow::inputs::Input;
use flow::read::{Dataset, Request, Spent, drain};
use rootfile::Result;

use super::calibrate::Access;
use super::clock::thread_seconds;
use super::facts::{Column, Facts, as_f64};
use super::measure::{ColumnCost, nominal_unpack};

/// Bytes before compression that are read.
const BYTES: f64 = 24e6;
/// Nominal nanoseconds that one reading of them may take, if that is less.
const NOMINAL: f64 = 6e7;
/// Readings at most, and seconds after which two are enough.
const READINGS: usize = 8;
const ENOUGH: f64 = 0.15;
/// Decoding takes no less than this share of what it took on samples.
const LEAST: f64 = 0.3;

/// What reading some entries took.
#[derive(Clone, Debug, Default)]
pub(crate) struct InPlace {
    /// For each column that was read, by index: share of its entries, and seconds to find and to decode them.
    columns: Vec<Option<(f64, f64)>>,
}

impl InPlace {
    /// Reads entries from the middle of the largest tree.
    pub fn measure(facts: &Facts, budget: Budget) -> Result<Self> {
        let raw = |tree: usize| -> f64 { facts.columns.iter().filter(|c| c.tree == tree).map(|c| c.raw).sum() };
        let largest = (0..facts.trees.len()).max_by(|&a, &b| raw(a).total_cmp(&raw(b)));
        let Some((number, tree)) = largest.and_then(|t| Some((t, facts.trees.get(t)?))) else {
            return Ok(Self::default());
        };
        let input = Input { path: facts.file.name().to_path_buf(), tree: Some(tree.path.clone()) };
        let dataset = Dataset::open(&[input])?;
        let columns = dataset.column_of_each_branch();
        let of = |c: &Column| {
            let branch = c.plan.as_ref().filter(|_| c.tree == number)?.branch();
            columns.get(branch).copied().flatten()
        };
        let places: Vec<(usize, usize)> =
            facts.columns.iter().enumerate().filter_map(|(i, c)| Some((i, of(c)?))).collect();
        let nominal: f64 = facts.columns.iter().map(|c| c.raw * (nominal_unpack(c.compression) + 1.0)).sum();
        let all: f64 = facts.columns.iter().map(|c| c.raw).sum();
        let share = (BYTES.min(NOMINAL * all / nominal.max(1.0)) / raw(number).max(1.0)).min(1.0);
        let entries = middle(dataset.entries(), dataset.clusters(), share);
        let share = as_f64(entries.end - entries.start) / as_f64(dataset.entries().max(1));
        let request = Request {
            columns: places.iter().map(|(_, column)| *column).collect(),
            entries,
            selection: None,
            budget: Budget { threads: 1, ..budget },
            cancelled: None,
        };
        // The reading that other work disturbed least counts: the one of least time by the clock on the wall.
        let mut best: Option<(Duration, f64, Vec<Spent>)> = None;
        let mut all = 0.0;
        for reading in 0..READINGS {
            let start = thread_seconds();
            let (_, spent) = drain(&dataset, &request, &|_| ())?;
            let cpu = thread_seconds() - start;
            all += cpu;
            let stages: Duration = spent.iter().map(|s| s.fetch + s.decompress + s.decode).sum();
            if best.as_ref().is_none_or(|best| stages < best.0) {
                best = Some((stages, cpu, spent));
            }
            if reading > 0 && all > ENOUGH {
                break;
            }
        }
        let Some((stages, cpu, spent)) = best else { return Ok(Self::default()) };
        let (stages, decode) = (stages.as_secs_f64(), spent.iter().map(|s| s.decode.as_secs_f64()).sum::<f64>());
        // CPU time that belongs to no stage, dealing out work and giving memory back, goes with decoding. Where stages
        // took longer than that, they waited for a processor.
        let factor = match cpu - stages {
            rest if rest > 0.0 && decode > 0.0 => 1.0 + rest / decode,
            _ => cpu / stages.max(f64::MIN_POSITIVE),
        };
        let mut columns = vec![None; facts.columns.len()];
        for ((column, _), spent) in places.iter().zip(&spent) {
            if let Some(slot) = columns.get_mut(*column) {
                *slot = Some((share, factor * spent.decode.as_secs_f64()));
            }
        }
        Ok(Self { columns })
    }

    /// Makes what decoding columns costs what it cost here: column by column as far as they were read, the others as all
    /// of those together.
    pub fn correct(&self, facts: &Facts, access: &Access, costs: &mut [ColumnCost]) {
        let expected = |column: &Column, cost: &ColumnCost| {
            let offsets = if column.has_offsets { column.entries * access.per_offset } else { 0.0 };
            (offsets, cost.decode.line.of(column.count(), column.raw))
        };
        let (mut seen, mut thought) = (0.0, 0.0);
        for ((column, cost), place) in facts.columns.iter().zip(costs.iter()).zip(&self.columns) {
            let Some((share, seconds)) = place else { continue };
            let (offsets, decode) = expected(column, cost);
            seen += seconds - offsets * share;
            thought += decode * share;
        }
        let factor = if thought > 0.0 { (seen / thought).max(LEAST) } else { 1.0 };
        for ((column, cost), place) in facts.columns.iter().zip(costs.iter_mut()).zip(&self.columns) {
            let (offsets, decode) = expected(column, cost);
            let seen = place.map_or(factor * decode, |(share, seconds)| seconds / share - offsets);
            if seen > decode {
                cost.decode.besides = seen - decode;
            } else if decode > 0.0 {
                cost.decode.line = cost.decode.line.scaled((seen / decode).max(LEAST));
            }
        }
    }
}

/// A share of the entries, from a cluster in the middle on.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the entries")]
fn middle(entries: u64, clusters: &[u64], share: f64) -> std::ops::Range<u64> {
    let count = ((as_f64(entries) * share).ceil() as u64).clamp(1, entries.max(1)).min(entries);
    let latest = entries - count;
    let half = latest / 2;
    let start = clusters.iter().copied().filter(|&s| s <= latest).min_by_key(|&s| s.abs_diff(half)).unwrap_or(half);
    start..start + count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_begins_with_a_cluster_and_ends_inside() {
        assert_eq!(middle(1000, &[0, 400, 800, 1000], 0.1), 400..500);
        assert_eq!(middle(1000, &[0, 900, 1000], 0.5), 0..500);
        assert_eq!(middle(10, &[0, 10], 1.0), 0..10);
        assert_eq!(middle(0, &[0], 1.0), 0..0);
    }
}
