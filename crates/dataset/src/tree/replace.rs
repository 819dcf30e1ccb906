//! Replacing: new branches take the positions of branches of the first level.

use std::collections::HashSet;

use super::model::{Branch, BranchKind, Leaf, Tree};

/// The indices of branches after a replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replaced {
    /// For each old branch its new index, if it was kept.
    pub stayed: Vec<Option<usize>>,
    /// For each replacement the new indices of its branches.
    pub made: Vec<Vec<usize>>,
}

impl Tree {
    /// A branch and all below it, in ROOT's order.
    pub fn below(&self, top: usize) -> Vec<usize> {
        let (mut found, mut next) = (Vec::new(), vec![top]);
        while let Some(branch) = next.pop() {
            let Some(b) = self.branches.get(branch).filter(|_| found.len() < self.branches.len()) else { continue };
            found.push(branch);
            next.extend(b.children.iter().rev());
            if let BranchKind::Clones(clones) = &b.kind {
                // It is not a child, but belongs to the branch.
                next.extend(clones.branch_count);
            }
        }
        found
    }

    /// Replaces branches of the first level, with all branches below them, by the branches of another tree each.
    /// Nothing else may refer to the replaced branches.
    pub fn replace(&mut self, replacements: Vec<(usize, Self)>) -> Replaced {
        let replaced: HashSet<usize> = replacements.iter().flat_map(|(top, _)| self.below(*top)).collect();
        let mut made = vec![Vec::new(); replacements.len()];
        let tops: Vec<usize> = replacements.iter().map(|(top, _)| *top).collect();
        let mut coming: Vec<(usize, usize, Self)> =
            replacements.into_iter().enumerate().map(|(number, (top, tree))| (top, number, tree)).collect();
        // In reverse order, because they are popped from the end.
        coming.sort_by_key(|(top, ..)| std::cmp::Reverse(*top));
        let branches = std::mem::take(&mut self.branches);
        let mut leaves: Vec<Option<Leaf>> = std::mem::take(&mut self.leaves).into_iter().map(Some).collect();
        let mut stayed = vec![None; branches.len()];
        let mut new_leaf: Vec<Option<usize>> = vec![None; leaves.len()];
        let mut leaf_lists: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        // New branches already have final indices; kept branches are renumbered at the end.
        let mut is_new = Vec::with_capacity(branches.len());
        for (index, branch) in branches.into_iter().enumerate() {
            if let Some((_, number, tree)) = coming.pop_if(|(top, ..)| *top == index) {
                let (first, first_leaf) = (self.branches.len(), self.leaves.len());
                leaf_lists
                    .push((branch.leaves.first().copied(), (first_leaf..first_leaf + tree.leaves.len()).collect()));
                self.take_over(tree, first, first_leaf);
                is_new.resize(self.branches.len(), true);
                if let Some(made) = made.get_mut(number) {
                    made.extend(first..self.branches.len());
                }
            }
            if replaced.contains(&index) {
                continue;
            }
            let mut branch = branch;
            for leaf in &mut branch.leaves {
                if let Some(moved) = leaves.get_mut(*leaf).and_then(Option::take) {
                    if let Some(slot) = new_leaf.get_mut(*leaf) {
                        *slot = Some(self.leaves.len());
                    }
                    *leaf = self.leaves.len();
                    self.leaves.push(Leaf { branch: self.branches.len(), ..moved });
                }
            }
            if let Some(slot) = stayed.get_mut(index) {
                *slot = Some(self.branches.len());
            }
            is_new.push(false);
            self.branches.push(branch);
        }
        let to = |i: usize| stayed.get(i).copied().flatten();
        for (branch, _) in self.branches.iter_mut().zip(&is_new).filter(|(_, new)| !**new) {
            branch.parent = branch.parent.and_then(to);
            branch.children = branch.children.iter().filter_map(|&i| to(i)).collect();
            if let BranchKind::Clones(clones) = &mut branch.kind {
                clones.branch_count = clones.branch_count.and_then(to);
            }
        }
        self.branch_ref = self.branch_ref.and_then(to);
        self.relist(&tops, &made, &leaf_lists, &new_leaf, to);
        Replaced { stayed, made }
    }

