//! Candidates: cluster sizes for the file, and codecs and basket sizes for each column, with their costs.

use std::collections::HashMap;

use crate::cost::clusters;
use crate::cost::column::{Column, TreeStats};
use crate::cost::measured::Measured;
use crate::cost::model::{self, Clusters, Cost, Pieces};
use crate::cost::page_counts::PageCounts;
use crate::cost::statistics::FileStats;

use crate::cost::Access;
use crate::math::as_f64;
use dataset::layout::defaults;

/// Candidate cluster sizes beside today's, in bytes on disk: round ones, since other files may get the layout.
const CLUSTER_SIZES: [u64; 4] = [30_000_000, 3_000_000, 10_000_000, 100_000_000];
/// Candidates that are relative to the file: in so many clusters.
const PARTS: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
/// Choices of so many columns, over all candidates, are in memory at once: wide tables have fewer candidates, and wider ones keep
/// their clusters unless more are asked for.
pub(super) const CHOICES: usize = 8_000;
/// A candidate differs from the others if it has so many times their number of clusters, or so many times fewer.
const APART: f64 = 1.9;
/// A conversion of so many times fewer bytes than a usual cluster has is one cluster in any codec.
const SMALL: f64 = 0.25;
/// Basket sizes that are tried, up to the first that holds a cluster.
pub(super) const BASKET_SIZES: [u32; 11] =
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
    /// Whether they are as many as there must be.
    pub are_enough: bool,
}

impl ClusterOption {
    /// The clusters of the tree that has most.
    pub(super) fn most(&self) -> f64 {
        self.trees.iter().map(|tree| tree.count).fold(0.0, f64::max)
    }
}

/// Today's clusters, and others that differ from them and from each other, the smallest first. `asked`: how many there must be
/// at least, if that was said.
pub(crate) fn cluster_options(stats: &FileStats, asked: Option<u64>) -> Vec<ClusterOption> {
    options_of(&stats.trees, stats.units.len(), asked)
}

/// The same for tables with so many columns.
fn options_of(tables: &[TreeStats], columns: usize, asked: Option<u64>) -> Vec<ClusterOption> {
    let whole = tables.iter().map(TreeStats::bytes).fold(0.0, f64::max);
    let least = clusters::least(whole, asked);
    let mut keep = ClusterOption { size: None, trees: tables.iter().map(as_is).collect(), are_enough: true };
    // If nothing was said, clusters that there are not today are not asked for.
    let needed = if asked.is_some() { least } else { least.min(keep.most()) };
    let mut found: Vec<ClusterOption> = Vec::new();
    let parts = asked.map(|_| least).into_iter().flat_map(|least| [least, 1.5 * least]).chain(PARTS);
    for size in CLUSTER_SIZES.into_iter().chain(parts.map(|parts| rounded_up(whole / parts))) {
        let trees = tables.iter().map(|tree| packed(tree, size)).collect();
        let option = ClusterOption { size: Some(size), trees, are_enough: true };
        let differs = |other: &ClusterOption| {
            let (more, fewer) = (option.most() / other.most(), other.most() / option.most());
            more.max(fewer) >= APART
        };
        let counts = |o: &ClusterOption| o.trees.iter().map(|t| t.count).collect::<Vec<_>>();
        if option.most() >= needed && found.iter().all(differs) && counts(&keep) != counts(&option) {
            found.push(option);
        }
    }
    found.truncate((CHOICES / columns.max(1)).max(usize::from(asked.is_some())));
    found.sort_by_key(|option| option.size);
    // If there are too few entries for so many clusters, today's have to do.
    keep.are_enough = keep.most() >= needed || found.is_empty();
    std::iter::once(keep).chain(found).collect()
}

/// A size of two digits that is not smaller.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
fn rounded_up(bytes: f64) -> u64 {
    let digit = 10f64.powf((bytes.max(10.0).log10() - 1.0).floor());
    ((bytes / digit).ceil() * digit) as u64
}

