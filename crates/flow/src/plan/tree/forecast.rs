//! Forecasts the plan of a tree: which clusters of each column are opened, and what becomes of their bytes.
//!
//! What is copied keeps its bytes. Of the rest all is tried if that takes few seconds; otherwise samples are made, at places that are
//! even over the work: each about as large as a basket of the output, so that it has its keys and compresses as well. Columns too
//! small for a sample of their own become what the others become, keys apart: their number is known, and of small baskets they are most.

use std::ops::Range;

use dataset::layout::Container;
use rootfile::Result;
use rootfile::codec::Compression;

use super::model::TablePlan;
use crate::execute::engine::tree::recode::sample as sample_recode;
use crate::execute::engine::tree::recode_job::{Recode, Sampled};
use crate::execute::engine::tree::trial::{Made, Trial};
use crate::plan::forecast::{
    ColumnForecast, Forecast, Places, RecodeForecast, Tally, of_one_sample, opening, recoding, whole,
};
use crate::table::depth::{Depth, Depths, OutputCluster, depth};
use crate::table::target::Shape;
use crate::table::tree::column::Column;

/// Bytes before compression of a sample, at least and at most.
const SAMPLE: (u32, u32) = (64 << 10, 512 << 10);
/// Seconds to begin a basket.
const START: f64 = 8e-6;
/// Portions of recoded entries that are tried where not all are.
const PORTIONS: u64 = 4;

/// What is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Nothing,
    Some,
    All,
}

/// A cluster of a column.
struct Cell {
    entries: Range<u64>,
    pieces: Range<usize>,
    depth: Depth,
    /// Their bytes now, and before compression.
    bytes: f64,
    raw: f64,
}

/// A column with what is known before anything is tried.
struct Opened<'a> {
    number: usize,
    column: &'a Column,
    depths: Depths,
    /// Bytes on disk now.
    before: f64,
    /// Bytes that are copied, and that are opened: of the latter also those in the record of the tree.
    copied: f64,
    opened: f64,
    /// Bytes before compression of what is opened.
    raw: f64,
    /// Expected baskets of the output.
    baskets: u64,
}

/// Forecasts a plan. Samples take about so many seconds of one core; with none all codecs and baskets are taken to be equal.
pub(crate) fn forecast_table(plan: &TablePlan, path: &str, seconds: f64) -> Result<Forecast> {
    let columns: Vec<Opened<'_>> =
        plan.columns.iter().enumerate().filter_map(|(i, column)| look_at(plan, i, column)).collect();
    let recodes: f64 = plan.recodes.iter().map(|recode| work_of(recode, &ends(plan))).sum();
    let work: f64 = columns.iter().map(Opened::work).sum::<f64>() + recodes;
    let mut tallies = vec![Tally::default(); columns.len()];
    let mut contents = Tally::default();
    let how = match seconds {
        _ if seconds <= 0.0 => Extent::Nothing,
        _ if work <= seconds => Extent::All,
        _ => Extent::Some,
    };
    match how {
        Extent::Nothing => {}
        Extent::All => try_all(plan, &columns, &mut tallies)?,
        Extent::Some => try_some(plan, &columns, &mut tallies, seconds * (1.0 - recodes / work), &mut contents)?,
    }
    let (mut variance, mut sampled) = (0.0, 0.0);
    let forecasts: Vec<ColumnForecast> = columns
        .iter()
        .zip(&tallies)
        .map(|(column, tally)| {
            let after = match (tally.factor(), contents.factor()) {
                (Some(factor), _) => column.opened * factor,
                (None, Some(factor)) => {
                    column.contents(column.opened) * factor + column.keylen() * float(column.baskets)
                }
                (None, None) => column.opened,
            };
            let part = 1.0 - (tally.before / column.opened.max(1.0)).min(1.0);
            let of_others = || contents.variance(column.contents(column.opened), part);
            let own = tally.variance(column.opened, part).or_else(of_others);
            let alone = if seconds > 0.0 { of_one_sample(after, part) } else { 0.0 };
            variance += own.unwrap_or(alone);
            sampled += tally.before;
            ColumnForecast {
                name: plan.tree.lineage(column.column.branch).into_iter().rev().collect::<Vec<_>>().join("/"),
                depths: column.depths,
                bytes_before: whole(column.before),
                bytes_after: whole(column.copied + after),
                baskets: column.baskets,
                sampled: whole(tally.before),
                compression: column.column.target.compression,
            }
        })
        .collect();
    let recodes: Vec<RecodeForecast> = plan.recodes.iter().map(|one| recode(plan, one, how, &mut sampled)).collect();
    let entries = ends(plan).end - ends(plan).start;
    let recoded = recodes.iter().flat_map(|recode| &recode.outputs);
    Ok(Forecast {
        path: path.to_owned(),
        container: Container::Ttree,
        input_entries: plan.input_entries.iter().sum(),
        entries,
        clusters: Some((plan.clusters.bounds.len() as u64).saturating_sub(1)),
        bytes_before: forecasts.iter().map(|c| c.bytes_before).chain(recodes.iter().map(|r| r.bytes_before)).sum(),
        bytes_after: forecasts.iter().map(|c| c.bytes_after).chain(recodes.iter().map(|r| r.bytes_after)).sum(),
        baskets: forecasts.iter().map(|c| c.baskets).chain(recoded.map(|(.., baskets)| *baskets)).sum(),
        metadata: 0,
        uncertainty: whole(2.0 * variance.sqrt()),
        sampled: whole(sampled),
        columns: forecasts,
        recodes,
        notes: Vec::new(),
    })
}

