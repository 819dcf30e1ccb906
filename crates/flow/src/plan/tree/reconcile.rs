//! Branches whose bytes mean other things in a further input: those whose entries can be written in the form of the first input
//! without a loss are recast when their baskets are loaded; the others remain differences.

use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::meaning::{ClassConflict, ClassConflicts, Meanings, Reach};
use dataset::recast::Recast;
use dataset::tree::Tree;
use dataset::tree::basket::GENERATE_OFFSET_MAP;
use rootfile::RootFile;
use rootfile::streamer::StreamerInfos;

use super::builder::{LARGEST_RECAST, PlanBuilder};
use super::schema::{Comparison, Described};
use super::versions::Replacements;

/// Objects with bits or references of their own, which arrays leave out.
const NOT_IN_ARRAYS: [&str; 3] = ["TObject", "TRef", "TRefArray"];

impl PlanBuilder<'_> {
    /// The tree so far, with the descriptions of its classes.
    pub fn described(&self) -> Described<'_> {
        Described { tree: &self.tree, infos: &self.infos }
    }

    /// Takes the branches that can be joined in spite of other bytes out of the differences, and adds the descriptions of the
    /// input's classes to those of the output.
    pub fn reconcile(&mut self, tree: &Tree, found: &mut Comparison, file: &Arc<RootFile>) {
        self.note_numbers(tree, &found.map);
        let mut versions = Replacements::new();
        for i in std::mem::take(&mut found.changed) {
            let Some(theirs) = found.map.get(i).copied().flatten() else { continue };
            let conflicts = found.conflicts.get(&i).cloned().unwrap_or_default();
            let other = Described { tree, infos: file.infos() };
            let widens = self.request.options.widen && conflicts.is_empty();
            if self.recast(i, (theirs, other), &conflicts)
                || (widens && self.widen(i, (theirs, other)))
                || self.joins_version(i, (theirs, other), found, &mut versions)
            {
                found.conflicts.remove(&i);
            } else {
                found.changed.push(i);
            }
        }
        self.join_objects(Described { tree, infos: file.infos() }, found);
        self.replace_versions(&versions);
        self.describe(file.infos(), &found.classes);
    }

    /// Adds descriptions of classes. A version that is described otherwise, of which there are these, keeps its description.
    pub fn describe(&mut self, infos: &StreamerInfos, conflicts: &ClassConflicts) {
        for info in infos.iter().filter(|info| conflicts.of(&info.name).is_none_or(|c| c.version() != info.version)) {
            self.infos.add(Arc::clone(info));
        }
    }

    /// Whether baskets of a branch have all that they need to be decoded.
    pub fn may_recast(&self, i: usize, (theirs, other): (usize, &Tree)) -> bool {
        let io_bits = [self.tree.branches.get(i), other.branches.get(theirs)].map(|b| b.map_or(0, |b| b.io_bits));
        (io_bits[0] | io_bits[1]) & GENERATE_OFFSET_MAP == 0
    }

    /// Lets the entries of a branch be written in the form of the column, if that loses nothing.
    fn recast(&mut self, i: usize, (theirs, other): (usize, Described<'_>), conflicts: &[ClassConflict]) -> bool {
        let (Some(branch), Some(their_branch)) = (self.tree.branches.get(i), other.tree.branches.get(theirs)) else {
            return false;
        };
        if !self.may_recast(i, (theirs, other.tree)) {
            return false;
        }
        let meanings = (Meanings::new(&self.tree, &self.infos), Meanings::new(other.tree, other.infos));
        let from = ColumnPlan::new(other.tree, theirs, other.infos);
        let own = ColumnPlan::new(&self.tree, i, &self.infos);
        if conflicts.is_empty() {
            let packed = meanings.0.of(branch).differs_in_packing(&meanings.1.of(their_branch));
            return packed && !self.widened.contains_key(&i) && self.unpack(i, own, from);
        }
        let mut reach = Reach::default();
        meanings.0.reach(branch, &mut reach);
        if NOT_IN_ARRAYS.iter().any(|class| reach.has(class)) || !conflicts.iter().all(ClassConflict::is_order_only) {
            return false;
        }
        match Recast::new(from, own) {
            Ok(recast) => self.recasts.insert(i, Arc::new(recast)).is_none(),
            Err(_) => false,
        }
    }

    /// Makes the packed leaves of a branch plain ones, which hold the values of all inputs.
    fn unpack(&mut self, i: usize, own: ColumnPlan, from: ColumnPlan) -> bool {
        let was_packed = self.tree.unpack_leaves(i);
        let to = ColumnPlan::new(&self.tree, i, &self.infos);
        let Ok(theirs) = Recast::new(from, to.clone()) else { return false };
        if was_packed {
            if !self.recast_earlier(i, (own, &to), LARGEST_RECAST) {
                return false;
            }
            let name = self.columns.get(i).map_or("", |column| column.name.as_str());
            self.notes.push(format!(
                "tree {}: {name} is written without packing, since the inputs pack its numbers differently",
                self.request.path
            ));
        }
        self.recasts.insert(i, Arc::new(theirs));
        true
    }
}
