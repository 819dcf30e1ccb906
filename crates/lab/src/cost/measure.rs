//! Tries codecs on samples of columns, within a budget, and drops codecs early that no column is better with.
//!
//! What is sampled is planned with a table of nominal costs, not with the clock: the same seed takes the same samples
//! on every machine, and the plan keeps the same proportion to the rewrite on slow ones. Codecs that compress slowly
//! are tried on fewer columns; the others get the ratio to a codec that was tried on both.

use std::collections::HashMap;

use rootfile::Result;
use rootfile::codec::{Algorithm, Compression};

use super::allowance::Allowance;
use super::bench::Bench;
use super::decoding::{Decode, Decoding};
use super::facts::{Column, Facts, as_f64};
use super::forms;
use super::line::{Line, Point};
use super::sample::{self, Sample};

/// Trying codecs may take this share of the CPU time of the rewrite it decides, by plan. The promise is a quarter,
/// for all of measuring.
const SHARE: f64 = 0.09;
/// And this long besides, in nominal seconds: of a small file less would say nothing.
const FLOOR_SECONDS: f64 = 0.2;
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
/// Codecs with a higher nominal cost are tried on every fourth column only, the largest apart.
const SLOW: f64 = 12.0;
/// Largest columns that slow codecs are tried on, each of them.
const SLOW_ON: usize = 12;
/// Largest columns on which two basket sizes are tried, at least and at most, and for so many nominal nanoseconds one;
/// the others have the shape that these have.
const TWO_SIZES_ON: (f64, f64) = (12.0, 64.0);
const TWO_SIZES_EACH: f64 = 5e6;
/// A codec is dropped if others beat it on all but this share of the bytes.
const KEPT_FOR: f64 = 0.02;

/// What a codec costs on a column: lines over baskets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CodecCost {
    pub size: Line,
    pub pack: Line,
    pub unpack: Line,
}

/// What was measured of a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnCost {
    /// Seconds to decompress its baskets as they are.
    pub today: Line,
    /// Seconds to decode its entries.
    pub decode: Decode,
    /// By codec, in the order of [`Measured::codecs`].
    pub codecs: Vec<Option<CodecCost>>,
    /// Bytes of its own baskets that were sampled; without any, only its own codec and none are known.
    pub sampled: f64,
}

/// What was measured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub codecs: Vec<Compression>,
    /// Codecs that were tried first and dropped.
    pub dropped: Vec<Compression>,
    pub columns: Vec<ColumnCost>,
    /// Bytes before compression that were sampled.
    pub sampled: f64,
}

/// Codecs that are tried.
pub(crate) fn candidates() -> Vec<Compression> {
    vec![
        Compression::NONE,
        Compression::new(Algorithm::Lz4, 1),
        Compression::new(Algorithm::Lz4, 4),
        Compression::new(Algorithm::Zlib, 1),
        Compression::new(Algorithm::Zlib, 6),
        Compression::new(Algorithm::Zstd, 1),
        Compression::new(Algorithm::Zstd, 3),
        Compression::new(Algorithm::Zstd, 5),
    ]
}

/// Codecs that are tried where nothing else meets a limit of size: reading them takes five times as long.
pub(crate) fn last_resorts() -> Vec<Compression> {
    vec![Compression::new(Algorithm::Lzma, 1), Compression::new(Algorithm::Lzma, 5)]
}

/// Nanoseconds for each byte to compress and decompress, roughly; only proportions matter.
pub(super) fn nominal(compression: Compression) -> f64 {
    match (compression.algorithm(), compression.level()) {
        (None, _) => 0.3,
        (Some(Algorithm::Lz4), 0..=3) => 3.0,
        (Some(Algorithm::Lz4), _) => 18.0,
        (Some(Algorithm::Zlib | Algorithm::OldCs), 0..=2) => 10.0,
        (Some(Algorithm::Zlib | Algorithm::OldCs), _) => 18.0,
        (Some(Algorithm::Zstd), 0..=1) => 6.0,
        (Some(Algorithm::Zstd), 2..=3) => 11.0,
        (Some(Algorithm::Zstd), _) => 27.0,
        (Some(Algorithm::Lzma), 0..=2) => 110.0,
        (Some(Algorithm::Lzma), _) => 200.0,
    }
}

