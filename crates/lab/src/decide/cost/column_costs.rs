//! Fits the trials on samples: what each codec costs on each column. A codec that was not tried on a column gets its ratio
//! to a codec that was.

use std::collections::HashMap;

use dataset::ntuple::element::ColumnType;

use super::column::Column;
use super::curve::Curve;
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
    let elements = ElementCosts::new(stats, tables);
    let mut decoding = Decoding::default();
    stats.columns.iter().zip(tables).for_each(|(column, table)| decoding.add(column, &table.decode));
    let column = |(column, table): (&Column, &Trials)| {
        let expected = for_raw + for_stored * column.zip / column.raw;
        let today = if table.today.raw > 0.0 { table.today.cost / table.today.raw } else { expected };
        // Its baskets stay as they are: there is nothing to be told apart.
        let today = Line { fixed: 0.0, per_byte: today };
        let decode = decoding.of(column, &table.decode);
        let elements = Line { fixed: 0.0, per_byte: elements.of(column, table) };
        if table.sampled <= 0.0 {
            let known = |(&codec, shape): (&Packing, &CodecCost)| match codec {
                // Whether fewer bits do is not known.
                c if !column.takes(c) || c.is_exact() => None,
                c if c.is_none() => Some(*shape),
                c if c == column.packing() => {
                    let size = Point { blocks: column.count(), raw: column.raw, cost: column.zip };
                    let unpack = Point { cost: today.per_byte * column.raw, ..size };
                    let size = match column.pages.is_some() {
                        // Of pages the size is known as they are.
                        true => Curve::fit([Point::default(), Point::default(), size], Some(shape.size))?,
                        false => Curve::fit([Point::default(), size, Point::default()], Some(shape.size))?,
                    };
                    let unpack = Line::fit(&[unpack], Some(shape.unpack))?;
                    Some(CodecCost { size, unpack, decode: elements, ..*shape })
                }
                _ => None,
            };
            let codecs = codecs.iter().zip(&shapes).map(known).collect();
            return ColumnCost { today, elements, decode, codecs, sampled: 0.0 };
        }
        let own = |k: usize| {
            let slots = table.codecs.get(k)?;
            let shape = shapes.get(k)?;
            let line = |of: fn(&Tried) -> Point, shape| Line::fit(&slots.each_ref().map(of), Some(shape));
            let size = Curve::fit(slots.each_ref().map(|t| t.size), Some(shape.size));
            Some(CodecCost {
                size: size.filter(|_| slots[1].size.raw > 0.0)?.scaled(if codecs.get(k)?.is_none() {
                    1.0
                } else {
                    table.scale
                }),
                pack: line(|t| t.pack, shape.pack)?,
                unpack: line(|t| t.unpack, shape.unpack)?,
                decode: line(|t| t.decode, shape.decode)?,
                encode: line(|t| t.encode, shape.encode)?,
            })
        };
        let mut costs: Vec<Option<CodecCost>> = (0..codecs.len()).map(own).collect();
        let measured = costs.clone();
        for (k, cost) in costs.iter_mut().enumerate().filter(|(_, cost)| cost.is_none()) {
            if codecs.get(k).is_none_or(|codec| !column.takes(*codec) || (codec.is_exact() && !table.exact)) {
                continue;
            }
            *cost = sibling(&measured, tables, k).map(|(known, [size, pack, unpack, decode, encode])| CodecCost {
                size: known.size.scaled(size),
                pack: known.pack.scaled(pack),
                unpack: known.unpack.scaled(unpack),
                decode: known.decode.scaled(decode),
                encode: known.encode.scaled(encode),
            });
        }
        ColumnCost { today, elements, decode, codecs: costs, sampled: table.sampled }
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
    let slopes: Vec<Option<f64>> = (0..codecs.len()).map(|k| slope(tables, k)).collect();
    let known: Vec<Option<CodecCost>> = sums
        .iter()
        .map(|sums| {
            let line = |of: fn(&Tried) -> Point| Line::fit(&sums.each_ref().map(of), None);
            let both = sums.iter().all(|tried| tried.size.raw > 0.0);
            both.then_some(CodecCost {
                size: line(|t| t.size)?.into(),
                pack: line(|t| t.pack)?,
                unpack: line(|t| t.unpack)?,
                decode: line(|t| t.decode)?,
                encode: line(|t| t.encode)?,
            })
        })
        .collect();
    let shape = |(k, sums): (usize, &[Tried; 2])| {
        let own = known.get(k).copied().flatten();
        let algorithm = |k: usize| codecs.get(k).map(Packing::algorithm);
        let same = |other: usize| algorithm(other) == algorithm(k);
        let others = || known.iter().enumerate().rev().filter_map(|(i, cost)| Some((i, (*cost)?)));
        let similar = others().find(|(i, _)| same(*i)).or_else(|| others().next()).map(|(_, cost)| cost);
        let like = |other: usize| codecs.get(other).zip(codecs.get(k)).is_some_and(|(a, b)| a.encoding == b.encoding);
        let slopes = || slopes.iter().enumerate().rev().filter_map(|(i, slope)| Some((i, (*slope)?)));
        let slope = slopes().find(|(i, _)| *i == k).or_else(|| slopes().find(|(i, _)| same(*i) && like(*i)));
        let slope = slope.or_else(|| slopes().find(|(i, _)| same(*i))).map(|(_, slope)| slope);
        let main = sums[1].size;
        let beyond = slope.filter(|_| main.blocks > 0.0).map(|slope| (main.raw / main.blocks, slope));
        let cost = own.unwrap_or_else(|| {
            let similar = similar.unwrap_or_default();
            let line = |of: fn(&Tried) -> Point, similar| Line::fit(&[of(&sums[1])], Some(similar)).unwrap_or_default();
            CodecCost {
                size: line(|t| t.size, similar.size.line).into(),
                pack: line(|t| t.pack, similar.pack),
                unpack: line(|t| t.unpack, similar.unpack),
                decode: line(|t| t.decode, similar.decode),
                encode: line(|t| t.encode, similar.encode),
            }
        });
        CodecCost { size: Curve { beyond, ..cost.size }, ..cost }
    };
    sums.iter().enumerate().map(shape).collect()
}

