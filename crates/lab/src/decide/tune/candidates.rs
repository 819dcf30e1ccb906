//! Candidates: cluster sizes for the file, and codecs and basket sizes for each column, with their costs.

use std::collections::HashMap;

use crate::cost::column::{Column, TreeStats};
use crate::cost::measured::Measured;
use crate::cost::model::{self, Clusters, Cost};
use crate::cost::statistics::FileStats;

use crate::cost::Access;

/// Candidate cluster sizes beside today's, in bytes on disk.
const CLUSTER_SIZES: [u64; 4] = [3_000_000, 10_000_000, 30_000_000, 100_000_000];
/// Readers divide their work by clusters: clusters are not combined if fewer than this many would remain.
const LEAST_CLUSTERS: f64 = 8.0;
/// Basket sizes that are tried, up to the first that holds a cluster.
const BASKET_SIZES: [u32; 11] =
    [2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000, 4_000_000];

/// The choice for a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Pick {
    /// Codec, by index; none: as it is.
    pub codec: Option<usize>,
    /// Basket size; none: baskets as they are.
    pub basket: Option<u32>,
}

/// A size of clusters, and the resulting clusters of each tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClusterOption {
    /// Bytes on disk; none: as they are.
    pub size: Option<u64>,
    pub trees: Vec<Clusters>,
}

/// Today's clusters, and others that differ from them and from each other.
pub(crate) fn cluster_options(stats: &FileStats) -> Vec<ClusterOption> {
    let keep = ClusterOption { size: None, trees: stats.trees.iter().map(as_is).collect() };
    let mut options = vec![keep];
    for size in CLUSTER_SIZES {
        let trees = stats.trees.iter().map(|tree| packed(tree, size)).collect();
        let option = ClusterOption { size: Some(size), trees };
        let counts = |o: &ClusterOption| o.trees.iter().map(|t| t.count).collect::<Vec<_>>();
        let largest = |o: &ClusterOption| o.trees.iter().map(|t| t.count).fold(0.0, f64::max);
        let enough = largest(&option) >= LEAST_CLUSTERS.min(options.first().map_or(0.0, largest));
        if enough && options.iter().all(|o| counts(o) != counts(&option)) {
            options.push(option);
        }
    }
    options
}

fn as_is(tree: &TreeStats) -> Clusters {
    summary(tree, tree.clusters.iter().map(|c| c.0))
}

/// Combines whole clusters until the next would take the sum further from `size`; much larger ones are cut.
/// This is how a rewrite forms clusters.
fn packed(tree: &TreeStats, size: u64) -> Clusters {
    let target = crate::math::as_f64(size);
    let mut made: Vec<f64> = Vec::new();
    let mut sum = f64::INFINITY;
    for &(entries, bytes) in &tree.clusters {
        let parts = (bytes / target).round();
        if parts > 1.0 {
            made.extend(std::iter::repeat_n(entries / parts, parts.min(1e6) as usize));
            sum = f64::INFINITY;
            continue;
        }
        match made.last_mut() {
            Some(last) if sum + bytes / 2.0 <= target => {
                *last += entries;
                sum += bytes;
            }
            _ => {
                made.push(entries);
                sum = bytes;
            }
        }
    }
    summary(tree, made.into_iter())
}

fn summary(tree: &TreeStats, clusters: impl Iterator<Item = f64>) -> Clusters {
    let (count, largest, squares) = clusters.fold((0.0, 0.0f64, 0.0), |(n, most, squares), entries| {
        (n + 1.0, most.max(entries), squares + entries * entries)
    });
    let count = f64::max(count, 1.0);
    let all = tree.entries.max(1.0);
    Clusters { count, entries: all / count, around: squares / all, largest: (largest / all).clamp(1.0 / count, 1.0) }
}

/// The choices of one unit, with costs.
pub(crate) type Choices = Vec<(Pick, Cost)>;

/// The choices of every unit under one clustering.
pub(crate) fn choices(stats: &FileStats, measured: &Measured, access: &Access, option: &ClusterOption) -> Vec<Choices> {
    let mut units: Vec<HashMap<Pick, (usize, Cost)>> = vec![HashMap::new(); stats.units.len()];
    let mut members = vec![0; stats.units.len()];
    for column in &stats.columns {
        if let Some(count) = members.get_mut(column.unit) {
            *count += 1;
        }
    }
    for (i, column) in stats.columns.iter().enumerate() {
        let (Some(clusters), Some(unit)) = (option.trees.get(column.tree), units.get_mut(column.unit)) else {
            continue;
        };
        let alone = members.get(column.unit) == Some(&1);
        // Only forms of the file can be kept as they are.
        let keep = option.size.is_none() && column.recast.is_none();
        for_each_choice(column, i, measured, access, (keep, clusters, alone), &mut |pick, cost| {
            let sum = unit.entry(pick).or_default();
            sum.0 += 1;
            sum.1 += cost;
        });
    }
    let whole = |(unit, members): (HashMap<Pick, (usize, Cost)>, usize)| {
        // A choice counts only if all columns of the unit have it.
        let mut all: Choices =
            unit.into_iter().filter(|(_, (n, _))| *n == members).map(|(pick, (_, cost))| (pick, cost)).collect();
        all.sort_by_key(|(pick, _)| *pick);
        undominated(all)
    };
    units.into_iter().zip(members).map(whole).collect()
}