/// Nominal nanoseconds to decompress a byte.
pub(super) fn nominal_unpack(compression: Compression) -> f64 {
    match compression.algorithm() {
        None => 0.1,
        Some(Algorithm::Lz4) => 0.7,
        Some(Algorithm::Zlib | Algorithm::OldCs) => 2.5,
        Some(Algorithm::Zstd) => 1.6,
        Some(Algorithm::Lzma) => 22.0,
    }
}

/// Nominal nanoseconds to decode a byte.
const NOMINAL_DECODE: f64 = 0.5;

/// Nominal nanoseconds of the cheapest rewrite that does anything.
pub(crate) fn nominal_rewrite(columns: &[Column]) -> f64 {
    columns.iter().map(|c| c.raw * (nominal_unpack(c.compression) + 4.0 + 0.5)).sum()
}

/// Nominal nanoseconds that trying codecs may take: a share of such a rewrite.
pub(super) fn budget(columns: &[Column]) -> f64 {
    SHARE * nominal_rewrite(columns) + FLOOR_SECONDS * 1e9
}

/// Tries `codecs` on a file's columns. The file's `own` is not dropped: what it costs to write is asked for.
pub(crate) fn measure(
    facts: &Facts,
    codecs: &[Compression],
    own: Compression,
    (seed, allowance): (u64, &Allowance),
    bench: &mut dyn Bench,
) -> Result<Measured> {
    let mut order: Vec<usize> = (0..facts.columns.len()).collect();
    let raw = |i: &usize| facts.columns.get(*i).map_or(0.0, |c| c.raw);
    order.sort_by(|a, b| raw(b).total_cmp(&raw(a)));
    order.retain(|&i| facts.columns.get(i).is_some_and(|c| c.can_sample));
    let mut work =
        Work { facts, seed, bench, taken: HashMap::new(), buffer: vec![0; 1 << 24], spent: 0.0, sampled: 0.0 };
    let (codecs, dropped) = work.scout(&order, codecs, own)?;
    let mut tables = vec![Table::default(); facts.columns.len()];
    let total: f64 = order.iter().map(raw).sum();
    let left = (budget(&facts.columns) - work.spent).max(0.0);
    let fast: f64 = codecs.iter().map(|&c| nominal(c)).filter(|&n| n <= SLOW).sum();
    let slow: f64 = codecs.iter().map(|&c| nominal(c)).filter(|&n| n > SLOW).sum();
    let two_sizes_on = (budget(&facts.columns) / TWO_SIZES_EACH).clamp(TWO_SIZES_ON.0, TWO_SIZES_ON.1);
    // Reading a sample costs about as much as decompressing it thrice.
    let share = left / (2.0 * fast + 0.5 * slow + 8.0) / total.max(1.0);
    for (rank, &i) in order.iter().enumerate() {
        let (Some(column), Some(table)) = (facts.columns.get(i), tables.get_mut(i)) else { continue };
        // The largest columns are always sampled, whatever the budget.
        if rank >= 4 && (work.spent >= budget(&facts.columns) || !allowance.allows(0.0)) {
            break;
        }
        let target = (column.raw * share).clamp(LEAST_SAMPLED, MOST_SAMPLED).min(column.raw);
        let sample = match work.taken.remove(&i) {
            Some(sample) => sample,
            None => work.take(i, target)?,
        };
        let tried: Vec<bool> = codecs.iter().map(|&c| nominal(c) <= SLOW || rank < SLOW_ON || rank % 4 == 0).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
        let most = target as usize / sample.runs.len().max(1);
        work.fill(table, (column, &sample), &codecs, &tried, (most, as_f64(rank as u64) < two_sizes_on))?;
    }
    Ok(Measured { columns: settle(facts, &tables, &codecs), codecs, dropped, sampled: work.sampled })
}

struct Work<'a> {
    facts: &'a Facts,
    seed: u64,
    bench: &'a mut dyn Bench,
    buffer: Vec<u8>,
    /// Samples that the scouts left.
    taken: HashMap<usize, Sample>,
    /// Nominal nanoseconds.
    spent: f64,
    sampled: f64,
}

