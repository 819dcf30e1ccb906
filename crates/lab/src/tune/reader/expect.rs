//! What a profile changes in what a file is expected to cost: the seconds of decompression, of values, of baskets and of
//! branches, all of which the model takes as lines. Sizes and the costs of writing stay as they were measured.

use crate::cost::facts::{Column, Facts};
use crate::cost::measure::{CodecCost, ColumnCost, Measured};
use crate::cost::{Access, Decode, Line};
use dataset::layout::Compression;

use super::profile::{PerValue, Profile, wide};

/// The costs of reading as another program has them.
pub(crate) fn expected(profile: &Profile, facts: &Facts, measured: &Measured) -> (Measured, Access) {
    let mut branches = vec![0.0; facts.trees.len()];
    for column in facts.now() {
        if let Some(count) = branches.get_mut(column.tree) {
            *count += 1.0;
        }
    }
    let columns = facts.columns.iter().zip(facts.items()).zip(&measured.columns);
    let columns = columns.map(|((column, items), cost)| {
        let wide = wide(branches.get(column.tree).copied().unwrap_or(0.0)) * column.entries;
        let besides = profile.read.item * items + profile.read.wide_entry * wide;
        of_column(profile, (column, besides), cost, &measured.codecs)
    });
    let columns = columns.collect();
    let all = facts.now().count();
    (Measured { columns, ..measured.clone() }, of_access(profile, (facts.trees.len(), all)))
}

/// What belongs to a tree is shared out among its branches, which are all read as a rule.
fn of_access(profile: &Profile, (trees, columns): (usize, usize)) -> Access {
    let read = profile.read;
    #[expect(clippy::cast_precision_loss, reason = "trees and branches of a file")]
    let share = trees as f64 / columns.max(1) as f64;
    Access {
        per_basket: read.basket,
        per_byte: read.stored_byte,
        // Values of varying size have their places in what each entry of them costs.
        per_offset: 0.0,
        per_column: read.branch + share * read.tree,
    }
}

fn of_column(
    profile: &Profile,
    (column, besides): (&Column, f64),
    cost: &ColumnCost,
    codecs: &[Compression],
) -> ColumnCost {
    let PerValue { entry, value } = profile.values(column.kind);
    let values = entry * column.entries + value * column.values() + besides;
    // By bytes, so that a reader of some entries pays for those alone.
    let per_byte = values / column.raw.max(1.0);
    let with = |(cost, codec): (&Option<CodecCost>, &Compression)| {
        cost.map(|cost| CodecCost { unpack: unpacking(profile, *codec, cost.unpack), ..cost })
    };
    ColumnCost {
        today: unpacking(profile, column.compression, cost.today),
        decode: Decode { line: Line { fixed: 0.0, per_byte }, besides: 0.0 },
        codecs: cost.codecs.iter().zip(codecs).map(with).collect(),
        sampled: cost.sampled,
    }
}

/// Seconds to decompress, where basketry takes those of a line.
fn unpacking(profile: &Profile, codec: Compression, ours: Line) -> Line {
    match profile.times(codec) {
        Some(times) => {
            let basket = codec.algorithm().map_or(0.0, |codec| profile.speed(codec).seconds_per_basket);
            let ours = ours.scaled(times);
            Line { fixed: ours.fixed + basket, ..ours }
        }
        None => Line { fixed: 0.0, per_byte: profile.decompress.none.seconds_per_byte },
    }
}