/// All entries of the output.
fn ends(plan: &TablePlan) -> Range<u64> {
    plan.clusters.bounds.first().copied().unwrap_or(0)..plan.clusters.bounds.last().copied().unwrap_or(0)
}

/// Calls `see` with each cluster that has entries of a column, in order.
fn each_cell(plan: &TablePlan, column: &Column, mut see: impl FnMut(Cell)) {
    let mut at = 0;
    for (i, bound) in plan.clusters.bounds.windows(2).enumerate() {
        let entries = bound[0]..bound[1];
        let pieces = column.source.overlapping_next(&mut at, &entries);
        if pieces.is_empty() {
            continue;
        }
        let packed = plan.clusters.packed.get(i).copied().unwrap_or(false);
        let cluster = OutputCluster { entries, packed, copies_fit: plan.copies_fit };
        let depth = depth(column, &pieces, &cluster);
        let bytes = column.source.weight(pieces.clone(), &cluster.entries);
        // What is in the record of the tree is not compressed by itself.
        let shrunk = column.source.share(pieces.clone(), &cluster.entries);
        let raw = bytes + shrunk * (column.source.expansion.max(1.0) - 1.0);
        see(Cell { entries: cluster.entries, pieces, depth, bytes, raw });
    }
}

fn look_at<'a>(plan: &TablePlan, number: usize, column: &'a Column) -> Option<Opened<'a>> {
    let all = ends(plan);
    let kept = column.source.overlapping(&all);
    if kept.is_empty() {
        return None;
    }
    let before = column.source.share(kept, &all);
    let mut found =
        Opened { number, column, depths: Depths::default(), before, copied: 0.0, opened: 0.0, raw: 0.0, baskets: 0 };
    each_cell(plan, column, |cell| {
        found.depths.count(cell.depth);
        match cell.depth {
            Depth::Copy => found.copied += cell.bytes,
            _ => (found.opened, found.raw) = (found.opened + cell.bytes, found.raw + cell.raw),
        }
        found.baskets += match (cell.depth, basket_size(column)) {
            (Depth::Regroup | Depth::Recode, Some(size)) => whole((cell.raw / f64::from(size)).ceil()).max(1),
            (Depth::Regroup | Depth::Recode, None) => 1,
            (Depth::Copy | Depth::Recompress, _) => cell.pieces.len() as u64,
        };
    });
    Some(found)
}

/// The size at which baskets of the output are cut.
fn basket_size(column: &Column) -> Option<u32> {
    match column.target.shape {
        Shape::Keep(size) => Some(column.target.packed_size.unwrap_or(size).max(1)),
        Shape::Size(size) => Some(size.max(1)),
        Shape::PerCluster => None,
    }
}