    /// Moves branches and leaves here and gives them identities of this tree.
    fn take_over(&mut self, other: Self, first: usize, first_leaf: usize) {
        let base = self.graph.objects.len();
        self.graph.objects.resize_with(base + other.graph.objects.len(), || None);
        for branch in other.branches {
            let mut branch = Branch {
                id: branch.id + base,
                parent: branch.parent.map(|i| i + first),
                children: branch.children.iter().map(|i| i + first).collect(),
                leaves: branch.leaves.iter().map(|i| i + first_leaf).collect(),
                ..branch
            };
            match &mut branch.kind {
                BranchKind::Element(element) => {
                    element.branch_count = element.branch_count.map(|id| id + base);
                    element.branch_count2 = element.branch_count2.map(|id| id + base);
                }
                BranchKind::Clones(clones) => clones.branch_count = clones.branch_count.map(|i| i + first),
                _ => {}
            }
            self.branches.push(branch);
        }
        self.leaves.extend(other.leaves.into_iter().map(|leaf| Leaf {
            id: leaf.id + base,
            leaf_count: leaf.leaf_count.map(|id| id + base),
            branch: leaf.branch + first,
            ..leaf
        }));
    }

    /// Rebuilds the lists of the first level and of leaves.
    fn relist(
        &mut self,
        tops: &[usize],
        made: &[Vec<usize>],
        leaf_lists: &[(Option<usize>, Vec<usize>)],
        new_leaf: &[Option<usize>],
        to: impl Fn(usize) -> Option<usize>,
    ) {
        let came = |old: usize| {
            let number = tops.iter().position(|&top| top == old)?;
            made.get(number)?.first().copied()
        };
        self.top = self.top.iter().filter_map(|&i| came(i).or_else(|| to(i))).collect();
        let mut list = Vec::with_capacity(self.leaves.len());
        let mut listed = HashSet::new();
        for &leaf in &self.leaf_list {
            match new_leaf.get(leaf).copied().flatten() {
                Some(new) => list.push(new),
                None => {
                    for (_, leaves) in leaf_lists.iter().filter(|(old, _)| *old == Some(leaf)) {
                        listed.extend(leaves.iter().copied());
                        list.extend(leaves);
                    }
                }
            }
        }
        // Branches without a leaf in the list.
        let all = leaf_lists.iter().flat_map(|(_, leaves)| leaves);
        list.extend(all.filter(|leaf| !listed.contains(leaf)));
        self.leaf_list = list;
    }
}

#[cfg(test)]
mod tests {
    use rootfile::streamer::StreamerInfos;

    use super::*;
    use crate::tree::make::{NewColumn, NewKind, NewLeaf, make_tree};

    fn leaf(name: &str, counter: Option<&str>) -> NewLeaf {
        NewLeaf { name: name.into(), letter: 'I', counter: counter.map(str::to_owned), ..NewLeaf::default() }
    }

    fn tree(columns: &[NewColumn]) -> Tree {
        make_tree("t", "", columns, &StreamerInfos::new()).unwrap()
    }

    #[test]
    fn other_branches_keep_their_order_and_counters() {
        let counted = |by: &str| NewColumn::new("v", NewKind::Leaves(vec![leaf("v", Some(by))]));
        let old = [NewColumn::leaf("a", 'I'), NewColumn::leaf("b", 'I'), NewColumn::leaf("n", 'I'), counted("n")];
        let mut old = tree(&old);
        let new = tree(&[NewColumn::leaf("n2", 'I'), counted("n2")]);
        // They are not below one branch, which does not matter here.
        let replaced = old.replace(vec![(1, new)]);
        let names: Vec<&str> = old.branches.iter().map(Branch::name).collect();
        assert_eq!(names, ["a", "n2", "v", "n", "v"]);
        assert_eq!(replaced.stayed, [Some(0), None, Some(3), Some(4)]);
        assert_eq!(replaced.made, [[1, 2]]);
        assert_eq!(old.leaf_list.len(), 5);
        assert!(old.leaf_list.is_sorted());
        let ids: HashSet<_> = old.branches.iter().map(|b| b.id).chain(old.leaves.iter().map(|l| l.id)).collect();
        assert_eq!(ids.len(), 10);
        assert_eq!(old.leaves[4].leaf_count, Some(old.leaves[3].id));
        assert_eq!(old.leaves[2].leaf_count, Some(old.leaves[1].id));
        assert!(old.leaves.iter().enumerate().all(|(i, leaf)| old.branches[leaf.branch].leaves == [i]));
    }
}
