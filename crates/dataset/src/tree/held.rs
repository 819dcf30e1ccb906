//! The entries of a tree that its branches hold in baskets: whether the tree counts more of them than any branch has, and which
//! branches end early, begin late, have gaps, or go on behind the tree's end. By the metadata alone: no basket is read.

use std::ops::Range;

use rootfile::{Error, Result};

use super::model::{Branch, Tree};

/// A branch with some entries whose baskets do not hold exactly those of its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnequalBranch {
    /// Index of the branch.
    pub branch: usize,
    /// The entries of the tree that it holds.
    pub held: u64,
    /// The entry behind its last one.
    pub end: u64,
}

impl UnequalBranch {
    /// How many entries it holds of those of its tree, in words: `20 of 30 entries`.
    pub fn words(&self, entries: u64) -> String {
        match self.end > entries {
            true if self.held == entries => format!("{} entries more than the tree's {entries}", self.end - entries),
            _ => format!("{} of {entries} entries", self.held),
        }
    }
}

impl Branch {
    /// The entry behind the last one in a basket, 0 without baskets.
    pub fn end(&self) -> u64 {
        self.baskets.iter().map(|basket| basket.first_entry.saturating_add(basket.entries)).max().unwrap_or(0)
    }

    /// Whether a basket holds entries. Others were never filled, or only have branches below.
    pub fn is_filled(&self) -> bool {
        self.baskets.iter().any(|basket| basket.entries > 0)
    }

    /// How many of the first `entries` it holds.
    pub fn held(&self, entries: u64) -> u64 {
        entries - self.gaps(entries).iter().map(|gap| gap.end - gap.start).sum::<u64>()
    }

    /// The ranges of entries, among the first `entries`, that no basket holds.
    pub fn gaps(&self, entries: u64) -> Vec<Range<u64>> {
        let mut gaps = Vec::new();
        let mut at = 0;
        for basket in self.baskets.iter().filter(|basket| basket.entries > 0) {
            if basket.first_entry > at && at < entries {
                gaps.push(at..basket.first_entry.min(entries));
            }
            at = at.max(basket.first_entry.saturating_add(basket.entries));
        }
        if at < entries {
            gaps.push(at..entries);
        }
        gaps
    }
}

impl Tree {
    /// The branches with some entries that hold fewer or more than the tree has. A branch that was never filled is none of them.
    pub fn unequal_branches(&self) -> Vec<UnequalBranch> {
        let unequal = |(i, branch): (usize, &Branch)| {
            let (held, end) = (branch.held(self.entries), branch.end());
            let is_unequal = branch.is_filled() && (held < self.entries || end > self.entries);
            is_unequal.then_some(UnequalBranch { branch: i, held, end })
        };
        self.branches.iter().enumerate().filter_map(unequal).collect()
    }

    /// Checks that some branch reaches the tree's last entry. A tree without branches may count entries.
    ///
    /// # Errors
    ///
    /// If the tree counts entries that none of its branches holds: then its count is damaged, or baskets are lost.
    pub fn check_entries(&self) -> Result<()> {
        let held = self.branches.iter().map(Branch::end).max().unwrap_or(self.entries);
        match held < self.entries {
            true => Err(Error::corrupt(format!("{} entries, its branches hold {held}", self.entries))
                .object(format!("tree {}", self.name()))),
            false => Ok(()),
        }
    }

    /// Checks a tree that is about to be written: the baskets of each branch follow each other, from the branch's first entry to its
    /// last. `may_end_early` says of a branch by its index whether it may have fewer entries than the tree.
    ///
    /// # Errors
    ///
    /// If baskets overlap, leave entries out, or are not what the branch counts.
    pub fn check_baskets(&self, may_end_early: impl Fn(usize) -> bool) -> Result<()> {
        for (i, branch) in self.branches.iter().enumerate().filter(|(_, branch)| !branch.baskets.is_empty()) {
            let mut at = 0;
            for basket in &branch.baskets {
                if basket.first_entry != at {
                    return Err(self.unwritable(branch, &format!("entry {at} is followed by {}", basket.first_entry)));
                }
                at += basket.entries;
            }
            if at != branch.entries || at != branch.entry_number || (at < self.entries && !may_end_early(i)) {
                let counted =
                    format!("baskets with {at} of {} entries, of which it counts {}", self.entries, branch.entries);
                return Err(self.unwritable(branch, &counted));
            }
        }
        Ok(())
    }