fn as_is(tree: &TreeStats) -> Clusters {
    if tree.has_pages && tree.whole.is_some() {
        // The output of a conversion has the usual clusters. It is told how many entries they have where that is not all.
        let usual = even(tree, defaults::NTUPLE_CLUSTER);
        let is_small =
            tree.bytes() * tree.whole.unwrap_or(0.0) / tree.entries.max(1.0) < SMALL * as_f64(defaults::NTUPLE_CLUSTER);
        return Clusters { each: usual.each.filter(|_| !is_small), ..usual };
    }
    summary(tree, tree.clusters.iter().map(|c| c.0))
}

/// Combines whole clusters until the next would take the sum further from `size`; much larger ones are cut.
/// This is how a rewrite forms clusters.
fn packed(tree: &TreeStats, size: u64) -> Clusters {
    if tree.has_pages {
        return even(tree, size);
    }
    let target = as_f64(size);
    let mut made: Vec<f64> = Vec::new();
    let mut sum = f64::INFINITY;
    for &(entries, bytes) in &tree.clusters {
        let parts = (bytes / target).round().min(entries);
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

/// The clusters of an RNTuple that is written anew: as many entries in each, of about `size` bytes in its present codec. So what
/// a rewrite makes does not depend on how well the chosen codecs compress.
pub(super) fn even(tree: &TreeStats, size: u64) -> Clusters {
    let whole = tree.whole.unwrap_or(tree.entries).max(1.0);
    let share = tree.entries / whole;
    let bytes = tree.bytes() / share.max(f64::MIN_POSITIVE);
    let each = (whole / (bytes / as_f64(size.max(1))).round().max(1.0)).ceil();
    // Whole clusters are joined if all are alike.
    let first = tree.clusters.first().map_or(0.0, |cluster| cluster.0);
    let alike =
        tree.whole.is_none() && tree.clusters.split_last().is_some_and(|(_, all)| all.iter().all(|c| c.0 == first));
    let each = if alike && each > first && first > 0.0 { (each / first).round() * first } else { each }.min(whole);
    let count = (whole / each).ceil();
    let last = whole - each * (count - 1.0);
    Clusters {
        count: count * share,
        entries: whole / count,
        around: (each * each * (count - 1.0) + last * last) / whole,
        largest: each / whole,
        each: Some(each),
    }
}

fn summary(tree: &TreeStats, clusters: impl Iterator<Item = f64>) -> Clusters {
    let (count, largest, squares) = clusters.fold((0.0, 0.0f64, 0.0), |(n, most, squares), entries| {
        (n + 1.0, most.max(entries), squares + entries * entries)
    });
    let count = f64::max(count, 1.0);
    let all = tree.entries.max(1.0);
    Clusters {
        count,
        entries: all / count,
        around: squares / all,
        largest: (largest / all).clamp(1.0 / count, 1.0),
        each: None,
    }
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
        let counts = stats.trees.get(column.tree).and_then(|tree| PageCounts::new(column, tree, clusters));
        let place = Place { keep, clusters, counts, alone };
        for_each_choice(column, i, measured, access, &place, &mut |pick, cost| {
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
            let counts = stats.trees.get(column.tree).and_then(|tree| PageCounts::new(column, tree, clusters));
            let place = Place { keep: option.size.is_none(), clusters, counts, alone: true };
            for_each_choice(column, i, measured, access, &place, &mut |pick, cost| {
                if pick.codec == codec && best.is_none_or(|best| cost.read < best.read) {
                    best = Some(cost);
                }
            });
        }
        total += best.unwrap_or_else(|| model::today(column, measured_cost, access, clusters));
    }
    total
}

/// Where the choices of a column are made.
struct Place<'a> {
    /// Whether clusters stay as they are.
    keep: bool,
    clusters: &'a Clusters,
    /// For a column of an RNTuple, its elements in these clusters.
    counts: Option<PageCounts>,
    /// Whether no other column has the same choices.
    alone: bool,
}

fn for_each_choice(
    column: &Column,
    index: usize,
    measured: &Measured,
    access: &Access,
    Place { keep, clusters, counts, alone }: &Place<'_>,
    give: &mut dyn FnMut(Pick, Cost),
) {
    let Some(cost) = measured.columns.get(index) else { return };
    let pages = |size: u32| counts.as_ref().map(|counts| counts.pages(size));
    let pieces =
        |size: u32| Pieces { entries: model::entries_per_basket(column, size, clusters), size, count: pages(size) };
    if *keep {
        give(Pick { codec: None, basket: None }, model::today(column, cost, access, clusters));
    }
    let mut shapes = BASKET_SIZES.map(pieces).to_vec();
    if *alone {
        // Larger ones than the first that holds a cluster only take more memory. Columns that are laid out alike have
        // to have all sizes in common.
        let enough = shapes.iter().take_while(|pieces| pieces.entries < clusters.entries).count();
        shapes.truncate(enough + 1);
    }
    let own = Pieces {
        entries: column.entries / column.count().max(1.0),
        size: column.basket_size,
        // Pages of a conversion are made by the rule.
        count: if clusters.each.is_some() {
            pages(column.basket_size)
        } else {
            counts.as_ref().map(|_| column.count())
        },
    };
    for (k, codec) in cost.codecs.iter().enumerate() {
        let Some(codec) = codec else { continue };
        if *keep {
            let pick = Pick { codec: Some(k), basket: None };
            give(pick, model::planned(column, codec, cost.decode, own, access, clusters));
        }
        for pieces in &shapes {
            let pick = Pick { codec: Some(k), basket: Some(pieces.size) };
            give(pick, model::planned(column, codec, cost.decode, *pieces, access, clusters));
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
    kept.shrink_to_fit();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(clusters: &[(f64, f64)]) -> TreeStats {
        TreeStats {
            address: String::new(),
            path: "t".into(),
            entries: clusters.iter().map(|c| c.0).sum(),
            has_pages: false,
            whole: None,
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
    fn candidates_are_relative_to_the_file() {
        let counts = |tables: &[TreeStats], asked| -> Vec<(Option<u64>, f64, bool)> {
            options_of(tables, 1, asked).iter().map(|o| (o.size, o.most(), o.are_enough)).collect()
        };
        // Of a small file all of it is a candidate, and parts of it.
        let small = [tree(&[(25.0, 177e3); 34]), tree(&[(1.0, 1e3)])];
        let found = counts(&small, None);
        assert_eq!(found.first(), Some(&(None, 34.0, true)));
        let made: Vec<f64> = found.iter().skip(1).map(|o| o.1).collect();
        assert!(made.contains(&1.0) && made.contains(&2.0) && made.iter().any(|n| *n >= 8.0), "{found:?}");
        assert!(made.is_sorted_by(|a, b| a > b), "{found:?}");
        // A large one keeps enough for threads, by clusters of ROOT's own size or larger ones.
        let large = [tree(&[(25.0, 4e6); 100])];
        let found = counts(&large, None);
        assert!(found.iter().all(|o| o.1 >= 8.0) && found.iter().any(|o| o.1 < 16.0), "{found:?}");
        // As many as are asked for: more than there are, if there are entries.
        let found = counts(&small, Some(50));
        assert!(!found[0].2 && found.len() > 1 && found.iter().skip(1).all(|o| o.1 >= 50.0), "{found:?}");
        let found = counts(&small, Some(5));
        assert!(found.iter().all(|o| o.2 && o.1 >= 5.0), "{found:?}");
        // Of one cluster without a second entry there are no others.
        let whole = [tree(&[(1.0, 4e6)])];
        assert_eq!(counts(&whole, Some(8)), [(None, 1.0, true)]);
        // Of a wide table not all are in memory at once: the largest first.
        let sizes = |columns, asked| -> Vec<_> { options_of(&small, columns, asked).iter().map(|o| o.size).collect() };
        assert_eq!(sizes(8_000, None), [None, Some(30_000_000)]);
        assert_eq!(sizes(8_001, None), [None]);
        assert_eq!(sizes(8_001, Some(2)).len(), 2);
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