/// The cost of all columns with one codec, or as they are, each with the baskets that are cheapest to read. Where
/// the effect of a codec on a column is not known, the column stays as it is.
pub(crate) fn with_codec(
    stats: &FileStats,
    measured: &Measured,
    access: &Access,
    option: &ClusterOption,
    codec: Option<usize>,
) -> Cost {
    let mut total = Cost::default();
    for (i, (column, measured_cost)) in stats.columns.iter().zip(&measured.columns).enumerate() {
        let Some(clusters) = option.trees.get(column.tree) else { continue };
        let mut best: Option<Cost> = None;
        if codec.is_some() {
            for_each_choice(column, i, measured, access, (option.size.is_none(), clusters, true), &mut |pick, cost| {
                if pick.codec == codec && best.is_none_or(|best| cost.read < best.read) {
                    best = Some(cost);
                }
            });
        }
        total += best.unwrap_or_else(|| model::today(column, measured_cost, access, clusters));
    }
    total
}

fn for_each_choice(
    column: &Column,
    index: usize,
    measured: &Measured,
    access: &Access,
    (keep, clusters, alone): (bool, &Clusters, bool),
    give: &mut dyn FnMut(Pick, Cost),
) {
    let Some(cost) = measured.columns.get(index) else { return };
    let (own_entries, own_size) = (column.entries / column.count().max(1.0), f64::from(column.basket_size));
    if keep {
        give(Pick { codec: None, basket: None }, model::today(column, cost, access, clusters));
    }
    let mut shapes = BASKET_SIZES.map(|size| (size, model::entries_per_basket(column, size, clusters))).to_vec();
    if alone {
        // Larger ones than the first that holds a cluster only take more memory. Columns that are laid out alike have
        // to have all sizes in common.
        let enough = shapes.iter().take_while(|(_, entries)| *entries < clusters.entries).count();
        shapes.truncate(enough + 1);
    }
    for (k, codec) in cost.codecs.iter().enumerate() {
        let Some(codec) = codec else { continue };
        if keep {
            give(
                Pick { codec: Some(k), basket: None },
                model::planned(column, codec, cost.decode, own_entries, own_size, access, clusters),
            );
        }
        for &(size, entries) in &shapes {
            give(
                Pick { codec: Some(k), basket: Some(size) },
                model::planned(column, codec, cost.decode, entries, f64::from(size), access, clusters),
            );
        }
    }
}

/// Drops choices that another beats or equals in every way. The first of equals stays, and so does the present layout:
/// its cost is the most certain.
fn undominated(all: Choices) -> Choices {
    let parts = |c: &Cost| [c.read, c.size, c.write, c.read_memory, c.write_memory];
    let worse = |a: &Cost, b: &Cost| parts(a).iter().zip(parts(b)).all(|(a, b)| *a >= b);
    let mut kept: Choices = Vec::new();
    for (pick, cost) in all {
        let is_kept = |pick: &Pick| pick.codec.is_none() && pick.basket.is_none();
        if !is_kept(&pick) && kept.iter().any(|(_, k)| worse(&cost, k)) {
            continue;
        }
        kept.retain(|(pick, k)| is_kept(pick) || !worse(k, &cost));
        kept.push((pick, cost));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(clusters: &[(f64, f64)]) -> TreeStats {
        TreeStats {
            path: "t".into(),
            entries: clusters.iter().map(|c| c.0).sum(),
            clusters: clusters.to_vec(),
            objects: Vec::new(),
        }
    }

    #[test]
    fn clusters_are_put_together_or_cut() {
        let small = tree(&[(100.0, 1e6); 12]);
        assert_eq!(packed(&small, 3_000_000).count, 4.0);
        let large = tree(&[(1000.0, 30e6), (1000.0, 30e6), (10.0, 1e5)]);
        let cut = packed(&large, 10_000_000);
        assert_eq!((cut.count, cut.entries.round()), (7.0, 287.0));
        assert_eq!(as_is(&large).count, 3.0);
    }

    #[test]
    fn only_choices_that_can_win_stay() {
        let cost = |read, size| Cost { read, size, ..Cost::default() };
        let pick = |k| Pick { codec: Some(k), basket: None };
        let kept = undominated(vec![
            (pick(0), cost(2.0, 2.0)),
            (pick(1), cost(1.0, 3.0)),
            (pick(2), cost(2.0, 2.0)),
            (pick(3), cost(1.0, 1.0)),
        ]);
        assert_eq!(kept, [(pick(3), cost(1.0, 1.0))]);
    }
}