    #[cold]
    fn unwritable(&self, branch: &Branch, what: &str) -> Error {
        Error::unsupported(format!("would be written with {what}, so nothing is written")).object(format!(
            "branch {} of tree {}",
            branch.name(),
            self.name()
        ))
    }
}

#[cfg(test)]
mod tests {
    use rootfile::object::Named;

    use super::super::model::{BasketRef, BranchKind};
    use super::*;

    /// A tree with a branch for each list of baskets: their first entries and numbers of entries.
    fn tree(entries: u64, branches: &[&[(u64, u64)]]) -> Tree {
        let mut tree = Tree { entries, ..Tree::new(Named::default()) };
        for (i, baskets) in branches.iter().enumerate() {
            let mut branch = Branch::new(i, Named::default(), BranchKind::Plain);
            let basket = |&(first_entry, entries)| BasketRef { first_entry, entries, seek: 100, nbytes: 80 };
            branch.baskets = baskets.iter().map(basket).collect();
            branch.entries = branch.baskets.iter().map(|basket| basket.entries).sum();
            branch.entry_number = branch.end();
            tree.branches.push(branch);
        }
        tree
    }

    fn words(tree: &Tree) -> Vec<(usize, String)> {
        tree.unequal_branches().iter().map(|one| (one.branch, one.words(tree.entries))).collect()
    }

    #[test]
    fn unequal_branches_are_found() {
        let found =
            tree(30, &[&[(0, 10), (10, 20)], &[(0, 20)], &[(10, 20)], &[(0, 5), (25, 5)], &[], &[(0, 35)], &[(30, 2)]]);
        let expected = [(1, "20 of 30 entries"), (2, "20 of 30 entries"), (3, "10 of 30 entries")];
        let longer = [(5, "5 entries more than the tree's 30"), (6, "0 of 30 entries")];
        let expected: Vec<_> = expected.iter().chain(&longer).map(|(i, text)| (*i, (*text).to_owned())).collect();
        assert_eq!(words(&found), expected);
        assert_eq!(found.branches[3].gaps(30).first(), Some(&(5..25)));
        assert_eq!(found.branches[2].gaps(30).first(), Some(&(0..10)));
        assert_eq!(found.branches[2].gaps(5).first(), Some(&(0..5)));
        assert!(found.check_entries().is_ok());
    }

    #[test]
    fn a_count_that_no_branch_reaches_is_damage() {
        let error = tree(1000, &[&[(0, 777)], &[(0, 20)], &[]]).check_entries().unwrap_err().to_string();
        assert!(error.ends_with("1000 entries, its branches hold 777"), "{error}");
        assert!(tree(1000, &[&[]]).check_entries().is_err());
        assert!(tree(1000, &[]).check_entries().is_ok());
        assert!(tree(0, &[&[]]).check_entries().is_ok());
    }

    #[test]
    fn what_is_written_covers_the_entries() {
        let check = |tree: &Tree| tree.check_baskets(|_| false).is_ok();
        assert!(check(&tree(30, &[&[(0, 10), (10, 20)], &[], &[(0, 35)]])));
        for wrong in [&[(0, 10), (11, 19)][..], &[(0, 10), (9, 21)], &[(5, 25)], &[(0, 20)]] {
            assert!(!check(&tree(30, &[wrong])), "{wrong:?}");
        }
        assert!(tree(30, &[&[(0, 20)]]).check_baskets(|_| true).is_ok());
        let mut counts = tree(30, &[&[(0, 30)]]);
        counts.branches[0].entries = 29;
        assert!(!check(&counts));
    }
}
