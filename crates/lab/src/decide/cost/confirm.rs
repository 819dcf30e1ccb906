//! Tries the chosen codecs again, on other baskets.
//!
//! A choice by samples is biased: of many candidates the one with the easiest sample wins, so the sum of the winners is too
//! good. The chosen codecs, and only they, are therefore tried on a second sample, and their costs are corrected. The choice
//! is then made again.

use std::collections::{HashMap, HashSet};

use rootfile::Result;

use super::allowance::Allowance;
use super::bench::CodecBench;
use super::column::Column;
use super::line::Point;
use super::measure::{LEAST_SAMPLED, MOST_SAMPLED};
use super::measured::Measured;
use super::piece::Wanted;
use super::statistics::FileStats;
use super::{nominal, sample};
use crate::math::as_f64;

/// Each round may use this additional share of the budget for trials.
const SHARE: f64 = 0.25;
/// The largest basket that is tried.
const LARGEST_BASKET: usize = 1 << 20;

/// Nominal nanoseconds for whole pages and baskets besides: their sizes and times say more than those of small samples.
const WHOLE: f64 = 3e8;
/// Columns that were not tried, or in small pieces only, get the correction of those with the same packing that were, within these
/// factors: for sizes, and for times. Codecs of high levels choose other methods for large pieces.
const OTHERS: (f64, f64) = (0.8, 1.25);
const TIMES: (f64, f64) = (0.33, 3.0);

/// The choice for a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finalist {
    /// The column, by index.
    pub column: usize,
    /// The codec, by index.
    pub codec: usize,
    /// Bytes of a basket before compression.
    pub basket: f64,
}

/// The second samples so far.
#[derive(Default)]
pub(crate) struct Confirmed {
    known: HashSet<(usize, usize)>,
    /// Bytes before compression that were sampled.
    pub sampled: f64,
    /// Expected bytes on disk of the second samples, by the first samples.
    pub expected: f64,
    /// Their measured bytes on disk.
    pub found: f64,
    /// Sum of squared errors of columns, in bytes.
    squares: f64,
}

impl Confirmed {
    /// The expected error of the sum of sizes, as a share: errors of columns are independent.
    pub fn error(&self) -> f64 {
        if self.found > 0.0 { self.squares.sqrt() / self.found } else { 0.0 }
    }

