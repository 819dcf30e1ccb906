//! Grafting: copies branches that a tree lacks from another tree of the same kind.

use std::collections::HashMap;

use rootfile::object::ObjectId;

use super::model::{BranchKind, Tree};

impl Tree {
    /// Adds the branches of `other` that have no counterpart here. `counterparts` has for each branch of `other` its
    /// index in this tree; the indices of the grafted branches are added to it. A table of references is not copied: it
    /// belongs to its own tree.
    ///
    /// Parents come first and counters stay with their arrays, so everything that a grafted branch refers to is either
    /// here already or grafted with it.
    pub fn graft(&mut self, other: &mut Self, counterparts: &mut [Option<usize>]) -> Vec<usize> {
        let mut grafted = Vec::new();
        let mut leaves: HashMap<usize, usize> = HashMap::new();
        for i in 0..other.branches.len() {
            if counterparts.get(i).copied().flatten().is_some() || other.branch_ref == Some(i) {
                continue;
            }
            let Some(slot) = other.branches.get_mut(i) else { continue };
            let parent = slot.parent.and_then(|p| counterparts.get(p).copied().flatten());
            let new = self.branches.len();
            let mut branch = std::mem::replace(slot, slot.hollow());
            branch.id = self.fresh_id();
            let mut own = Vec::with_capacity(branch.leaves.len());
            for l in std::mem::take(&mut branch.leaves) {
                let Some(slot) = other.leaves.get_mut(l) else { continue };
                let mut leaf = std::mem::replace(slot, slot.hollow());
                leaf.id = self.fresh_id();
                leaf.branch = new;
                leaves.insert(l, self.leaves.len());
                own.push(self.leaves.len());
                self.leaves.push(leaf);
            }
            branch.leaves = own;
            branch.children.clear();
            branch.parent = parent;
            match parent.and_then(|p| self.branches.get_mut(p)) {
                Some(parent) => parent.children.push(new),
                None => self.top.push(new),
            }
            self.leaf_list.extend(&branch.leaves);
            self.branches.push(branch);
            if let Some(slot) = counterparts.get_mut(i) {
                *slot = Some(new);
            }
            grafted.push(new);
        }
        self.relink(other, counterparts, &leaves, &grafted);
        grafted
    }

    /// Lets grafted branches refer to the counters of this tree.
    fn relink(
        &mut self,
        other: &Self,
        counterparts: &[Option<usize>],
        leaves: &HashMap<usize, usize>,
        grafted: &[usize],
    ) {
        let places = other.places();
        // The leaf here for a leaf there: grafted with it, or at the same position in its branch.
        let leaf_there = |tree: &Self, id: ObjectId| -> Option<ObjectId> {
            let leaf_there = places.leaf(id)?;
            if let Some(&leaf_here) = leaves.get(&leaf_there) {
                return tree.leaves.get(leaf_here).map(|l| l.id);
            }
            let branch = other.leaves.get(leaf_there)?.branch;
            let place = other.branches.get(branch)?.leaves.iter().position(|&l| l == leaf_there)?;
            let branch = tree.branches.get((*counterparts.get(branch)?)?)?;
            tree.leaves.get(*branch.leaves.get(place)?).map(|l| l.id)
        };
        let branch_here = |tree: &Self, id: ObjectId| -> Option<ObjectId> {
            let branch_here = (*counterparts.get(places.branch(id)?)?)?;
            tree.branches.get(branch_here).map(|b| b.id)
        };
        for &i in grafted {
            let own = self.branches.get(i).map(|b| b.leaves.clone()).unwrap_or_default();
            for l in own {
                let count = self.leaves.get(l).and_then(|leaf| leaf.leaf_count).and_then(|id| leaf_there(self, id));
                if let Some(leaf) = self.leaves.get_mut(l) {
                    leaf.leaf_count = count;
                }
            }
            let Some(element) = self.branches.get(i).and_then(|b| b.element()) else { continue };
            let counts = [element.branch_count, element.branch_count2].map(|id| branch_here(self, id?));
            if let Some(BranchKind::Element(element)) = self.branches.get_mut(i).map(|b| &mut b.kind) {
                [element.branch_count, element.branch_count2] = counts;
            }
        }
    }

    fn fresh_id(&mut self) -> ObjectId {
        self.graph.objects.push(None);
        self.graph.objects.len() - 1
    }
}
