//! The decision as a [`Layout`]: few rules, each for many columns.

use std::collections::{BTreeMap, HashSet};

use dataset::glob::{ColumnPattern, Pattern, TreePattern};
use dataset::layout::{ByteSize, ClusterSize, ColumnLayout, Layout, TreeLayout, defaults};
use rootfile::Result;

use crate::cost::Packing;
use crate::cost::statistics::FileStats;

use super::candidates::{ClusterOption, Pick};
use super::explicit::Explicit;

/// Names in one rule; a pattern grows with them.
const NAMES_PER_RULE: usize = 500;

/// The layout of a choice. Unchanged columns have no rule; the most frequent choice is the rule for all, if no column
/// is unchanged.
pub(crate) fn layout(
    stats: &FileStats,
    codecs: &[Packing],
    option: &ClusterOption,
    picks: &[Option<Pick>],
    recasts: &mut dyn Iterator<Item = usize>,
) -> Result<Layout> {
    let Explicit { packings, picks, names_encodings } = Explicit::new(stats, codecs, option, picks);
    let keys = |pick: Pick| keys(&packings, pick, names_encodings);
    let mut layout = Layout::default();
    let each = |tree: usize| option.trees.get(tree).and_then(|clusters| clusters.each);
    if (0..stats.trees.len()).any(|tree| each(tree).is_none()) {
        layout.common.cluster = option.size.map(ClusterSize::Bytes);
    }
    for (tree, each) in stats.trees.iter().enumerate().filter_map(|(number, tree)| Some((tree, each(number)?))) {
        let cluster = Some(ClusterSize::Entries(whole_entries(each)));
        match stats.trees.len() {
            1 => layout.common.cluster = cluster,
            _ => layout.set_tree(TreePattern::exact(&tree.path), &TreeLayout { cluster, ..TreeLayout::default() }),
        }
    }
    // These rules are for branches of the first level; later rules override them.
    for recast in recasts.filter_map(|recast| stats.recasts.get(recast)) {
        let tree = stats.trees.get(recast.tree).map_or("", |t| t.path.as_str());
        let keys = ColumnLayout {
            split_level: Some(recast.after.split_level),
            streaming: recast.after.streaming,
            ..ColumnLayout::default()
        };
        layout.set_column(ColumnPattern::exact(tree, &recast.name), &keys);
    }
    let mut counts: BTreeMap<Pick, usize> = BTreeMap::new();
    for pick in picks.iter().flatten() {
        *counts.entry(*pick).or_default() += 1;
    }
    let is_plain = |pick: &Pick| pick.codec.and_then(|k| packings.get(k)).is_some_and(|p| p.compression.is_none());
    // The rule for all is that of an RNTuple's metadata, too, which are expected to be compressed.
    let has_pages = stats.columns.iter().any(|column| column.pages.is_some());
    let may_be_common = |pick: &Pick| !(has_pages && is_plain(pick));
    let common_of = |allowed: &dyn Fn(&Pick) -> bool| {
        let counted = counts.iter().filter(|(pick, _)| allowed(pick));
        counted.max_by_key(|(_, n)| **n).map(|(pick, _)| *pick)
    };
    let most = common_of(&may_be_common);
    // No rule lets a column keep its baskets against a rule for all.
    let codec_for_all = picks.iter().flatten().all(|p| p.codec.is_some());
    let basket_for_all = picks.iter().flatten().all(|p| p.basket.is_some());
    let common = match most {
        Some(pick) => keys(pick),
        // Each column has a rule then.
        None if has_pages => ColumnLayout {
            compression: Some(defaults::NTUPLE_COMPRESSION),
            ..common_of(&|_| true).map(&keys).unwrap_or_default()
        },
        None => ColumnLayout::default(),
    };
    if codec_for_all && basket_for_all {
        // The rule is for trees: a compression for all would also apply to histograms and other objects.
        let keys = TreeLayout {
            compression: common.compression,
            basket: common.basket,
            encoding: common.encoding,
            ..TreeLayout::default()
        };
        layout.set_tree(TreePattern::new("*")?, &keys);
    }
    let is_common = |pick: &Pick| codec_for_all && basket_for_all && Some(*pick) == most;
    // A rule for a branch applies to the branches below it, and the last rule wins, so rules are written from the top
    // down. A branch with the general rule is named only if a branch above it has another rule.
    let mut depth = vec![0; stats.units.len()];
    let mut above: Vec<Vec<&str>> = vec![Vec::new(); stats.units.len()];
    for column in &stats.columns {
        if let (Some(depth), Some(above)) = (depth.get_mut(column.unit), above.get_mut(column.unit)) {
            *depth = column.lineage.len().max(*depth);
            let parents = column.lineage.len().saturating_sub(1);
            above.extend(column.lineage.iter().take(parents).map(String::as_str));
        }
    }
    // A branch cannot keep a value against a rule of its parent, so the parent's rule leaves the key out.
    let mut keeps: [HashSet<(usize, &str)>; 2] = Default::default();
    for (unit, above) in above.iter().enumerate() {
        let (Some((tree, _)), Some(Some(pick))) = (stats.units.get(unit), picks.get(unit)) else { continue };
        for (keeps, kept) in keeps.iter_mut().zip([pick.codec.is_none(), pick.basket.is_none()]) {
            keeps.extend(above.iter().filter(|_| kept).map(|name| (*tree, *name)));
        }
    }
    let mut ruled: HashSet<(usize, &str)> = HashSet::new();
    let mut order: Vec<usize> = (0..picks.len()).collect();
    order.sort_by_key(|&u| depth.get(u).copied().unwrap_or(0));
    let mut rules: BTreeMap<(usize, usize, Pick), Vec<&str>> = BTreeMap::new();
    for unit in order {
        let (Some((tree, name)), Some(Some(pick))) = (stats.units.get(unit), picks.get(unit)) else { continue };
        let [codec_kept, basket_kept] = keeps.each_ref().map(|keeps| keeps.contains(&(*tree, name.as_str())));
        let pick = &Pick { codec: pick.codec.filter(|_| !codec_kept), basket: pick.basket.filter(|_| !basket_kept) };
        let below_a_rule = above.get(unit).is_some_and(|a| a.iter().any(|name| ruled.contains(&(*tree, *name))));
        if keys(*pick) == ColumnLayout::default() || (is_common(pick) && !below_a_rule) {
            continue;
        }
        ruled.insert((*tree, name));
        let depth = depth.get(unit).copied().unwrap_or(0);
        rules.entry((depth, *tree, *pick)).or_default().push(name);
    }
    for ((_, tree, pick), names) in rules {
        let tree = stats.trees.get(tree).map_or("", |t| t.path.as_str());
        for names in names.chunks(NAMES_PER_RULE) {
            for pattern in patterns(tree, names)? {
                layout.set_column(pattern, &keys(pick));
            }
        }
    }
    Ok(layout)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of entries")]
fn whole_entries(entries: f64) -> u64 {
    (entries as u64).max(1)
}

fn keys(packings: &[Packing], pick: Pick, names_encodings: bool) -> ColumnLayout {
    let packing = pick.codec.and_then(|k| packings.get(k));
    ColumnLayout {
        compression: packing.map(|packing| packing.compression),
        encoding: packing.and_then(|packing| packing.encoding).filter(|_| names_encodings),
        basket: pick.basket.map(|size| ByteSize(size.into())),
        ..ColumnLayout::default()
    }
}

/// Patterns for exactly these columns of a tree: plain names together, others each by itself.
fn patterns(tree: &str, names: &[&str]) -> Result<Vec<ColumnPattern>> {
    let plain = |name: &&&str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '-'));
    let (plain, others): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| plain(name));
    let mut patterns: Vec<ColumnPattern> = others.iter().map(|name| ColumnPattern::exact(tree, name)).collect();
    match plain.as_slice() {
        [] => {}
        [one] => patterns.push(ColumnPattern::exact(tree, one)),
        many => patterns.push(ColumnPattern::new(&format!("{}/{{{}}}", Pattern::exact(tree), many.join(",")))?),
    }
    Ok(patterns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_exactly_their_columns() {
        let all = patterns("dir/Events", &["Muon_pt", "nMuon", "fX[3]", "a,b"]).unwrap();
        assert_eq!(all.len(), 3);
        let matches = |tree: &str, name: &str| all.iter().filter(|p| p.matches(tree, name)).count();
        for name in ["Muon_pt", "nMuon", "fX[3]", "a,b"] {
            assert_eq!(matches("dir/Events", name), 1, "{name}");
            assert_eq!(matches("Runs", name), 0, "{name}");
        }
        assert_eq!(matches("dir/Events", "Muon_ptErr"), 0);
    }
}