impl Opened<'_> {
    /// Bytes of the key of a basket.
    fn keylen(&self) -> f64 {
        float(self.column.keylen() as u64)
    }

    /// So many of its bytes without the keys among them.
    fn contents(&self, bytes: f64) -> f64 {
        let keys = self.keylen() * float(self.column.source.pieces.len() as u64);
        bytes * (1.0 - keys / (self.copied + self.opened).max(1.0)).max(0.0)
    }

    /// Seconds to try all that is opened.
    fn work(&self) -> f64 {
        let baskets = if self.opened > 0.0 { self.baskets.max(self.column.source.pieces.len() as u64) } else { 0 };
        opening(self.raw, self.column.target.compression) + START * float(baskets)
    }
}

/// Tries all clusters that are opened.
fn try_all(plan: &TablePlan, columns: &[Opened<'_>], tallies: &mut [Tally]) -> Result<()> {
    let mut trial = trial(plan);
    for (column, tally) in columns.iter().zip(tallies).filter(|(column, _)| column.opened > 0.0) {
        let mut failed = Ok(());
        let mut sum = (0.0, Made::default());
        each_cell(plan, column.column, |cell| {
            if failed.is_err() || cell.depth == Depth::Copy {
                return;
            }
            match trial.make(column.number, cell.entries, cell.depth) {
                Ok(made) => {
                    sum.0 += cell.bytes;
                    sum.1.zip += made.zip;
                }
                Err(e) => failed = Err(e),
            }
        });
        failed?;
        tally.add_whole(sum.0, float(sum.1.zip));
    }
    Ok(())
}

/// Tries samples of what is opened. `contents` has those of all columns, without keys.
fn try_some(
    plan: &TablePlan,
    columns: &[Opened<'_>],
    tallies: &mut [Tally],
    seconds: f64,
    contents: &mut Tally,
) -> Result<()> {
    let work: f64 = columns.iter().map(Opened::work).sum();
    // A sample reads the baskets that it lies in, and is compressed.
    let one = |column: &Opened<'_>| {
        let pieces = column.column.source.pieces.len().max(1) as u64;
        let basket = (column.copied * column.column.source.expansion.max(1.0) + column.raw) / float(pieces);
        let size = f64::from(size_of(column.column));
        opening(size, column.column.target.compression) + opening((basket - size).max(0.0), Compression::NONE)
    };
    let each = columns.iter().map(|column| column.work() * one(column)).sum::<f64>() / work.max(f64::MIN_POSITIVE);
    let mut places = Places::new(work, seconds / each.max(f64::MIN_POSITIVE));
    let mut trial = trial(plan);
    for (column, tally) in columns.iter().zip(tallies) {
        let places = places.within(column.work());
        if places.is_empty() || column.opened <= 0.0 {
            continue;
        }
        let mut cells = Vec::new();
        each_cell(plan, column.column, |cell| {
            if cell.depth != Depth::Copy {
                cells.push(cell);
            }
        });
        let (mut at, mut next) = (0.0, 0);
        let mut last = None;
        for place in places {
            let target = place * column.opened;
            while cells.get(next).is_some_and(|cell: &Cell| at + cell.bytes <= target) && next + 1 < cells.len() {
                at += cells.get(next).map_or(0.0, |cell| cell.bytes);
                next += 1;
            }
            let Some(cell) = cells.get(next) else { break };
            let part = ((target - at) / cell.bytes.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let entries = part_of(column.column, cell, part);
            if entries.is_empty() || last.as_ref() == Some(&entries) {
                continue;
            }
            let before = column.column.source.weight(column.column.source.overlapping(&entries), &entries);
            let made = trial.make(column.number, entries.clone(), cell.depth)?;
            trial.elsewhere();
            let work = before * column.work() / column.opened;
            tally.add(before, float(made.zip), work);
            contents.add(column.contents(before), float(made.zip) - column.keylen() * float(made.records), work);
            last = Some(entries);
        }
    }
    Ok(())
}

/// Bytes before compression of a sample of a column.
fn size_of(column: &Column) -> u32 {
    basket_size(column).unwrap_or(SAMPLE.1).clamp(SAMPLE.0, SAMPLE.1)
}

/// The entries of a cluster that a sample takes, from about this part of it on: whole baskets where they stay as they are.
fn part_of(column: &Column, cell: &Cell, part: f64) -> Range<u64> {
    let share = (f64::from(size_of(column)) / cell.raw.max(1.0)).min(1.0);
    if cell.depth == Depth::Recompress {
        let count = cell.pieces.len();
        let n = usize::try_from(whole((share * float(count as u64)).ceil())).unwrap_or(1).clamp(1, count.max(1));
        let first = usize::try_from(whole((part * float((count - n) as u64)).floor())).unwrap_or(0);
        let pieces = column.source.pieces.get(cell.pieces.start + first..cell.pieces.start + first + n);
        let ends = pieces.and_then(|pieces| pieces.first().zip(pieces.last()));
        return ends.map_or(0..0, |(first, last)| first.first_entry..last.end());
    }
    let count = cell.entries.end - cell.entries.start;
    let n = whole((share * float(count)).ceil()).clamp(1, count.max(1));
    let start = cell.entries.start + whole((part * float(count - n)).floor());
    start..start + n
}

fn trial(plan: &TablePlan) -> Trial<'_> {
    let clusters = &plan.clusters;
    Trial::new(&plan.files, &plan.columns, &clusters.bounds, &clusters.packed, plan.copies_fit)
}

/// Seconds to try all entries of a column that is recoded.
fn work_of(recode: &Recode, entries: &Range<u64>) -> f64 {
    let compression = recode.outputs.first().map_or(Compression::NONE, |one| one.plan.compression);
    let raw: f64 =
        recode.sources.iter().map(|source| source.share(entries) * source.column.source.expansion.max(1.0)).sum();
    recoding(raw, compression)
}

fn recode(plan: &TablePlan, recode: &Recode, how: Extent, tried: &mut f64) -> RecodeForecast {
    let entries = ends(plan);
    let before: f64 = recode.sources.iter().map(|source| source.share(&entries)).sum();
    let clusters = plan.clusters.bounds.windows(2).map(|bound| bound[0]..bound[1]).filter(|one| recode.covers(one));
    let ranges: Vec<Range<u64>> = if how == Extent::All {
        clusters.collect()
    } else {
        let clusters: Vec<_> = clusters.collect();
        let n = (clusters.len() as u64).clamp(1, PORTIONS);
        let at = |k: u64| clusters.get(usize::try_from((2 * k + 1) * clusters.len() as u64 / (2 * n)).ok()?);
        let portion = |one: &Range<u64>| one.start..one.end.min(one.start.saturating_add(recode.portion.max(1)));
        (0..n).filter_map(at).map(portion).collect()
    };
    // A column that cannot be recoded fails in the work itself, not here.
    let sampled = if how != Extent::Nothing {
        sample_recode(recode, &plan.files, &plan.clusters.bounds, &ranges).unwrap_or_default()
    } else {
        Sampled::default()
    };
    *tried += sampled.before;
    let zip: u64 = sampled.outputs.iter().map(|output| output.zip).sum();
    let scale = if sampled.before > 0.0 { before / sampled.before } else { 1.0 };
    let after = if sampled.before > 0.0 { float(zip) * scale } else { before };
    let [now, then] = recode.forms;
    let names = recode.outputs.iter().filter_map(|output| plan.columns.get(output.column));
    let outputs = names.zip(&sampled.outputs).map(|(column, output)| {
        let name = plan.tree.lineage(column.branch).into_iter().rev().collect::<Vec<_>>().join("/");
        (name, whole(float(output.zip) * scale), whole(float(output.baskets) * scale))
    });
    RecodeForecast {
        name: recode.name.clone(),
        before: now,
        after: then,
        bytes_before: whole(before),
        bytes_after: whole(after),
        outputs: outputs.collect(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn float(n: u64) -> f64 {
    n as f64
}
