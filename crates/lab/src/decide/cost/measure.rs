//! Tries codecs on samples of columns, within a budget, and drops codecs early that are best for no column.
//!
//! The samples are planned with nominal costs ([`super::nominal`]). Slow codecs are tried on fewer columns; the others get
//! the ratio to a codec that was tried on both.

use std::collections::HashMap;

use rootfile::Result;

use super::allowance::Allowance;
use super::bench::CodecBench;
use super::column::Column;
use super::column_costs::column_costs;
use super::measured::{Measured, Trials, Tried};
use super::nominal;
use super::packing::Packing;
use super::piece::Wanted;
use super::sample::{self, Sample};
use super::statistics::FileStats;
use super::utility::Goal;
use crate::math::as_f64;

/// Columns on which all codecs are tried first.
const SCOUTS: usize = 24;
/// Bytes of each that are tried, at least and at most, and the share of the budget that they may take.
const SCOUTED: (f64, f64) = (4096.0, 32768.0);
const SCOUTS_SHARE: f64 = 0.25;
/// Bytes of such a column that are sampled, for each that is tried.
const SCOUTS_SAMPLE: f64 = 8.0;
/// Bytes of a column that are sampled at most, and as a rule at least.
pub(super) const MOST_SAMPLED: f64 = 1e6;
pub(super) const LEAST_SAMPLED: f64 = 6e3;
/// The largest basket that is tried.
const LARGEST_BASKET: usize = 256 << 10;
/// Codecs with a higher nominal cost are tried on the largest columns and on every fourth of the others: where reading, and
/// where size is the goal.
const SLOW: (f64, f64) = (12.0, 100.0);
/// Number of largest columns on which slow codecs are tried.
const SLOW_ON: usize = 12;
/// Two basket sizes are tried on this many of the largest columns, at least and at most; one column for each
/// `TWO_SIZES_EACH` nominal nanoseconds. The other columns are assumed to behave like these.
const TWO_SIZES_ON: (f64, f64) = (12.0, 64.0);
const TWO_SIZES_EACH: f64 = 5e6;
/// Whole pages are tried on the largest columns: their share of the budget, and the nominal nanoseconds besides, together and at most
/// for one column.
const WHOLE_SHARE: f64 = 0.2;
const WHOLE: f64 = 2e8;
const WHOLE_EACH: f64 = 0.15;
/// A page is whole if it is so many times larger than what is tried anyway.
const WHOLE_FROM: f64 = 3.0;
/// A codec is dropped if others beat it on all but this share of the bytes.
const KEPT_FOR: f64 = 0.02;

