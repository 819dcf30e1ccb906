//! An index of a tree's branches and leaves by identity, for code that follows many pointers. It is invalid once
//! branches are added or dropped.

use std::collections::HashMap;

use rootfile::object::ObjectId;

use super::model::Tree;

/// The indices of a tree's branches and leaves.
pub struct Places {
    branches: HashMap<ObjectId, usize>,
    leaves: HashMap<ObjectId, usize>,
}

impl Tree {
    /// Indexes all branches and leaves.
    pub fn places(&self) -> Places {
        Places {
            branches: self.branches.iter().enumerate().map(|(i, branch)| (branch.id, i)).collect(),
            leaves: self.leaves.iter().enumerate().map(|(i, leaf)| (leaf.id, i)).collect(),
        }
    }
}

impl Places {
    /// Index of a branch.
    pub fn branch(&self, id: ObjectId) -> Option<usize> {
        self.branches.get(&id).copied()
    }

    /// Index of a leaf.
    pub fn leaf(&self, id: ObjectId) -> Option<usize> {
        self.leaves.get(&id).copied()
    }

    /// The branches with the counters of a branch of `tree`.
    pub fn counters(&self, tree: &Tree, branch: usize) -> Vec<usize> {
        let Some(b) = tree.branches.get(branch) else { return Vec::new() };
        let counted_by = b.leaves.iter().filter_map(|&l| tree.leaves.get(l)?.leaf_count);
        let by_leaf = counted_by.filter_map(|id| Some(tree.leaves.get(self.leaf(id)?)?.branch));
        let by_branch = b.element().into_iter().flat_map(|e| [e.branch_count, e.branch_count2]).flatten();
        by_leaf.chain(by_branch.filter_map(|id| self.branch(id))).filter(|&i| i != branch).collect()
    }
}
