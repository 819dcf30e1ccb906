//! Puts baskets that a tree does not know behind those that it does, and cuts the tree where all its branches end.
//!
//! A basket names its branch and its tree, and says how many entries it has, but not which: baskets of a branch follow
//! one another. ROOT numbers them (`TBasket::WriteBuffer` puts the number into fCycle), which tells their order where
//! one was written into a gap; else the order in the file is theirs.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::check::SoundBaskets;
use super::found::Basket;
use super::report::BranchLoss;
use crate::plan::holds_entries;
use crate::plan::schema::{path_text, paths};
use dataset::tree::basket::BasketData;
use dataset::tree::clusters::common_boundaries;
use dataset::tree::{BasketRef, Branch, Tree};
use dataset::{EntrySet, EntrySetBuilder};

/// What came of a tree.
pub(super) struct Attached {
    /// Entries that all branches have.
    pub entries: u64,
    /// Which these are, if some basket goes on behind, or entries before cannot be read.
    pub cut: Option<EntrySet>,
    pub losses: Vec<BranchLoss>,
    /// Where the baskets lie that the tree did not know.
    pub found: HashSet<u64>,
    /// Entries that are told of and not all there.
    pub lost: u64,
    /// Which these are.
    pub ranges_lost: Vec<(u64, u64)>,
}

