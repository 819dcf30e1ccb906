//! Appends baskets that a tree does not list to its branches, and cuts the tree where the first of its branches ends.
//!
//! A basket names its tree and its branch, and has a number of entries but no first entry: the baskets of a branch follow one
//! another ([`basket_order`](super::basket_order)).

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::basket_order::{next_number, share_out};
use super::check::SoundBaskets;
use crate::plan::tree::holds_entries;
use crate::plan::tree::schema::{path_text, paths};
use crate::rewrite::recover::report::BranchLoss;
use crate::rewrite::recover::scan_result::FoundBasket;
use dataset::tree::basket::BasketData;
use dataset::tree::clusters::common_boundaries;
use dataset::tree::{BasketRef, Branch, Tree};
use dataset::{EntrySet, EntrySetBuilder};

/// The result for one tree.
pub(crate) struct Attached {
    /// Entries that all branches have.
    pub entries: u64,
    /// These entries, if a basket extends beyond them or entries before cannot be read.
    pub cut: Option<EntrySet>,
    pub losses: Vec<BranchLoss>,
    /// Positions of the baskets that the tree did not list.
    pub found: HashSet<u64>,
    /// Number of entries that the tree or a branch has and that are lost.
    pub lost: u64,
    /// The ranges of these entries.
    pub ranges_lost: Vec<(u64, u64)>,
}

/// Attaches `baskets`, which name this tree, unless it lists them. Only baskets in `sound` are kept.
pub(crate) fn attach(
    (tree, from_template): (&mut Tree, bool),
    baskets: Vec<FoundBasket>,
    sound: &SoundBaskets,
    path: &str,
    notes: &mut Vec<String>,
) -> Attached {
    let saved = tree.entries;
    let lists_baskets = tree.branches.iter().any(|branch| !branch.baskets.is_empty());
    let holds = |branch: &Branch| if lists_baskets { !branch.baskets.is_empty() } else { holds_entries(branch) };
    let mut holds: Vec<bool> = tree.branches.iter().map(holds).collect();
    if let Some(refs) = tree.branch_ref.and_then(|i| holds.get_mut(i)) {
        *refs = false;
    }
    let names: HashSet<String> = tree.branches.iter().map(|branch| branch.name().to_owned()).collect();
    let mut listed = HashSet::new();
    // The unreadable baskets of each branch. They keep their places until all are known.
    let mut bad: Vec<HashSet<usize>> = Vec::with_capacity(tree.branches.len());
    for branch in &mut tree.branches {
        listed.extend(branch.baskets.iter().map(|basket| basket.seek));
        if branch.baskets.iter().all(|basket| basket.entries == 0) {
            branch.baskets.clear();
        }
        bad.push(unreadable(branch, &names, sound));
    }
    let mut groups: BTreeMap<Arc<str>, Vec<FoundBasket>> = BTreeMap::new();
    for basket in baskets.into_iter().filter(|basket| !listed.contains(&basket.seek)) {
        groups.entry(Arc::clone(&basket.branch)).or_default().push(basket);
    }
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (i, branch) in tree.branches.iter().enumerate() {
        by_name.entry(branch.name().to_owned()).or_default().push(i);
    }
    let mut found = HashSet::new();
    for (name, group) in groups {
        let named = by_name.get(&*name).map_or(&[][..], Vec::as_slice);
        let total = group.len();
        let shares = share_out(tree, named, group);
        if named.len() > 1 {
            notes.push(format!(
                "tree {path}: {} branches are called {name}; they share the baskets in the order of the file",
                named.len()
            ));
        }
        let mut placed = 0;
        for (at, share) in named.iter().zip(shares) {
            let (Some(branch), Some(bad)) = (tree.branches.get_mut(*at), bad.get_mut(*at)) else { continue };
            placed += append(branch, share, sound, (bad, &mut found));
        }
        if placed < total {
            notes.push(format!(
                "tree {path}, branch {name}: {} baskets of {total} cannot be used: a basket before them is missing",
                total - placed
            ));
        }
    }
    let dropped = drop_unreadable(tree, &mut bad, &mut holds);
    for loss in &dropped {
        notes.push(format!("tree {path}: branch {} is left out: none of its baskets can be read", loss.name));
    }
    let ends: Vec<u64> = tree.branches.iter().map(end).collect();
    let held = ends.iter().zip(&holds).filter(|(_, holds)| **holds).map(|(end, _)| *end);
    let furthest = held.clone().max().unwrap_or(saved).max(saved);
    let entries = held.min().unwrap_or(saved);
    let losses: Vec<BranchLoss> = tree.branches.iter().zip(&bad).map(|(branch, bad)| loss_of(branch, bad)).collect();
    let gaps = losses.iter().zip(&holds).filter(|(_, holds)| **holds).flat_map(|(loss, _)| &loss.ranges_unreadable);
    let gaps = united(gaps.copied().filter(|(from, _)| *from < entries).map(|(from, to)| (from, to.min(entries))));
    let kept = kept(entries, &gaps);
    let mut crosses = !gaps.is_empty();
    let mut left_out = dropped;
    let paths = paths(tree);
    for (((branch, bad), mut loss), name) in tree.branches.iter_mut().zip(&bad).zip(losses).zip(&paths) {
        let reaches = end(branch);
        let mut at = 0;
        let mut places = Vec::new();
        branch.baskets.retain(|basket| {
            let sound = !bad.contains(&at);
            at += 1;
            let inside = kept.count(&(basket.first_entry..basket.first_entry.saturating_add(basket.entries)));
            if sound {
                loss.entries_lost += basket.entries.saturating_sub(inside);
            }
            let keeps = sound && basket.first_entry < entries && inside > 0;
            places.push(keeps);
            keeps
        });
        branch.embedded.retain(|(at, _)| places.get(*at).copied().unwrap_or(false));
        for (at, _) in &mut branch.embedded {
            *at = places.iter().take(*at).filter(|keeps| **keeps).count();
        }
        crosses |= end(branch) > entries;
        branch.entries = branch.baskets.iter().map(|basket| basket.entries).sum();
        branch.entry_number = reaches.min(entries).max(end(branch));
        if loss.entries_lost > 0 || loss.baskets_unreadable > 0 {
            loss.name = path_text(name);
            left_out.push(loss);
        }
    }
    tree.entries = entries;
    if from_template {
        let mut bounds = common_boundaries(tree).starts;
        bounds.push(entries);
        tree.cluster_ranges = dataset::tree::clusters::recorded_ranges(&bounds);
    }
    let count = kept.len();
    let mut ranges_lost = gaps;
    if furthest > entries {
        ranges_lost.push((entries, furthest));
    }
    Attached {
        entries: count,
        cut: crosses.then_some(kept),
        losses: left_out,
        found,
        lost: furthest - count,
        ranges_lost: united(ranges_lost.into_iter()),
    }
}

