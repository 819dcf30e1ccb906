//! Puts baskets that a tree does not know behind those that it does, and cuts the tree where all its branches end.
//!
//! A basket names its branch and its tree, and says how many entries it has, but not which: baskets of a branch follow
//! one another. ROOT numbers them (`TBasket::WriteBuffer` puts the number into fCycle), which tells their order where
//! one was written into a gap; else the order in the file is theirs.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use dataset::tree::clusters::common_boundaries;
use dataset::tree::{BasketRef, Branch, Tree};
use rootfile::{Result, RootFile};

use super::found::Basket;
use super::report::BranchLoss;
use crate::plan::schema::{path_text, paths};
use crate::plan::{clusters, holds_entries};

/// What came of a tree.
pub(super) struct Attached {
    /// Entries that all branches have.
    pub entries: u64,
    /// The same, if some basket goes on behind.
    pub cut: Option<u64>,
    pub losses: Vec<BranchLoss>,
    /// Where the baskets lie that the tree did not know.
    pub found: HashSet<u64>,
    /// Entries that are told of and not all there.
    pub lost: u64,
}

/// Attaches `baskets`, which name this tree, unless it knows them.
pub(super) fn attach(
    file: &RootFile,
    (tree, from_like): (&mut Tree, bool),
    baskets: Vec<Basket>,
    path: &str,
    notes: &mut Vec<String>,
) -> Result<Attached> {
    let saved = tree.entries;
    let told = tree.branches.iter().any(|branch| !branch.baskets.is_empty());
    let holds = |branch: &Branch| if told { !branch.baskets.is_empty() } else { holds_entries(branch) };
    let mut holds: Vec<bool> = tree.branches.iter().map(holds).collect();
    if let Some(refs) = tree.branch_ref.and_then(|i| holds.get_mut(i)) {
        *refs = false;
    }
    let in_file: HashMap<u64, u32> = baskets.iter().map(|basket| (basket.seek, basket.nbytes)).collect();
    let mut listed = HashSet::new();
    for branch in &mut tree.branches {
        listed.extend(branch.baskets.iter().map(|basket| basket.seek));
        keep_whole(file, branch, &in_file);
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
        for (branch, share) in named.iter().zip(shares) {
            let Some(branch) = tree.branches.get_mut(*branch) else { continue };
            placed += append(file, branch, share, &mut found);
        }
        if placed < total {
            notes.push(format!(
                "tree {path}, branch {name}: {} baskets of {total} cannot be used: damaged, or one before them is missing",
                total - placed
            ));
        }
    }
    let ends: Vec<u64> = tree.branches.iter().map(end).collect();
    let held = ends.iter().zip(&holds).filter(|(_, holds)| **holds).map(|(end, _)| *end);
    let furthest = held.clone().max().unwrap_or(saved).max(saved);
    let entries = held.min().unwrap_or(saved);
    let losses = losses(tree, &ends, entries);
    let mut crosses = false;
    for branch in &mut tree.branches {
        branch.baskets.retain(|basket| basket.first_entry < entries);
        let left = branch.baskets.len();
        branch.embedded.retain(|(at, _)| *at < left);
        crosses |= end(branch) > entries;
        branch.entries = branch.baskets.iter().map(|basket| basket.entries).sum();
        branch.entry_number = end(branch);
    }
    tree.entries = entries;
    if from_like {
        let mut bounds = common_boundaries(tree).starts;
        bounds.push(entries);
        tree.cluster_ranges = clusters::ranges(&bounds);
    }
    Ok(Attached { entries, cut: crosses.then_some(entries), losses, found, lost: furthest - entries })
}

/// Where a branch's baskets end.
fn end(branch: &Branch) -> u64 {
    branch.baskets.last().map_or(0, |basket| basket.first_entry.saturating_add(basket.entries))
}

/// Leaves of a branch's baskets those up to the first that is not there: what comes behind cannot be used.
fn keep_whole(file: &RootFile, branch: &mut Branch, in_file: &HashMap<u64, u32>) {
    if branch.baskets.iter().all(|basket| basket.entries == 0) {
        branch.baskets.clear();
    }
    if !branch.file_name.is_empty() {
        return;
    }
    let size = file.source().size();
    let embedded: HashSet<usize> = branch.embedded.iter().map(|(at, _)| *at).collect();
    let whole = |(i, basket): &(usize, &BasketRef)| {
        let there = || match in_file.get(&basket.seek) {
            Some(nbytes) => *nbytes == basket.nbytes,
            None => file.key_at(basket.seek).is_ok_and(|key| key.nbytes == basket.nbytes),
        };
        let inside = basket.seek.saturating_add(u64::from(basket.nbytes)) <= size;
        embedded.contains(i) || inside && there()
    };
    let kept = branch.baskets.iter().enumerate().take_while(whole).count();
    branch.baskets.truncate(kept);
    branch.embedded.retain(|(at, _)| *at < kept);
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

/// Appends baskets to a branch, as long as they can be read. Says how many.
fn append(file: &RootFile, branch: &mut Branch, baskets: Vec<Basket>, found: &mut HashSet<u64>) -> usize {
    let mut placed = 0;
    for basket in baskets {
        // Power may have failed before all of it was on disk; a reader would find that out much later.
        if basket.entries > 0 && file.key_at(basket.seek).and_then(|key| file.payload(&key)).is_err() {
            break;
        }
        placed += 1;
        if basket.entries == 0 {
            continue;
        }
        let stored = next_number(branch);
        branch.baskets.truncate(stored);
        branch.embedded.retain(|(at, _)| *at < stored);
        let first_entry = end(branch);
        let (seek, nbytes) = (basket.seek, basket.nbytes);
        branch.baskets.push(BasketRef { first_entry, entries: basket.entries, seek, nbytes });
        branch.tot_bytes = branch.tot_bytes.saturating_add(basket.raw);
        branch.zip_bytes = branch.zip_bytes.saturating_add(u64::from(nbytes));
        found.insert(seek);
    }
    placed
}

/// What each branch has behind the last entry that is kept.
fn losses(tree: &Tree, ends: &[u64], entries: u64) -> Vec<BranchLoss> {
    let names = paths(tree);
    let lost = ends.iter().zip(&names).filter(|(end, _)| **end > entries);
    lost.map(|(end, name)| BranchLoss { name: path_text(name), entries_lost: end - entries }).collect()
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
