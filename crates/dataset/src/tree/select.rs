//! Removes branches from a tree.

use std::collections::HashSet;

use super::model::{BranchKind, Tree};

impl Tree {
    /// Drops the branches for which `keep` returns false. Parents and counters of kept branches stay, and so does the
    /// table of references. Returns which branches were kept.
    pub fn select(&mut self, keep: &[bool]) -> Vec<bool> {
        let mut kept: Vec<bool> = (0..self.branches.len()).map(|i| keep.get(i).copied().unwrap_or(true)).collect();
        if let Some(i) = self.branch_ref
            && let Some(slot) = kept.get_mut(i)
        {
            *slot = true;
        }
        if kept.iter().any(|k| !*k) {
            self.close(&mut kept);
        }
        if kept.iter().all(|k| *k) {
            return kept;
        }
        let renumber = renumbering(&kept);
        let to = |i: usize| renumber.get(i).copied().flatten();
        let leaf_kept: Vec<bool> =
            self.leaves.iter().map(|leaf| kept.get(leaf.branch).copied().unwrap_or(false)).collect();
        let leaf_renumber = renumbering(&leaf_kept);
        let leaf_to = |i: usize| leaf_renumber.get(i).copied().flatten();
        let mut flags = kept.iter();
        self.branches.retain(|_| flags.next().copied().unwrap_or(false));
        let mut flags = leaf_kept.iter();
        self.leaves.retain(|_| flags.next().copied().unwrap_or(false));
        for branch in &mut self.branches {
            branch.parent = branch.parent.and_then(to);
            branch.children = branch.children.iter().filter_map(|&i| to(i)).collect();
            branch.leaves = branch.leaves.iter().filter_map(|&i| leaf_to(i)).collect();
            if let BranchKind::Clones(clones) = &mut branch.kind {
                clones.branch_count = clones.branch_count.and_then(to);
            }
        }
        for leaf in &mut self.leaves {
            leaf.branch = to(leaf.branch).unwrap_or(0);
        }
        self.top = self.top.iter().filter_map(|&i| to(i)).collect();
        self.leaf_list = self.leaf_list.iter().filter_map(|&i| leaf_to(i)).collect();
        self.branch_ref = self.branch_ref.and_then(to);
        kept
    }

    /// Adds the parents and counters of kept branches until none is missing.
    fn close(&self, kept: &mut [bool]) {
        let places = self.places();
        loop {
            let mut wanted: HashSet<usize> = HashSet::new();
            for (i, branch) in self.branches.iter().enumerate().filter(|(i, _)| kept.get(*i).copied().unwrap_or(false))
            {
                wanted.extend(branch.parent);
                wanted.extend(places.counters(self, i));
                if let BranchKind::Clones(clones) = &branch.kind {
                    wanted.extend(clones.branch_count);
                }
            }
            let mut grew = false;
            for i in wanted {
                if let Some(slot) = kept.get_mut(i) {
                    grew |= !*slot;
                    *slot = true;
                }
            }
            if !grew {
                return;
            }
        }
    }
}

/// The new indices of the kept items.
fn renumbering(kept: &[bool]) -> Vec<Option<usize>> {
    let mut next = 0;
    kept.iter()
        .map(|&k| {
            k.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}