/// Sums of a codec's trials over the columns where it was tried with two basket sizes; if there are none, over all.
fn summed(tables: &[Trials], k: usize) -> [Tried; 2] {
    let mut sums = [Tried::default(); 2];
    let tried = || tables.iter().filter_map(|t| t.codecs.get(k));
    let both = |slots: &[Tried; 3]| slots[0].size.raw > 0.0;
    let any = tried().any(both);
    for slots in tried().filter(|slots| !any || both(slots)) {
        for (sum, slot) in sums.iter_mut().zip(slots) {
            sum.size.merge(&slot.size);
            sum.pack.merge(&slot.pack);
            sum.unpack.merge(&slot.unpack);
            sum.decode.merge(&slot.decode);
            sum.encode.merge(&slot.encode);
        }
    }
    sums
}

/// What whole pages save with a codec, over all columns where some were tried.
fn slope(tables: &[Trials], k: usize) -> Option<f64> {
    Curve::slope(tables.iter().filter_map(|t| t.codecs.get(k)).map(|[_, main, whole]| [main.size, whole.size]))
}

/// Seconds to decode a byte of pages: of columns that were not sampled, as much as others of their encoding take.
struct ElementCosts {
    types: HashMap<ColumnType, Point>,
    all: Point,
}

impl ElementCosts {
    fn new(stats: &FileStats, tables: &[Trials]) -> Self {
        let (mut types, mut all): (HashMap<ColumnType, Point>, _) = (HashMap::new(), Point::default());
        for (column, table) in stats.columns.iter().zip(tables) {
            if let Some(pages) = &column.pages {
                types.entry(pages.encoding.column_type()).or_default().merge(&table.elements);
                all.merge(&table.elements);
            }
        }
        Self { types, all }
    }

    fn of(&self, column: &Column, table: &Trials) -> f64 {
        let Some(pages) = &column.pages else { return 0.0 };
        let own = [Some(&table.elements), self.types.get(&pages.encoding.column_type()), Some(&self.all)];
        let known = own.into_iter().flatten().find(|point| point.raw > 0.0);
        known.map_or(0.0, |point| point.cost / point.raw)
    }
}

/// A codec that was tried on this column, and how codec `k` compares to it on the columns where both were.
fn sibling(measured: &[Option<CodecCost>], tables: &[Trials], k: usize) -> Option<(CodecCost, [f64; 5])> {
    let compare = |other: usize| {
        let both = tables.iter().filter_map(|t| {
            let (a, b) = (t.codecs.get(k)?[1], t.codecs.get(other)?[1]);
            (a.size.raw > 0.0 && b.size.raw > 0.0).then_some((a, b))
        });
        let (mut a, mut b) = ([0.0; 5], [0.0; 5]);
        for (x, y) in both {
            for (sum, tried) in [(&mut a, x), (&mut b, y)] {
                sum[0] += tried.size.cost;
                sum[1] += tried.pack.cost;
                sum[2] += tried.unpack.cost;
                sum[3] += tried.decode.cost;
                sum[4] += tried.encode.cost;
            }
        }
        let ratio = |i: usize| (b[i] > 0.0).then(|| a[i] / b[i]);
        // Baskets have no elements.
        Some([ratio(0)?, ratio(1)?, ratio(2)?, ratio(3).unwrap_or(1.0), ratio(4).unwrap_or(1.0)])
    };
    // The last one that compresses is the one most like the slow ones.
    let (other, known) = measured.iter().enumerate().rev().find_map(|(i, cost)| Some((i, (*cost)?)))?;
    Some((known, compare(other)?))
}
