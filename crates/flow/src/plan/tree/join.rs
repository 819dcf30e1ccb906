//! Joins further trees to a plan, and handles differences between schemas.
//!
//! The first tree with entries gives the schema. Under [`Join::Strict`] all others must have the same. Under
//! [`Join::Common`] branches that one of them lacks are left out. Under [`Join::Fill`] missing branches are filled with
//! default entries.
//!
//! Entries move as bytes, so what bytes mean decides ([`schema`]), and not the values that readers see, which [`Join::tables`] joins.

use std::collections::HashSet;
use std::sync::Arc;

use dataset::meaning::ClassConflicts;
use dataset::table::{Join, refusal};
use dataset::tree::Tree;
use dataset::tree::clusters::cluster_starts;
use rootfile::{Error, Result, RootFile, public_path};

use super::builder::PlanBuilder;
use super::schema::{self, Comparison, Described};
use super::unequal::{Gaps, Missing};

impl PlanBuilder<'_> {
    /// Adds a tree.
    pub fn join(&mut self, mut tree: Tree, input: (usize, &Arc<RootFile>)) -> Result<()> {
        let fills = self.request.options.schema == Join::Fill;
        let empty = is_empty(&tree);
        let nothing_yet = self.entries == 0 && self.columns.iter().all(|c| c.source.pieces.is_empty());
        if nothing_yet && (!empty || tree.branches.len() > self.tree.branches.len()) {
            return self.restart(tree, input);
        }
        self.attached.join(self.request.path, &self.tree, &self.first_input, &tree, input.1.name());
        if empty && !fills {
            // An empty tree cannot conflict, and no branches are left out because of it.
            self.input_entries.push(0);
            return Ok(());
        }
        let mut found = schema::compare(self.described(), Described { tree: &tree, infos: input.1.infos() });
        if empty {
            found.changed.clear();
        }
        self.reconcile(&tree, &mut found, input.1);
        self.compare_clones(&tree, &mut found, input.1);
        self.resolve_differences(&tree, &mut found, input.1)?;
        if fills && !found.extra.is_empty() {
            self.graft(&mut tree, &mut found, input.1)?;
        }
        self.raise_maxima(&tree, &found.map);
        if self.gaps == Gaps::Fill {
            self.unequal.note(self.request.path, &tree, (input.1, false));
        }
        self.relations.join(&self.tree, &tree, self.entries);
        let starts = cluster_starts(&tree);
        let entries = tree.entries;
        self.take_pieces(&mut tree.branches, &found.map, input, entries, &starts)
    }

    /// Starts again with this tree's schema, since all trees so far were empty.
    fn restart(&mut self, tree: Tree, input: (usize, &Arc<RootFile>)) -> Result<()> {
        let fresh = Self::start(self.request, self.gaps, tree, input)?;
        let mut before = std::mem::replace(self, fresh);
        let own = std::mem::replace(&mut self.input_entries, std::mem::take(&mut before.input_entries));
        self.input_entries.extend(own);
        self.notes.append(&mut before.notes);
        self.attached.join(self.request.path, &self.tree, &self.first_input, &before.tree, &before.first_input);
        self.describe(&before.infos, &ClassConflicts::between(&self.infos, &before.infos));
        if self.request.options.schema == Join::Fill {
            let mut found = schema::compare(self.described(), before.described());
            self.graft(&mut before.tree, &mut found, input.1)?;
        }
        Ok(())
    }

    /// Handles differences between schemas.
    fn resolve_differences(&mut self, tree: &Tree, found: &mut Comparison, file: &RootFile) -> Result<()> {
        let refuse = match self.request.options.schema {
            Join::Strict => !found.is_equal(),
            Join::Fill => !found.changed.is_empty(),
            Join::Common => false,
        };
        if refuse {
            return Err(self.refusal(Described { tree, infos: file.infos() }, found));
        }
        if self.request.options.schema == Join::Common {
            for &i in found.missing.iter().chain(&found.changed) {
                self.leave_out(i);
            }
            let paths = schema::paths(tree);
            self.left_behind.extend(found.extra.iter().filter_map(|&i| paths.get(i)).map(schema::path_text));
        }
        Ok(())
    }

    /// Marks a column as left out.
    pub fn leave_out(&mut self, i: usize) {
        if let Some(column) = self.columns.get_mut(i) {
            self.left_out.insert(i);
            column.source.clear();
        }
    }

    fn refusal(&self, other: Described<'_>, found: &Comparison) -> Error {
        let options = self.request.options;
        let texts: Vec<String> =
            found.differences(self.described(), other).iter().map(|difference| difference.text("branch")).collect();
        let first = public_path(&self.first_input);
        let what =
            format!("tree {}: its schema differs from the first input's ({})", self.request.path, first.display());
        if options.is_read {
            return refusal(&what, &texts, Some("open them one by one, or merge them first"), Vec::new());
        }
        if found.split_differs(&self.tree, other.tree) {
            return refusal(
                &what,
                &texts,
                Some("give them one split level first, with `basketry rewrite`"),
                Vec::new(),
            );
        }
        let widens = !options.widen && self.can_widen(found, other);
        let (advice, ways) = options.ways_out("branches");
        let ways = ways.into_iter().chain(widens.then(Join::widening)).collect();
        refusal(&what, &texts, advice.as_deref(), ways)
    }

    /// Takes over branches that only a later tree has. Entries before it are filled.
    fn graft(&mut self, tree: &mut Tree, found: &mut Comparison, file: &Arc<RootFile>) -> Result<()> {
        let mut back = vec![None; tree.branches.len()];
        for (mine, theirs) in found.map.iter().enumerate() {
            if let Some(slot) = theirs.and_then(|t| back.get_mut(t)) {
                *slot = Some(mine);
            }
        }
        self.clones = None;
        let grafted: HashSet<usize> = self.tree.graft(tree, &mut back).into_iter().collect();
        self.add_columns(file);
        for (theirs, mine) in back.iter().enumerate() {
            let Some(mine) = mine.filter(|m| grafted.contains(m)) else { continue };
            if found.map.len() <= mine {
                found.map.resize(mine + 1, None);
            }
            if let Some(slot) = found.map.get_mut(mine) {
                *slot = Some(theirs);
            }
            if self.entries > 0 {
                self.fill_in(mine, 0, self.entries, Missing::Branch)?;
            }
            // The pieces are taken from the other tree's branch below.
            if let (Some(own), Some(hollow)) = (self.tree.branches.get_mut(mine), tree.branches.get_mut(theirs)) {
                hollow.baskets = std::mem::take(&mut own.baskets);
                hollow.embedded = std::mem::take(&mut own.embedded);
                hollow.file_name = std::mem::take(&mut own.file_name);
            }
        }
        Ok(())
    }

    /// Raises the maxima of counters and collections to the largest of all inputs: readers allocate memory by them.
    fn raise_maxima(&mut self, other: &Tree, map: &[Option<usize>]) {
        for (i, theirs) in map.iter().enumerate() {
            let Some(their_branch) = theirs.and_then(|t| other.branches.get(t)) else { continue };
            let Some(branch) = self.tree.branches.get_mut(i) else { continue };
            crate::commit::tree::leaf_maxima::raise_branch(branch, their_branch);
            for (&mine, &theirs) in branch.leaves.iter().zip(&their_branch.leaves) {
                if let (Some(mine), Some(theirs)) = (self.tree.leaves.get_mut(mine), other.leaves.get(theirs)) {
                    crate::commit::tree::leaf_maxima::raise_leaf(mine, theirs);
                }
            }
        }
    }

    /// Drops the branches that not all inputs have, with those below them and those that they count.
    pub fn drop_left_out(&mut self) -> Result<()> {
        if self.left_out.is_empty() && self.left_behind.is_empty() {
            return Ok(());
        }
        let names = |builder: &Self, flags: &[bool]| -> Vec<String> {
            let paths = schema::paths(&builder.tree);
            paths.iter().zip(flags).filter(|(p, f)| **f && !p.is_empty()).map(|(p, _)| schema::path_text(p)).collect()
        };
        let left_out = std::mem::take(&mut self.left_out);
        let mut drop: Vec<bool> = (0..self.columns.len()).map(|i| left_out.contains(&i)).collect();
        let mut named = names(self, &drop);
        named.extend(std::mem::take(&mut self.left_behind));
        let places = self.tree.places();
        loop {
            let dropped = |i: usize| drop.get(i).copied().unwrap_or(false);
            let depends = |i: usize| {
                let parent = self.tree.branches.get(i).and_then(|b| b.parent);
                parent.is_some_and(dropped) || places.counters(&self.tree, i).into_iter().any(dropped)
            };
            let more: Vec<usize> = (0..drop.len()).filter(|&i| !dropped(i) && depends(i)).collect();
            if more.is_empty() {
                break;
            }
            for i in more {
                if let Some(flag) = drop.get_mut(i) {
                    *flag = true;
                }
            }
        }
        let keep: Vec<bool> = drop.iter().map(|d| !d).collect();
        let kept = self.tree.select(&keep);
        let mut flags = kept.into_iter();
        self.columns.retain(|_| flags.next().unwrap_or(false));
        for (i, column) in self.columns.iter_mut().enumerate() {
            column.branch = i;
        }
        if self.columns.is_empty() {
            return Err(Error::differs(format!("tree {}: its inputs have no branch in common", self.request.path)));
        }
        if !named.is_empty() {
            let named = named.join(", ");
            self.notes
                .push(format!("tree {}: branches that are not in all inputs are left out: {named}", self.request.path));
        }
        Ok(())
    }
}

/// Whether neither a tree nor any of its branches has entries.
fn is_empty(tree: &Tree) -> bool {
    tree.entries == 0 && tree.branches.iter().all(|b| b.baskets.is_empty())
}