/// Tries `codecs` on a file's columns. The file's `own` codec is never dropped, because the report needs its cost.
pub(crate) fn measure(
    stats: &FileStats,
    codecs: &[Packing],
    own: Packing,
    seed: u64,
    allowance: &Allowance,
    bench: &mut dyn CodecBench,
) -> Result<Measured> {
    let mut order: Vec<usize> = (0..stats.columns.len()).collect();
    let raw = |i: &usize| stats.columns.get(*i).map_or(0.0, |c| c.raw);
    order.sort_by(|a, b| raw(b).total_cmp(&raw(a)));
    order.retain(|&i| stats.columns.get(i).is_some_and(|c| c.can_sample));
    let mut work =
        Work { stats, seed, bench, taken: HashMap::new(), buffer: vec![0; 1 << 24], spent: 0.0, sampled: 0.0 };
    let (codecs, dropped) = work.scout(&order, codecs, own)?;
    let mut tables = vec![Trials::default(); stats.columns.len()];
    let total: f64 = order.iter().map(raw).sum();
    let is_fast = |codec: Packing| is_fast(codec, stats.goal);
    let left = (nominal::budget(stats) - work.spent).max(0.0);
    // Some packings are for some columns only.
    let taking = |packing: Packing| {
        let takes = |i: &&usize| stats.columns.get(**i).is_some_and(|column| column.takes(packing));
        order.iter().filter(takes).map(raw).sum::<f64>() / total.max(1.0)
    };
    let price = |&packing: &Packing| nominal::codec(packing) * if packing.is_exact() { taking(packing) } else { 1.0 };
    let fast: f64 = codecs.iter().filter(|&&c| is_fast(c)).map(price).sum();
    let slow: f64 = codecs.iter().filter(|&&c| !is_fast(c)).map(price).sum();
    let two_sizes_on = (nominal::budget(stats) / TWO_SIZES_EACH).clamp(TWO_SIZES_ON.0, TWO_SIZES_ON.1);
    // Reading a sample costs about as much as decompressing it thrice.
    let share = left / (2.0 * fast + 0.5 * slow + 8.0) / total.max(1.0);
    let target = |column: &Column| (column.raw * share).clamp(LEAST_SAMPLED, MOST_SAMPLED).min(column.raw);
    // Slow codecs wait until the others have been tried on all columns: on some data they take several times as long as planned.
    for slow in [false, true] {
        let mut announced = 0;
        let is_looked_at = |rank: usize| !slow || rank < SLOW_ON || rank.is_multiple_of(4);
        let ranks = || order.iter().enumerate().filter(|(rank, _)| is_looked_at(*rank));
        for (rank, &i) in ranks() {
            let (Some(column), Some(table)) = (stats.columns.get(i), tables.get_mut(i)) else { continue };
            // The largest columns are always sampled, whatever the budget.
            if rank >= 4 && (work.spent >= nominal::budget(stats) || !allowance.allows(0.0)) {
                break;
            }
            if rank >= announced {
                let next = ranks()
                    .skip_while(|(other, _)| *other < rank)
                    .filter_map(|(_, i)| Some((work.taken.contains_key(i), stats.columns.get(*i)?)));
                let next = next.map(|(taken, column)| (column, if taken { 0.0 } else { target(column) }));
                announced = rank.saturating_add(stats.announce(next, seed));
            }
            let target = target(column);
            let sample = match work.taken.remove(&i) {
                Some(sample) => sample,
                None => work.take(i, target, None)?,
            };
            let takes = |packing: Packing| column.takes(packing) && sample.takes(packing);
            let tried: Vec<bool> = codecs.iter().map(|&codec| takes(codec) && is_fast(codec) != slow).collect();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
            let most = target as usize / sample.runs.len().max(1);
            let sizes = Sizes { most, two: as_f64(rank as u64) < two_sizes_on };
            work.fill(table, (column, &sample), &codecs, &tried, sizes)?;
        }
        work.taken.clear();
    }
    work.try_whole(&order, &mut tables, &codecs, &target, allowance)?;
    Ok(Measured { columns: column_costs(stats, &tables, &codecs), codecs, dropped, sampled: work.sampled })
}

struct Work<'a> {
    stats: &'a FileStats,
    seed: u64,
    bench: &'a mut dyn CodecBench,
    buffer: Vec<u8>,
    /// Samples of the first columns, for later trials.
    taken: HashMap<usize, Sample>,
    /// Nominal nanoseconds.
    spent: f64,
    sampled: f64,
}