/// What trials on a column came to, by codec and basket size.
#[derive(Clone, Debug, Default)]
struct Table {
    /// Bytes tried.
    sampled: f64,
    today: Point,
    /// Seconds to decode: baskets as a whole, and entries each by itself.
    decode: [Point; 2],
    /// Bytes on disk of the baskets in `today`.
    stored: f64,
    /// Bytes on disk of the whole column over what its sample would let one expect.
    scale: f64,
    codecs: Vec<[Tried; 2]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tried {
    size: Point,
    pack: Point,
    unpack: Point,
}

impl Work<'_> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
    fn take(&mut self, column: usize, target: f64) -> Result<Sample> {
        let Some(facts) = self.facts.columns.get(column) else { return Ok(Sample::default()) };
        let sample = sample::take(
            &**forms::file_of(self.facts, facts).source(),
            facts,
            (target as usize, self.facts.largest),
            self.seed,
            (&mut *self.bench, &mut self.buffer),
        )?;
        self.sampled += as_f64(sample.raw() as u64);
        // Baskets are unpacked whole, copied, and decoded twice.
        self.spent += sample.today.raw * (nominal_unpack(facts.compression) + 0.5 + 2.0 * NOMINAL_DECODE);
        Ok(sample)
    }

    /// Tries one codec on a sample, cut into baskets of one size.
    fn run(&mut self, sample: &Sample, codec: Compression, size: usize, most: usize) -> Result<Tried> {
        let mut tried = Tried::default();
        for run in &sample.runs {
            run.baskets(size, most, |payload| {
                let trial = self.bench.trial(codec, payload)?;
                let raw = as_f64(payload.len() as u64);
                self.spent += raw * nominal(codec);
                tried.size.add(raw, as_f64(trial.stored as u64));
                tried.pack.add(raw, trial.pack);
                tried.unpack.add(raw, trial.unpack);
                Ok(())
            })?;
        }
        Ok(tried)
    }