    /// Tries the finalists that were not tried yet, the largest columns first and while there is time, and corrects their lines. Says
    /// which share of the bytes was new.
    pub fn round(
        &mut self,
        stats: &FileStats,
        measured: &mut Measured,
        finalists: &[Finalist],
        seed: u64,
        allowance: &Allowance,
        bench: &mut dyn CodecBench,
    ) -> Result<f64> {
        let raw = |f: &Finalist| stats.columns.get(f.column).map_or(0.0, |c| c.raw);
        let codec_of = |f: &Finalist| measured.codecs.get(f.codec).copied();
        let total: f64 = finalists.iter().map(raw).sum();
        let mut new: Vec<Finalist> = finalists
            .iter()
            .filter(|f| !self.known.contains(&(f.column, f.codec)))
            .filter(|f| stats.columns.get(f.column).is_some_and(|c| c.can_sample))
            .filter(|f| measured.columns.get(f.column).is_some_and(|c| c.sampled > 0.0))
            .copied()
            .collect();
        new.sort_by(|a, b| raw(b).total_cmp(&raw(a)));
        let price = |f: &Finalist| codec_of(f).map_or(1.0, nominal::codec) + 4.0;
        let all: f64 = new.iter().map(|f| raw(f) * price(f)).sum();
        let mut left = SHARE * nominal::budget(stats);
        let mut for_pages = WHOLE;
        let mut of_packing: HashMap<usize, (f64, f64)> = HashMap::new();
        // Packing and unpacking of whole pieces, as expected and found.
        let mut of_whole: HashMap<usize, [(f64, f64); 2]> = HashMap::new();
        let mut tried: HashSet<usize> = HashSet::new();
        let mut whole: HashSet<usize> = HashSet::new();
        let share = left / all.max(1.0);
        let mut buffer = vec![0; 1 << 20];
        let mut looked_at = 0.0;
        let target = |column: &Column| (column.raw * share).clamp(LEAST_SAMPLED, MOST_SAMPLED).min(column.raw);
        let mut announced = 0;
        for (n, finalist) in new.iter().enumerate() {
            let (Some(column), Some(codec)) = (stats.columns.get(finalist.column), codec_of(finalist)) else {
                continue;
            };
            if left <= 0.0 || (n > 0 && !allowance.allows(0.0)) {
                break;
            }
            if n >= announced {
                let next = new.iter().skip(n).filter_map(|finalist| stats.columns.get(finalist.column));
                announced = n.saturating_add(stats.announce(next.map(|column| (column, target(column))), seed));
            }
            let page = finalist.basket.min(as_f64(LARGEST_BASKET as u64)).min(column.raw);
            let target = target(column);
            let is_whole = page > target && page * price(finalist) <= for_pages;
            let target = if is_whole { page } else { target };
            let budget = if is_whole { &mut for_pages } else { &mut left };
            let source = &**stats.file_of(column).source();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of bytes")]
            let (target, size) = (target as usize, (finalist.basket as usize).clamp(1, LARGEST_BASKET));
            let least = if is_whole { size } else { 0 };
            let wanted = Wanted { target, least, largest: stats.largest, seed };
            let sample = sample::take(source, column, wanted, &mut *bench, &mut buffer)?;
            *budget -= sample.today.raw * (nominal::decompression(column.compression) + 0.5);
            let [mut bytes, mut pack, mut unpack, mut decode, mut encode] = [Point::default(); 5];
            for run in &sample.runs {
                run.pieces(codec, (size, usize::MAX), &mut |piece| {
                    let trial = piece.trial(codec, &mut *bench)?;
                    let raw = as_f64(piece.raw as u64);
                    *budget -= raw * nominal::codec(codec);
                    bytes.add(raw, as_f64(trial.stored as u64));
                    pack.add(raw, trial.pack);
                    unpack.add(raw, trial.unpack);
                    decode.add(raw, trial.decode);
                    encode.add(raw, trial.encode);
                    Ok(())
                })?;
            }
            self.known.insert((finalist.column, finalist.codec));
            looked_at += column.raw;
            self.sampled += bytes.raw;
            bytes.cost *= if codec.is_none() { 1.0 } else { sample.scale(column) };
            let Some(cost) = measured.columns.get_mut(finalist.column) else { continue };
            // The second look counts double: the first one decided.
            let weight = 2.0 * bytes.raw / (2.0 * bytes.raw + cost.sampled).max(1.0);
            let Some(lines) = cost.codecs.get_mut(finalist.codec).and_then(Option::as_mut) else { continue };
            let share = column.raw / bytes.raw.max(1.0);
            let expected = lines.size.of(bytes.blocks, bytes.raw).min(bytes.raw);
            self.expected += share * expected;
            self.found += share * bytes.cost;
            self.squares += (share * (expected - bytes.cost)).powi(2);
            tried.insert(finalist.column);
            let sum = of_packing.entry(finalist.codec).or_default();
            *sum = (sum.0 + share * expected, sum.1 + share * bytes.cost);
            if is_whole {
                whole.insert(finalist.column);
                let sums = of_whole.entry(finalist.codec).or_default();
                for (sum, (line, point)) in sums.iter_mut().zip([(&lines.pack, pack), (&lines.unpack, unpack)]) {
                    *sum = (sum.0 + share * line.of(point.blocks, point.raw), sum.1 + share * point.cost);
                }
            }
            let factor = |expected: f64, point: Point| match expected > 0.0 {
                true => 1.0 + weight * ((point.cost / expected).clamp(0.2, 5.0) - 1.0),
                false => 1.0,
            };
            lines.size = lines.size.scaled(factor(lines.size.of(bytes.blocks, bytes.raw), bytes));
            for (line, point) in [
                (&mut lines.pack, pack),
                (&mut lines.unpack, unpack),
                (&mut lines.decode, decode),
                (&mut lines.encode, encode),
            ] {
                *line = line.scaled(factor(line.of(point.blocks, point.raw), point));
            }
        }
        // What was off for the columns that were tried is so for the others: whole pieces are tried of few.
        for finalist in new.iter().filter(|finalist| !whole.contains(&finalist.column)) {
            let Some(column) = stats.columns.get(finalist.column) else { continue };
            let lines = measured.columns.get_mut(finalist.column).and_then(|cost| cost.codecs.get_mut(finalist.codec));
            let Some(Some(lines)) = lines else { continue };
            let ratio = |sums: &(f64, f64), (least, most): (f64, f64)| match sums.0 > 0.0 {
                true => (sums.1 / sums.0).clamp(least, most),
                false => 1.0,
            };
            if column.pages.is_some() && !tried.contains(&finalist.column) {
                lines.size = lines.size.scaled(of_packing.get(&finalist.codec).map_or(1.0, |sums| ratio(sums, OTHERS)));
            }
            let [pack, unpack] = of_whole.get(&finalist.codec).copied().unwrap_or_default();
            lines.pack = lines.pack.scaled(ratio(&pack, TIMES));
            lines.unpack = lines.unpack.scaled(ratio(&unpack, TIMES));
        }
        Ok(looked_at / total.max(1.0))
    }
}
