//! Fits the trials on samples: what each codec costs on each column. A codec that was not tried on a column gets its ratio
//! to a codec that was.

use super::column::Column;
use super::decoding::Decoding;
use super::line::{Line, Point};
use super::measured::{CodecCost, ColumnCost, Trials, Tried};
use super::packing::Packing;
use super::statistics::FileStats;

/// Costs from trials; codecs that were not tried on a column are inferred from other columns. A column that was not
/// sampled gets costs only for its own codec and for no compression: the effect of others is not known.
pub(super) fn column_costs(stats: &FileStats, tables: &[Trials], codecs: &[Packing]) -> Vec<ColumnCost> {
    let shapes = shapes(tables, codecs);
    let (for_raw, for_stored) = unpacking(tables);
    let mut decoding = Decoding::default();
    stats.columns.iter().zip(tables).for_each(|(column, table)| decoding.add(column, &table.decode));
    let column = |(column, table): (&Column, &Trials)| {
        let expected = for_raw + for_stored * column.zip / column.raw;
        let today = if table.today.raw > 0.0 { table.today.cost / table.today.raw } else { expected };
        // Its baskets stay as they are: there is nothing to be told apart.
        let today = Line { fixed: 0.0, per_byte: today };
        let decode = decoding.of(column, &table.decode);
        if table.sampled <= 0.0 {
            let known = |(&codec, shape): (&Packing, &CodecCost)| match codec {
                // Whether fewer bits do is not known.
                c if !column.takes(c) || c.is_exact() => None,
                c if c.is_none() => Some(*shape),
                c if c == column.packing() => {
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
            if codecs.get(k).is_none_or(|codec| !column.takes(*codec) || (codec.is_exact() && !table.exact)) {
                continue;
            }
            *cost = sibling(&measured, tables, k).map(|(known, ratio)| CodecCost {
                size: known.size.scaled(ratio.size.per_byte),
                pack: known.pack.scaled(ratio.pack.per_byte),
                unpack: known.unpack.scaled(ratio.unpack.per_byte),
            });
        }
        ColumnCost { today, decode, codecs: costs, sampled: table.sampled }
    };
    stats.columns.iter().zip(tables).map(column).collect()
}

/// Seconds that decompression takes for each byte that comes out, and for each that goes in, over all columns that
/// were sampled. Columns that compress very well are not only smaller but faster too.
fn unpacking(tables: &[Trials]) -> (f64, f64) {
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
fn shapes(tables: &[Trials], codecs: &[Packing]) -> Vec<CodecCost> {
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
        let algorithm = |k: usize| codecs.get(k).map(Packing::algorithm);
        let same = |other: usize| algorithm(other) == algorithm(k);
        let others = || known.iter().enumerate().rev().filter_map(|(i, cost)| Some((i, (*cost)?)));
        let similar = others().find(|(i, _)| same(*i)).or_else(|| others().next()).map(|(_, cost)| cost);
        own.unwrap_or_else(|| {
            let similar = similar.unwrap_or_default();
            let line = |of: fn(&Tried) -> Point, similar| Line::fit(&[of(&sums[1])], Some(similar)).unwrap_or_default();
            CodecCost {
                size: line(|t| t.size, similar.size),
                pack: line(|t| t.pack, similar.pack),
                unpack: line(|t| t.unpack, similar.unpack),
            }
        })
    };
    sums.iter().enumerate().map(shape).collect()
}

/// Sums of a codec's trials over the columns where it was tried with two basket sizes; if there are none, over all.
fn summed(tables: &[Trials], k: usize) -> [Tried; 2] {
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
fn sibling(measured: &[Option<CodecCost>], tables: &[Trials], k: usize) -> Option<(CodecCost, CodecCost)> {
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