/// The baskets that a tree lists for a branch and that are missing, unreadable, or belong to another branch.
fn unreadable(branch: &Branch, names: &HashSet<String>, sound: &SoundBaskets) -> HashSet<usize> {
    let embedded: HashMap<usize, bool> =
        branch.embedded.iter().map(|(at, held)| (*at, BasketData::parse_embedded(&held.bytes).is_ok())).collect();
    let is_sound = |(i, basket): &(usize, &BasketRef)| {
        if let Some(sound) = embedded.get(i) {
            return *sound;
        }
        // The rewrite checks baskets in other files.
        basket.entries == 0
            || !branch.file_name.is_empty()
            || sound.get(&basket.seek).is_some_and(|found| {
                let renamed = &*found.branch != branch.name() && !names.contains(&*found.branch);
                let same = found.nbytes == basket.nbytes && found.entries == basket.entries;
                same && (renamed || &*found.branch == branch.name())
            })
    };
    branch.baskets.iter().enumerate().filter(|place| !is_sound(place)).map(|(i, _)| i).collect()
}

/// Drops branches without any readable entry: they would cut the tree to nothing. Branches that others need to be decoded
/// stay, and so do all if no branch would be left.
fn drop_unreadable(tree: &mut Tree, bad: &mut Vec<HashSet<usize>>, holds: &mut Vec<bool>) -> Vec<BranchLoss> {
    let is_lost = |(branch, bad): (&Branch, &HashSet<usize>)| {
        let mut filled = branch.baskets.iter().enumerate().filter(|(_, basket)| basket.entries > 0).peekable();
        filled.peek().is_some() && filled.all(|(i, _)| bad.contains(&i))
    };
    let keep: Vec<bool> = tree.branches.iter().zip(bad.iter()).map(|place| !is_lost(place)).collect();
    let some_left = keep.iter().zip(holds.iter()).any(|(keep, holds)| *keep && *holds);
    if !some_left || keep.iter().all(|keep| *keep) {
        return Vec::new();
    }
    let names = paths(tree);
    let losses: Vec<BranchLoss> = tree.branches.iter().zip(bad.iter()).map(|(b, bad)| loss_of(b, bad)).collect();
    let kept = tree.select(&keep);
    let mut flags = kept.iter();
    bad.retain(|_| flags.next().copied().unwrap_or(false));
    let mut flags = kept.iter();
    holds.retain(|_| flags.next().copied().unwrap_or(false));
    let gone = losses.into_iter().zip(&names).zip(&kept).filter(|(_, kept)| !**kept);
    gone.map(|((loss, name), _)| BranchLoss { name: path_text(name), ..loss }).collect()
}