    /// Tries all codecs on a few columns, and says which go on.
    fn scout(
        &mut self,
        order: &[usize],
        codecs: &[Compression],
        own: Compression,
    ) -> Result<(Vec<Compression>, Vec<Compression>)> {
        // The largest, and some of the others: small columns are of other kinds.
        let largest = order.iter().take(SCOUTS * 2 / 3);
        let others = order.iter().skip(SCOUTS * 2 / 3).step_by((order.len() / (SCOUTS / 3)).max(1));
        let each: f64 = codecs.iter().map(|&c| nominal(c)).sum::<f64>() * as_f64(SCOUTS as u64);
        let tried = (SCOUTS_SHARE * budget(&self.facts.columns) / each.max(1.0)).clamp(SCOUTED.0, SCOUTED.1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
        let scouted = tried as usize;
        let mut lost = vec![0.0; codecs.len()];
        let mut total = 0.0;
        for &i in largest.chain(others) {
            let Some(column) = self.facts.columns.get(i) else { continue };
            let sample = self.take(i, (SCOUTS_SAMPLE * tried).min(column.raw))?;
            let tried: Vec<Tried> =
                codecs.iter().map(|&codec| self.run(&sample, codec, scouted, scouted)).collect::<Result<_>>()?;
            self.taken.insert(i, sample);
            total += column.raw;
            for (k, sum) in lost.iter_mut().enumerate() {
                if tried.iter().enumerate().any(|(other, t)| other != k && beats(t, tried.get(k), other < k)) {
                    *sum += column.raw;
                }
            }
        }
        let lost = |k: usize| lost.get(k).is_some_and(|lost| *lost > (1.0 - KEPT_FOR) * total);
        let (dropped, kept): (Vec<_>, Vec<_>) = codecs.iter().enumerate().partition(|(k, c)| lost(*k) && **c != own);
        let only = |list: Vec<(usize, &Compression)>| list.into_iter().map(|(_, c)| *c).collect::<Vec<_>>();
        Ok(if kept.is_empty() { (codecs.to_vec(), Vec::new()) } else { (only(kept), only(dropped)) })
    }

    fn fill(
        &mut self,
        table: &mut Table,
        (column, sample): (&Column, &Sample),
        codecs: &[Compression],
        tried: &[bool],
        (most, two_sizes): (usize, bool),
    ) -> Result<()> {
        table.sampled = as_f64(sample.raw().min(most * sample.runs.len()) as u64);
        table.today = sample.today;
        table.decode = sample.decode;
        table.stored = sample.stored;
        table.scale = sample.scale(column);
        table.codecs = vec![[Tried::default(); 2]; codecs.len()];
        let longest = sample.runs.iter().map(sample::Run::payload).max().unwrap_or(0).min(LARGEST_BASKET).min(most);
        for ((slots, &codec), _) in table.codecs.iter_mut().zip(codecs).zip(tried).filter(|(_, tried)| **tried) {
            slots[1] = self.run(sample, codec, longest.max(1), most)?;
            if two_sizes && nominal(codec) <= SLOW && longest >= 4096 {
                slots[0] = self.run(sample, codec, (longest / 8).max(1024), most)?;
            }
        }
        Ok(())
    }
}

/// Whether a codec is as good as another in every way, and better in one; `first` decides a draw. Times within
/// the noise of the clock count as equal.
fn beats(a: &Tried, b: Option<&Tried>, first: bool) -> bool {
    const NOISE: f64 = 2e-6;
    let Some(b) = b else { return false };
    let no_worse = |x: f64, y: f64| x <= y * 1.03 + NOISE;
    let draw = a.size.cost >= b.size.cost && a.pack.cost >= b.pack.cost * 0.9 && a.unpack.cost >= b.unpack.cost * 0.9;
    a.size.cost <= b.size.cost * 1.001
        && no_worse(a.unpack.cost, b.unpack.cost)
        && no_worse(a.pack.cost, b.pack.cost)
        && (first || !draw)
}

/// From trials to lines, with what other columns tell where a codec was not tried. A column that was not sampled
/// has only its own codec, and none: what else would do to it is not known.
fn settle(facts: &Facts, tables: &[Table], codecs: &[Compression]) -> Vec<ColumnCost> {
    let shapes = shapes(tables, codecs);
    let (for_raw, for_stored) = unpacking(tables);
    let mut decoding = Decoding::default();
    facts.columns.iter().zip(tables).for_each(|(column, table)| decoding.add(column, &table.decode));
    let column = |(column, table): (&Column, &Table)| {
        let expected = for_raw + for_stored * column.zip / column.raw;
        let today = if table.today.raw > 0.0 { table.today.cost / table.today.raw } else { expected };
        // Its baskets stay as they are: there is nothing to be told apart.
        let today = Line { fixed: 0.0, per_byte: today };
        let decode = decoding.of(column, &table.decode);
        if table.sampled <= 0.0 {
            let known = |(&codec, shape): (&Compression, &CodecCost)| match codec {
                c if c.is_none() => Some(*shape),
                c if c == column.compression => {
                    let size = Point { blocks: column.count(), raw: column.raw, cost: column.zip };
                    let unpack = Point { cost: today.per_byte * column.raw, ..size };
                    let (size, unpack) =
                        (Line::fit(&[size], Some(shape.size))?, Line::fit(&[unpack], Some(shape.unpack))?);
                    Some(CodecCost { size, unpack, ..*shape })
                }
                _ => None,
            };
            let codecs = codecs.iter().zip(&shapes).map(known).collect();
            return ColumnCost { today, decode, codecs, sampled: 0.0 };
        }
        let own = |k: usize| {
            let slots = table.codecs.get(k)?;
            let shape = shapes.get(k)?;
            let line = |of: fn(&Tried) -> Point, shape| Line::fit(&slots.each_ref().map(of), Some(shape));
            Some(CodecCost {
                size: line(|t| t.size, shape.size)?.scaled(if codecs.get(k)?.is_none() { 1.0 } else { table.scale }),
                pack: line(|t| t.pack, shape.pack)?,
                unpack: line(|t| t.unpack, shape.unpack)?,
            })
        };
        let mut costs: Vec<Option<CodecCost>> = (0..codecs.len()).map(own).collect();
        let measured = costs.clone();
        for (k, cost) in costs.iter_mut().enumerate().filter(|(_, cost)| cost.is_none()) {
            *cost = sibling(&measured, tables, k).map(|(known, ratio)| CodecCost {
                size: known.size.scaled(ratio.size.per_byte),
                pack: known.pack.scaled(ratio.pack.per_byte),
                unpack: known.unpack.scaled(ratio.unpack.per_byte),
            });
        }
        ColumnCost { today, decode, codecs: costs, sampled: table.sampled }
    };
    facts.columns.iter().zip(tables).map(column).collect()
}

/// Seconds that decompression takes for each byte that comes out, and for each that goes in, over all columns that
/// were sampled. Columns that compress very well are not only smaller but faster too.
fn unpacking(tables: &[Table]) -> (f64, f64) {
    // Least squares of the time for a byte that comes out, over bytes that go in for it.
    let known = || tables.iter().filter(|t| t.today.raw > 0.0).map(|t| (t.stored / t.today.raw, t.today));
    let weight: f64 = known().map(|(_, today)| today.raw).sum();
    if weight <= 0.0 {
        return (0.0, 0.0);
    }
    let x = known().map(|(x, today)| x * today.raw).sum::<f64>() / weight;
    let y = known().map(|(_, today)| today.cost).sum::<f64>() / weight;
    let spread = known().map(|(d, today)| (d - x).powi(2) * today.raw).sum::<f64>();
    let together = known().map(|(d, today)| (d - x) * (today.cost - y * today.raw)).sum::<f64>();
    let slope = if spread > 0.0 { (together / spread).clamp(0.0, y / x.max(f64::MIN_POSITIVE)) } else { 0.0 };
    (y - slope * x, slope)
}

/// Each codec over all columns. One that was tried with one basket size only has the shape of one that was tried
/// with two, of the same algorithm if there is one.
fn shapes(tables: &[Table], codecs: &[Compression]) -> Vec<CodecCost> {
    let sums: Vec<[Tried; 2]> = (0..codecs.len()).map(|k| summed(tables, k)).collect();
    let known: Vec<Option<CodecCost>> = sums
        .iter()
        .map(|sums| {
            let line = |of: fn(&Tried) -> Point| Line::fit(&sums.each_ref().map(of), None);
            let both = sums.iter().all(|tried| tried.size.raw > 0.0);
            both.then_some(CodecCost { size: line(|t| t.size)?, pack: line(|t| t.pack)?, unpack: line(|t| t.unpack)? })
        })
        .collect();
    let shape = |(k, sums): (usize, &[Tried; 2])| {
        let own = known.get(k).copied().flatten();
        let same = |other: usize| codecs.get(other).map(|c| c.algorithm()) == codecs.get(k).map(|c| c.algorithm());
        let others = || known.iter().enumerate().rev().filter_map(|(i, cost)| Some((i, (*cost)?)));
        let like = others().find(|(i, _)| same(*i)).or_else(|| others().next()).map(|(_, cost)| cost);
        own.unwrap_or_else(|| {
            let like = like.unwrap_or_default();
            let line = |of: fn(&Tried) -> Point, like| Line::fit(&[of(&sums[1])], Some(like)).unwrap_or_default();
            CodecCost {
                size: line(|t| t.size, like.size),
                pack: line(|t| t.pack, like.pack),
                unpack: line(|t| t.unpack, like.unpack),
            }
        })
    };
    sums.iter().enumerate().map(shape).collect()
}

/// What a codec came to on the columns where it was tried with two basket sizes; where there is none, on all.
fn summed(tables: &[Table], k: usize) -> [Tried; 2] {
    let mut sums = [Tried::default(); 2];
    let tried = || tables.iter().filter_map(|t| t.codecs.get(k));
    let both = |slots: &[Tried; 2]| slots[0].size.raw > 0.0;
    let any = tried().any(both);
    for slots in tried().filter(|slots| !any || both(slots)) {
        for (sum, slot) in sums.iter_mut().zip(slots) {
            sum.size.merge(&slot.size);
            sum.pack.merge(&slot.pack);
            sum.unpack.merge(&slot.unpack);
        }
    }
    sums
}

/// A codec that was tried on this column, and how codec `k` compares to it on the columns where both were.
/// The ratios stand in `per_byte`.
fn sibling(measured: &[Option<CodecCost>], tables: &[Table], k: usize) -> Option<(CodecCost, CodecCost)> {
    let compare = |other: usize| {
        let both = tables.iter().filter_map(|t| {
            let (a, b) = (t.codecs.get(k)?[1], t.codecs.get(other)?[1]);
            (a.size.raw > 0.0 && b.size.raw > 0.0).then_some((a, b))
        });
        let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
        for (x, y) in both {
            for (sum, tried) in [(&mut a, x), (&mut b, y)] {
                sum[0] += tried.size.cost;
                sum[1] += tried.pack.cost;
                sum[2] += tried.unpack.cost;
            }
        }
        let ratio = |i: usize| (b[i] > 0.0).then(|| Line { fixed: 0.0, per_byte: a[i] / b[i] });
        Some(CodecCost { size: ratio(0)?, pack: ratio(1)?, unpack: ratio(2)? })
    };
    // The last one that compresses is the one most like the slow ones.
    let (other, known) = measured.iter().enumerate().rev().find_map(|(i, cost)| Some((i, (*cost)?)))?;
    Some((known, compare(other)?))
}
