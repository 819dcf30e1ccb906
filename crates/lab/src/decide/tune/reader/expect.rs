//! Applies a profile to the expected costs: decompression, values, baskets and branches. Sizes and writing costs stay as
//! measured.

use crate::cost::column::{Column, PageColumn};
use crate::cost::measured::{CodecCost, ColumnCost, Measured};
use crate::cost::statistics::FileStats;
use crate::cost::{Access, Decode, Line, Packing};
use dataset::layout::{ColumnEncoding, Compression};

use super::NtupleCosts;
use super::profile::{Decompress, PerValue, Profile, wide};

/// The costs of reading as another program has them.
pub(crate) fn expected(profile: &Profile, stats: &FileStats, measured: &Measured, ours: &Access) -> (Measured, Access) {
    let mut branches = vec![0.0; stats.trees.len()];
    for column in stats.now() {
        if let Some(count) = branches.get_mut(column.tree) {
            *count += 1.0;
        }
    }
    let columns = stats.columns.iter().zip(stats.items()).zip(&measured.columns);
    let columns = columns.map(|((column, items), cost)| {
        let wide = wide(branches.get(column.tree).copied().unwrap_or(0.0)) * column.entries;
        if let (Some(pages), Some(ntuple)) = (&column.pages, &profile.ntuple) {
            return of_pages(ntuple, (column, pages), cost, &measured.codecs);
        }
        let besides = profile.read.item * items + profile.read.wide_entry * wide;
        of_column(profile, (column, besides), cost, &measured.codecs)
    });
    let columns = columns.collect();
    // The cost of a table is divided among its columns, which are usually all read.
    #[expect(clippy::cast_precision_loss, reason = "tables and columns of a file")]
    let share = stats.trees.len() as f64 / stats.now().count().max(1) as f64;
    let (per_basket, per_byte, per_column) = match profile.ntuple.as_ref().filter(|_| stats.has_pages()) {
        Some(NtupleCosts { read, .. }) => (read.page, read.stored_byte, read.column + share * read.table),
        None => {
            let read = profile.read;
            (read.basket, read.stored_byte, read.branch + share * read.tree)
        }
    };
    // No reader takes less for a basket and its bytes than to fetch them and to take a header apart: a fit of other costs may leave
    // nothing for baskets.
    let (per_basket, per_byte) = (per_basket.max(ours.per_basket), per_byte.max(ours.per_byte));
    // The cost of an entry includes the offsets of values of variable size.
    let access = Access { per_basket, per_byte, per_offset: 0.0, per_column, per_written: 0.0, per_copied: 0.0 };
    (Measured { columns, ..measured.clone() }, access)
}

/// A column of an RNTuple. Ends of collections are read with what they are the ends of.
fn of_pages(
    ntuple: &NtupleCosts,
    (column, pages): (&Column, &PageColumn),
    cost: &ColumnCost,
    codecs: &[Packing],
) -> ColumnCost {
    let PerValue { entry, value } = ntuple.values(column.kind);
    let values = if column.has_ends() { 0.0 } else { entry * column.entries + value * column.values() };
    let elements = |is_split: bool| {
        let per_byte = if is_split { ntuple.read.split_byte } else { ntuple.read.plain_byte };
        Line { fixed: 0.0, per_byte }
    };
    let splits = pages.encoding.column_type().unsplit().split().is_some();
    let with = |(cost, codec): (&Option<CodecCost>, &Packing)| {
        cost.map(|cost| CodecCost {
            unpack: unpacking(&ntuple.decompress, codec.compression, cost.unpack),
            decode: elements(splits && codec.encoding == Some(ColumnEncoding::Split)),
            ..cost
        })
    };
    ColumnCost {
        today: unpacking(&ntuple.decompress, column.compression, cost.today),
        elements: elements(pages.encoding.column_type().is_split()),
        decode: Decode { line: Line { fixed: 0.0, per_byte: values / column.raw.max(1.0) }, besides: 0.0 },
        codecs: cost.codecs.iter().zip(codecs).map(with).collect(),
        sampled: cost.sampled,
    }
}

fn of_column(
    profile: &Profile,
    (column, besides): (&Column, f64),
    cost: &ColumnCost,
    codecs: &[Packing],
) -> ColumnCost {
    let PerValue { entry, value } = profile.values(column.kind);
    let values = entry * column.entries + value * column.values() + besides;
    // By bytes, so that a reader of some entries pays for those alone.
    let per_byte = values / column.raw.max(1.0);
    let with = |(cost, codec): (&Option<CodecCost>, &Packing)| {
        cost.map(|cost| CodecCost { unpack: unpacking(&profile.decompress, codec.compression, cost.unpack), ..cost })
    };
    ColumnCost {
        today: unpacking(&profile.decompress, column.compression, cost.today),
        elements: cost.elements,
        decode: Decode { line: Line { fixed: 0.0, per_byte }, besides: 0.0 },
        codecs: cost.codecs.iter().zip(codecs).map(with).collect(),
        sampled: cost.sampled,
    }
}

/// Seconds to decompress, from those of basketry.
fn unpacking(decompress: &Decompress, codec: Compression, ours: Line) -> Line {
    match decompress.times(codec) {
        Some(times) => {
            let basket = codec.algorithm().map_or(0.0, |codec| decompress.speed(codec).seconds_per_basket);
            let ours = ours.scaled(times);
            Line { fixed: ours.fixed + basket, ..ours }
        }
        None => Line { fixed: 0.0, per_byte: decompress.none.seconds_per_byte },
    }
}