impl Work<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
    fn take(&mut self, column: usize, target: f64, whole: Option<f64>) -> Result<Sample> {
        let Some(column) = self.stats.columns.get(column) else { return Ok(Sample::default()) };
        let sample = sample::take(
            &**self.stats.file_of(column).source(),
            column,
            Wanted {
                target: whole.unwrap_or(target) as usize,
                least: whole.unwrap_or(0.0) as usize,
                largest: self.stats.largest,
                seed: self.seed,
            },
            &mut *self.bench,
            &mut self.buffer,
        )?;
        self.sampled += as_f64(sample.raw() as u64);
        // Baskets are unpacked whole, copied, and decoded twice.
        let raw = if whole.is_some() { sample.today.raw.min(target) } else { sample.today.raw };
        self.spent += raw * (nominal::decompression(column.compression) + 0.5 + 2.0 * nominal::DECODE);
        Ok(sample)
    }

    /// Tries one codec on a sample, cut into baskets of one size.
    fn run(&mut self, sample: &Sample, codec: Packing, size: usize, most: usize) -> Result<Tried> {
        let mut tried = Tried::default();
        for run in &sample.runs {
            run.pieces(codec, (size, most), &mut |piece| {
                let trial = piece.trial(codec, self.bench)?;
                let raw = as_f64(piece.raw as u64);
                self.spent += raw * nominal::codec(codec);
                tried.size.add(raw, as_f64(trial.stored as u64));
                tried.pack.add(raw, trial.pack);
                tried.unpack.add(raw, trial.unpack);
                tried.decode.add(raw, trial.decode);
                tried.encode.add(raw, trial.encode);
                Ok(())
            })?;
        }
        Ok(tried)
    }

    /// Tries all codecs on a few columns, and returns those to try on the others.
    fn scout(&mut self, order: &[usize], codecs: &[Packing], own: Packing) -> Result<(Vec<Packing>, Vec<Packing>)> {
        // The largest, and some of the others: small columns are of other kinds.
        let largest = order.iter().take(SCOUTS * 2 / 3);
        let others = order.iter().skip(SCOUTS * 2 / 3).step_by((order.len() / (SCOUTS / 3)).max(1));
        let each: f64 = codecs.iter().map(|&c| nominal::codec(c)).sum::<f64>() * as_f64(SCOUTS as u64);
        let tried = (SCOUTS_SHARE * nominal::budget(self.stats) / each.max(1.0)).clamp(SCOUTED.0, SCOUTED.1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
        let scouted = tried as usize;
        let mut lost = vec![0.0; codecs.len()];
        let mut total = 0.0;
        let target = |column: &Column| (SCOUTS_SAMPLE * tried).min(column.raw);
        let scouts: Vec<usize> = largest.chain(others).copied().collect();
        let mut announced = 0;
        for (n, &i) in scouts.iter().enumerate() {
            if n >= announced {
                let next = scouts.iter().skip(n).filter_map(|&i| self.stats.columns.get(i));
                let next = next.map(|column| (column, target(column)));
                announced = n.saturating_add(self.stats.announce(next, self.seed));
            }
            let Some(column) = self.stats.columns.get(i) else { continue };
            let sample = self.take(i, target(column), None)?;
            let taken: Vec<bool> = codecs.iter().map(|&codec| column.takes(codec) && sample.takes(codec)).collect();
            let tried = |(&codec, &taken): (&Packing, &bool)| match taken {
                true => self.run(&sample, codec, scouted, scouted),
                false => Ok(Tried::default()),
            };
            let tried: Vec<Tried> = codecs.iter().zip(&taken).map(tried).collect::<Result<_>>()?;
            self.taken.insert(i, sample);
            total += column.raw;
            for (k, sum) in lost.iter_mut().enumerate() {
                let takes = |k: usize| taken.get(k) == Some(&true);
                let beaten =
                    |(other, t): (usize, &Tried)| other != k && takes(other) && beats(t, tried.get(k), other < k);
                // What cannot be tried on a column is no loss there.
                if !takes(k) || tried.iter().enumerate().any(beaten) {
                    *sum += column.raw;
                }
            }
        }
        let lost = |k: usize| lost.get(k).is_some_and(|lost| *lost > (1.0 - KEPT_FOR) * total);
        let (dropped, kept): (Vec<_>, Vec<_>) = codecs.iter().enumerate().partition(|(k, c)| lost(*k) && **c != own);
        let only = |list: Vec<(usize, &Packing)>| list.into_iter().map(|(_, c)| *c).collect::<Vec<_>>();
        Ok(if kept.is_empty() { (codecs.to_vec(), Vec::new()) } else { (only(kept), only(dropped)) })
    }

    /// Tries codecs on whole pages of the largest columns, after all columns have been tried in small pieces: how much a codec gains by
    /// larger pieces holds for others, too.
    fn try_whole(
        &mut self,
        order: &[usize],
        tables: &mut [Trials],
        codecs: &[Packing],
        target: &dyn Fn(&Column) -> f64,
        allowance: &Allowance,
    ) -> Result<()> {
        let stats = self.stats;
        let mut left = WHOLE_SHARE * nominal::budget(stats) + WHOLE;
        let of_column = WHOLE_EACH * left;
        for (rank, &i) in order.iter().enumerate() {
            if rank > 0 && !allowance.allows(0.0) {
                break;
            }
            let (Some(column), Some(table)) = (stats.columns.get(i), tables.get_mut(i)) else { continue };
            // Slow codecs are tried on the largest only.
            let is_tried = |codec: Packing| {
                column.takes(codec) && (!codec.is_exact() || table.exact) && (rank == 0 || is_fast(codec, stats.goal))
            };
            let tried = || codecs.iter().enumerate().filter(|(_, codec)| is_tried(**codec));
            let price: f64 = tried().map(|(_, &codec)| nominal::codec(codec)).sum();
            let page = column.page_bytes().min(of_column.min(left) / price.max(1.0));
            if table.sampled <= 0.0 || page <= WHOLE_FROM * target(column) {
                continue;
            }
            left -= page * price;
            stats.announce(std::iter::once((column, page)), self.seed);
            let sample = self.take(i, target(column), Some(page))?;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
            let page = page as usize;
            for (k, &codec) in tried() {
                let whole = self.run(&sample, codec, page, usize::MAX)?;
                if let Some(slots) = table.codecs.get_mut(k) {
                    slots[2] = whole;
                }
            }
        }
        Ok(())
    }

    fn fill(
        &mut self,
        table: &mut Trials,
        (column, sample): (&Column, &Sample),
        codecs: &[Packing],
        tried: &[bool],
        Sizes { most, two }: Sizes,
    ) -> Result<()> {
        table.sampled = as_f64(sample.raw().min(most * sample.runs.len()) as u64);
        table.today = sample.today;
        table.elements = sample.elements;
        table.decode = sample.decode;
        table.stored = sample.stored;
        table.scale = sample.scale(column);
        table.exact = sample.runs.iter().all(sample::Run::can_be_exact);
        table.codecs.resize(codecs.len(), [Tried::default(); 3]);
        let longest = sample.runs.iter().map(sample::Run::payload).max().unwrap_or(0).min(LARGEST_BASKET).min(most);
        for ((slots, &codec), _) in table.codecs.iter_mut().zip(codecs).zip(tried).filter(|(_, tried)| **tried) {
            slots[1] = self.run(sample, codec, longest.max(1), most)?;
            let fast = is_fast(codec, self.stats.goal);
            if two && fast && longest >= 4096 {
                slots[0] = self.run(sample, codec, (longest / 8).max(1024), most)?;
            }
        }
        Ok(())
    }
}