/// Attaches `baskets`, which name this tree, unless it knows them. Only baskets that are `sound` are kept.
pub(super) fn attach(
    (tree, from_like): (&mut Tree, bool),
    baskets: Vec<Basket>,
    sound: &SoundBaskets,
    path: &str,
    notes: &mut Vec<String>,
) -> Attached {
    let saved = tree.entries;
    let told = tree.branches.iter().any(|branch| !branch.baskets.is_empty());
    let holds = |branch: &Branch| if told { !branch.baskets.is_empty() } else { holds_entries(branch) };
    let mut holds: Vec<bool> = tree.branches.iter().map(holds).collect();
    if let Some(refs) = tree.branch_ref.and_then(|i| holds.get_mut(i)) {
        *refs = false;
    }
    let names: HashSet<String> = tree.branches.iter().map(|branch| branch.name().to_owned()).collect();
    let mut listed = HashSet::new();
    // Of each branch, which of its baskets cannot be read. They keep their places until all are known.
    let mut bad: Vec<HashSet<usize>> = Vec::with_capacity(tree.branches.len());
    for branch in &mut tree.branches {
        listed.extend(branch.baskets.iter().map(|basket| basket.seek));
        if branch.baskets.iter().all(|basket| basket.entries == 0) {
            branch.baskets.clear();
        }
        bad.push(unreadable(branch, &names, sound));
    }
    let mut groups: BTreeMap<String, Vec<Basket>> = BTreeMap::new();
    for basket in baskets.into_iter().filter(|basket| !listed.contains(&basket.seek)) {
        groups.entry(basket.branch.clone()).or_default().push(basket);
    }
    let mut found = HashSet::new();
    for (name, group) in groups {
        let named: Vec<usize> = (0..tree.branches.len())
            .filter(|i| tree.branches.get(*i).is_some_and(|branch| branch.name() == name))
            .collect();
        let total = group.len();
        let shares = share_out(tree, &named, group);
        if named.len() > 1 {
            notes.push(format!(
                "tree {path}: {} branches are called {name}; baskets are dealt out to them in the order of the file",
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
                "tree {path}, branch {name}: {} baskets of {total} cannot be used: one before them is missing",
                total - placed
            ));
        }
    }
    let dropped = leave_out_unreadable(tree, &mut bad, &mut holds);
    for loss in &dropped {
        notes.push(format!("tree {path}: branch {} is left out: none of its baskets can be read", loss.name));
    }
    let ends: Vec<u64> = tree.branches.iter().map(end).collect();
    let held = ends.iter().zip(&holds).filter(|(_, holds)| **holds).map(|(end, _)| *end);
    let furthest = held.clone().max().unwrap_or(saved).max(saved);
    let entries = held.min().unwrap_or(saved);
    let losses: Vec<BranchLoss> = tree.branches.iter().zip(&bad).map(|(branch, bad)| lost_of(branch, bad)).collect();
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
    if from_like {
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

/// The baskets that a tree lists for a branch and that are not there, or cannot be read, or are another branch's.
fn unreadable(branch: &Branch, names: &HashSet<String>, sound: &SoundBaskets) -> HashSet<usize> {
    let embedded: HashMap<usize, bool> =
        branch.embedded.iter().map(|(at, held)| (*at, BasketData::parse_embedded(&held.bytes).is_ok())).collect();
    let is_sound = |(i, basket): &(usize, &BasketRef)| {
        if let Some(sound) = embedded.get(i) {
            return *sound;
        }
        // Baskets in files of their own are read by the rewrite, or not.
        basket.entries == 0
            || !branch.file_name.is_empty()
            || sound.get(&basket.seek).is_some_and(|found| {
                let renamed = found.branch != branch.name() && !names.contains(&found.branch);
                let same = found.nbytes == basket.nbytes && found.entries == basket.entries;
                same && (renamed || found.branch == branch.name())
            })
    };
    branch.baskets.iter().enumerate().filter(|place| !is_sound(place)).map(|(i, _)| i).collect()
}

/// Takes out of the tree branches none of whose entries can be read, unless others need them to be read, or no branch
/// would be left: else the whole tree would be lost with them.
fn leave_out_unreadable(tree: &mut Tree, bad: &mut Vec<HashSet<usize>>, holds: &mut Vec<bool>) -> Vec<BranchLoss> {
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
    let losses: Vec<BranchLoss> = tree.branches.iter().zip(bad.iter()).map(|(b, bad)| lost_of(b, bad)).collect();
    let kept = tree.select(&keep);
    let mut flags = kept.iter();
    bad.retain(|_| flags.next().copied().unwrap_or(false));
    let mut flags = kept.iter();
    holds.retain(|_| flags.next().copied().unwrap_or(false));
    let gone = losses.into_iter().zip(&names).zip(&kept).filter(|(_, kept)| !**kept);
    gone.map(|((loss, name), _)| BranchLoss { name: path_text(name), ..loss }).collect()
}

/// What of a branch cannot be read.
fn lost_of(branch: &Branch, bad: &HashSet<usize>) -> BranchLoss {
    let lost = || branch.baskets.iter().enumerate().filter(|(i, _)| bad.contains(i)).map(|(_, basket)| basket);
    BranchLoss {
        entries_unreadable: lost().map(|basket| basket.entries).sum(),
        baskets_unreadable: bad.len() as u64,
        bytes_unreadable: lost().map(|basket| u64::from(basket.nbytes)).sum(),
        ranges_unreadable: united(lost().map(|b| (b.first_entry, b.first_entry.saturating_add(b.entries)))),
        ..BranchLoss::default()
    }
}

/// Ranges, those that overlap or touch put together.
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

/// The entries that lie in none of the gaps.
fn kept(entries: u64, gaps: &[(u64, u64)]) -> EntrySet {
    let mut chosen = EntrySetBuilder::new(entries);
    let mut at = 0;
    for &(from, to) in gaps {
        chosen.push(at..from);
        at = to;
    }
    chosen.push(at..entries);
    chosen.finish()
}

/// Where a branch's baskets end.
fn end(branch: &Branch) -> u64 {
    branch.baskets.last().map_or(0, |basket| basket.first_entry.saturating_add(basket.entries))
}

/// The number that the next basket of a branch has. A basket in the tree's record is written again when it is full.
fn next_number(branch: &Branch) -> usize {
    branch.baskets.iter().take_while(|basket| basket.seek > 0).count()
}

/// The number as fCycle holds it.
fn as_cycle(number: usize) -> i16 {
    let [.., high, low] = number.to_be_bytes();
    i16::from_be_bytes([high, low])
}

/// Deals baskets of one name out to the branches of that name, in the order that they follow one another.
fn share_out(tree: &Tree, branches: &[usize], baskets: Vec<Basket>) -> Vec<Vec<Basket>> {
    let mut shares: Vec<Vec<Basket>> = branches.iter().map(|_| Vec::new()).collect();
    let mut next: Vec<usize> = branches.iter().map(|b| tree.branches.get(*b).map_or(0, next_number)).collect();
    let total = baskets.len();
    if shares.is_empty() || !are_numbered(&baskets, &next) {
        let count = shares.len().max(1);
        for (i, basket) in baskets.into_iter().enumerate() {
            if let Some(share) = shares.get_mut(i % count) {
                share.push(basket);
            }
        }
        return shares;
    }
    let mut waiting: HashMap<i16, VecDeque<Basket>> = HashMap::new();
    for basket in baskets {
        waiting.entry(basket.cycle).or_default().push_back(basket);
    }
    let mut placed = 0;
    loop {
        let before = placed;
        for (share, next) in shares.iter_mut().zip(&mut next) {
            if let Some(basket) = waiting.get_mut(&as_cycle(*next)).and_then(VecDeque::pop_front) {
                share.push(basket);
                *next += 1;
                placed += 1;
            }
        }
        if placed == before || placed == total {
            return shares;
        }
    }
}

/// Whether the cycles of baskets are their numbers: ROOT's are, of others all are the same.
fn are_numbered(baskets: &[Basket], next: &[usize]) -> bool {
    let first = baskets.first().map(|basket| basket.cycle);
    let differ = baskets.iter().any(|basket| Some(basket.cycle) != first);
    if let ([next], true) = (next, differ)
        && begin_again(baskets)
    {
        return follow(baskets, *next);
    }
    // As many baskets of one number as there are branches may well be the next of each.
    differ || baskets.len() <= next.len() && next.iter().any(|number| Some(as_cycle(*number)) == first)
}

/// Whether these are numbers as they are in a merged file, of which each basket kept the one that it had in its own.
fn begin_again(baskets: &[Basket]) -> bool {
    baskets.windows(2).all(|pair| match pair {
        [a, b] => b.cycle == 0 || b.cycle == a.cycle.wrapping_add(1),
        _ => true,
    })
}

/// Whether the cycles of baskets are, in some order, all numbers from the next on.
fn follow(baskets: &[Basket], next: usize) -> bool {
    let first = as_cycle(next);
    let mut steps: Vec<u16> = baskets.iter().map(|basket| basket.cycle.wrapping_sub(first).cast_unsigned()).collect();
    steps.sort_unstable();
    steps.iter().enumerate().all(|(i, step)| i == usize::from(*step))
}

/// Appends baskets to a branch. One that cannot be read takes its place, for its header says how many entries it has.
/// Says how many there are.
fn append(
    branch: &mut Branch,
    baskets: Vec<Basket>,
    sound: &SoundBaskets,
    (bad, found): (&mut HashSet<usize>, &mut HashSet<u64>),
) -> usize {
    let mut placed = 0;
    for basket in baskets {
        placed += 1;
        if basket.entries == 0 {
            continue;
        }
        let stored = next_number(branch);
        branch.baskets.truncate(stored);
        branch.embedded.retain(|(at, _)| *at < stored);
        bad.retain(|at| *at < stored);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn baskets(cycles: &[i16]) -> Vec<Basket> {
        let basket = |(at, cycle): (usize, &i16)| Basket {
            tree: "tree".to_owned(),
            branch: "x".to_owned(),
            seek: at as u64 + 100,
            seek_pdir: 100,
            nbytes: 50,
            raw: 50,
            entries: 1,
            datime: 0,
            cycle: *cycle,
        };
        cycles.iter().enumerate().map(basket).collect()
    }

    #[test]
    fn numbers_count_only_where_they_are_some() {
        // One was written into a gap that lies before the others.
        assert!(are_numbered(&baskets(&[7, 5, 6]), &[5]));
        assert!(are_numbered(&baskets(&[5]), &[5]));
        // Ours, which have none; and copies of baskets of several files.
        assert!(!are_numbered(&baskets(&[1, 1, 1]), &[2]));
        assert!(!are_numbered(&baskets(&[0, 1, 2, 0, 1]), &[0]));
        assert!(!are_numbered(&baskets(&[3, 0, 1]), &[4]));
        // One is missing: those behind it are of no use.
        assert!(are_numbered(&baskets(&[5, 7]), &[5]));
        assert!(are_numbered(&baskets(&[i16::MAX, i16::MIN]), &[0x7FFF]));
        assert_eq!((as_cycle(32_767), as_cycle(32_768), as_cycle(65_537)), (i16::MAX, i16::MIN, 1));
    }
}
