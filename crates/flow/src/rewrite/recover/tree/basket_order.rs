//! The order of baskets in their branch, and the branch of each basket where several branches have one name.
//!
//! Fact: ROOT numbers the baskets of a branch (`TBasket::WriteBuffer` stores the number in fCycle). The number gives the order
//! where a basket was written into a gap. Without numbers, the order in the file counts.

use std::collections::{HashMap, VecDeque};

use dataset::tree::{Branch, Tree};

use crate::rewrite::recover::scan_result::FoundBasket;

/// The number of the next basket of a branch. A basket in the tree's record is written again when it is full.
pub(super) fn next_number(branch: &Branch) -> usize {
    branch.baskets.iter().take_while(|basket| basket.seek > 0).count()
}

/// The number as fCycle stores it.
fn as_cycle(number: usize) -> i16 {
    let [.., high, low] = number.to_be_bytes();
    i16::from_be_bytes([high, low])
}

/// Shares baskets of one branch name out to the branches of that name, in the order of the baskets.
pub(super) fn share_out(tree: &Tree, branches: &[usize], baskets: Vec<FoundBasket>) -> Vec<Vec<FoundBasket>> {
    let mut shares: Vec<Vec<FoundBasket>> = branches.iter().map(|_| Vec::new()).collect();
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
    let mut waiting: HashMap<i16, VecDeque<FoundBasket>> = HashMap::new();
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

/// Whether the cycles of baskets are their numbers, as in files by ROOT. Other writers give all baskets the same cycle.
fn are_numbered(baskets: &[FoundBasket], next: &[usize]) -> bool {
    let first = baskets.first().map(|basket| basket.cycle);
    let differ = baskets.iter().any(|basket| Some(basket.cycle) != first);
    if let ([next], true) = (next, differ)
        && restart(baskets)
    {
        return are_consecutive(baskets, *next);
    }
    // As many baskets of one number as there are branches: each may be the next of its branch.
    differ || baskets.len() <= next.len() && next.iter().any(|number| Some(as_cycle(*number)) == first)
}

/// Whether the numbers start again, as in a merged file whose baskets kept their numbers.
fn restart(baskets: &[FoundBasket]) -> bool {
    baskets.windows(2).all(|pair| match pair {
        [a, b] => b.cycle == 0 || b.cycle == a.cycle.wrapping_add(1),
        _ => true,
    })
}

/// Whether the cycles of baskets are all numbers from the next on, in any order.
fn are_consecutive(baskets: &[FoundBasket], next: usize) -> bool {
    let first = as_cycle(next);
    let mut steps: Vec<u16> = baskets.iter().map(|basket| basket.cycle.wrapping_sub(first).cast_unsigned()).collect();
    steps.sort_unstable();
    steps.iter().enumerate().all(|(i, step)| i == usize::from(*step))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baskets(cycles: &[i16]) -> Vec<FoundBasket> {
        let basket = |(at, cycle): (usize, &i16)| FoundBasket {
            tree: "tree".into(),
            branch: "x".into(),
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
    fn cycles_are_numbers_only_in_files_by_root() {
        // One basket was written into a gap before the others.
        assert!(are_numbered(&baskets(&[7, 5, 6]), &[5]));
        assert!(are_numbered(&baskets(&[5]), &[5]));
        // Baskets by basketry, which have no numbers, and baskets copied from several files.
        assert!(!are_numbered(&baskets(&[1, 1, 1]), &[2]));
        assert!(!are_numbered(&baskets(&[0, 1, 2, 0, 1]), &[0]));
        assert!(!are_numbered(&baskets(&[3, 0, 1]), &[4]));
        // One basket is missing: the ones behind it cannot be used.
        assert!(are_numbered(&baskets(&[5, 7]), &[5]));
        assert!(are_numbered(&baskets(&[i16::MAX, i16::MIN]), &[0x7FFF]));
        assert_eq!((as_cycle(32_767), as_cycle(32_768), as_cycle(65_537)), (i16::MAX, i16::MIN, 1));
    }
}