/// The sizes of the pieces of a column that are tried.
#[derive(Clone, Copy)]
struct Sizes {
    /// Bytes of each run that are tried.
    most: usize,
    /// Whether smaller pieces are tried, too.
    two: bool,
}

/// Whether a codec is tried on every column that is sampled.
fn is_fast(codec: Packing, goal: Goal) -> bool {
    nominal::codec(codec) <= goal.pick(SLOW.0, SLOW.1)
}

/// Whether a codec is as good as another in every way, and better in one; `first` decides a draw. Times within
/// the noise of the clock count as equal.
fn beats(a: &Tried, b: Option<&Tried>, first: bool) -> bool {
    const NOISE: f64 = 2e-6;
    let Some(b) = b else { return false };
    let no_worse = |x: f64, y: f64| x <= y * 1.03 + NOISE;
    let reading = |tried: &Tried| tried.unpack.cost + tried.decode.cost;
    let writing = |tried: &Tried| tried.pack.cost + tried.encode.cost;
    let draw = a.size.cost >= b.size.cost && writing(a) >= writing(b) * 0.9 && reading(a) >= reading(b) * 0.9;
    a.size.cost <= b.size.cost * 1.001
        && no_worse(reading(a), reading(b))
        && no_worse(writing(a), writing(b))
        && (first || !draw)
}