/// The unreadable part of a branch.
fn loss_of(branch: &Branch, bad: &HashSet<usize>) -> BranchLoss {
    let lost = || branch.baskets.iter().enumerate().filter(|(i, _)| bad.contains(i)).map(|(_, basket)| basket);
    BranchLoss {
        entries_unreadable: lost().map(|basket| basket.entries).sum(),
        baskets_unreadable: bad.len() as u64,
        bytes_unreadable: lost().map(|basket| u64::from(basket.nbytes)).sum(),
        ranges_unreadable: united(lost().map(|b| (b.first_entry, b.first_entry.saturating_add(b.entries)))),
        ..BranchLoss::default()
    }
}

/// Joins ranges that overlap or touch.
fn united(ranges: impl Iterator<Item = (u64, u64)>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = ranges.filter(|(from, to)| from < to).collect();
    ranges.sort_unstable();
    let mut all: Vec<(u64, u64)> = Vec::new();
    for (from, to) in ranges {
        match all.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => all.push((from, to)),
        }
    }
    all
}

/// The entries outside the gaps.
fn kept(entries: u64, gaps: &[(u64, u64)]) -> EntrySet {
    let mut set = EntrySetBuilder::new(entries);
    let mut at = 0;
    for &(from, to) in gaps {
        set.push(at..from);
        at = to;
    }
    set.push(at..entries);
    set.finish()
}

/// End of a branch's baskets.
fn end(branch: &Branch) -> u64 {
    branch.baskets.last().map_or(0, |basket| basket.first_entry.saturating_add(basket.entries))
}

/// Appends baskets to a branch. An unreadable basket keeps its place, because its header has its number of entries. Returns
/// the number of baskets.
fn append(
    branch: &mut Branch,
    baskets: Vec<FoundBasket>,
    sound: &SoundBaskets,
    (bad, found): (&mut HashSet<usize>, &mut HashSet<u64>),
) -> usize {
    let placed = baskets.len();
    // The first takes the place of a basket in the tree's record, the others follow it.
    let mut is_first = true;
    for basket in baskets.into_iter().filter(|basket| basket.entries > 0) {
        if std::mem::take(&mut is_first) {
            let stored = next_number(branch);
            branch.baskets.truncate(stored);
            branch.embedded.retain(|(at, _)| *at < stored);
            bad.retain(|at| *at < stored);
        }
        let stored = branch.baskets.len();
        let first_entry = end(branch);
        let (seek, nbytes) = (basket.seek, basket.nbytes);
        branch.baskets.push(BasketRef { first_entry, entries: basket.entries, seek, nbytes });
        branch.tot_bytes = branch.tot_bytes.saturating_add(basket.raw);
        branch.zip_bytes = branch.zip_bytes.saturating_add(u64::from(nbytes));
        if sound.get(&seek).is_some_and(|found| found.entries == basket.entries) {
            found.insert(seek);
        } else {
            bad.insert(stored);
        }
    }
    placed
}
