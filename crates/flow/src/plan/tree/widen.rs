//! Branches whose leaves have numbers of other types in a further input (`--widen`): they are joined in the smallest type that
//! holds the numbers of all inputs without a loss, whatever their order. Entries become that type when their baskets are loaded.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::meaning::Meanings;
use dataset::recast::Recast;
use dataset::table::piece::Piece;
use dataset::tree::Tree;
use dataset::tree::make::LeafNumber;

use super::builder::{InputNumbers, LARGEST_RECAST, PlanBuilder};
use super::schema::{BranchPath, Comparison, Described, paths};
use crate::table::tree::default_entry::{default_entry, leaf_width};

impl PlanBuilder<'_> {
    /// Whether the numbers of one of the branches that differ can be joined in a wider type.
    pub fn can_widen(&self, found: &Comparison, other: Described<'_>) -> bool {
        let theirs = |i: usize| found.map.get(i).copied().flatten();
        found.changed.iter().any(|&i| theirs(i).is_some_and(|theirs| self.joined_numbers(i, (theirs, other)).is_some()))
    }

    /// Takes note of the types of numbers that another input has in branches which are wider than those of some inputs.
    pub fn note_numbers(&mut self, other: &Tree, map: &[Option<usize>]) {
        for (i, known) in &mut self.widened {
            if let Some(theirs) = map.get(*i).copied().flatten() {
                add_numbers(known, &other.leaf_numbers(theirs));
            }
        }
    }

    /// The types that leaves must have for the numbers of all inputs, where they differ; and the types in the inputs. `None` if
    /// the branches differ in more than numbers, if no type holds all, or if their entries cannot be decoded alone.
    fn joined_numbers(
        &self,
        i: usize,
        (theirs, other): (usize, Described<'_>),
    ) -> Option<(Vec<Option<LeafNumber>>, InputNumbers)> {
        let meanings = (Meanings::new(&self.tree, &self.infos), Meanings::new(other.tree, other.infos));
        let (branch, their) = (self.tree.branches.get(i)?, other.tree.branches.get(theirs)?);
        let differs = meanings.0.of(branch).differs_in_numbers(&meanings.1.of(their))?;
        let own = self.tree.leaf_numbers(i).into_iter().map(|number| number.into_iter().collect());
        let mut inputs = self.widened.get(&i).cloned().unwrap_or_else(|| own.collect());
        add_numbers(&mut inputs, &other.tree.leaf_numbers(theirs));
        let wanted = |(differs, numbers): (bool, &Vec<LeafNumber>)| match differs {
            true => LeafNumber::joined(numbers).map(Some),
            false => Some(None),
        };
        let numbers = differs.into_iter().zip(&inputs).map(wanted).collect::<Option<Vec<_>>>()?;
        let plans = [ColumnPlan::new(&self.tree, i, &self.infos), ColumnPlan::new(other.tree, theirs, other.infos)];
        let can = |plan: &ColumnPlan| Recast::new(plan.clone(), plan.clone()).is_ok();
        (self.may_recast(i, (theirs, other.tree)) && plans.iter().all(can)).then_some((numbers, inputs))
    }

    /// Gives the leaves of a branch the types that hold the numbers of all inputs so far and of another one.
    pub fn widen(&mut self, i: usize, (theirs, other): (usize, Described<'_>)) -> bool {
        let Some((numbers, inputs)) = self.joined_numbers(i, (theirs, other)) else { return false };
        let own = ColumnPlan::new(&self.tree, i, &self.infos);
        let from = ColumnPlan::new(other.tree, theirs, other.infos);
        let changes = [self.tree.widening_changes(i, &numbers), other.tree.widening_changes(theirs, &numbers)];
        let before = self.widths(i);
        self.tree.widen_leaves(i, &numbers, (other.tree, theirs));
        let to = ColumnPlan::new(&self.tree, i, &self.infos);
        let larger = self.widths(i).into_iter().zip(before).map(|(now, before)| now.div_ceil(before.max(1))).max();
        let larger = larger.map_or(1, |larger| (larger as u64).min(LARGEST_RECAST));
        if changes[0] && !self.recast_earlier(i, (own, &to), larger) {
            return false;
        }
        if changes[1] {
            let Ok(recast) = Recast::new(from, to) else { return false };
            self.recasts.insert(i, Arc::new(recast));
        }
        self.widened.insert(i, inputs);
        true
    }

    /// Bytes of the numbers of each leaf.
    fn widths(&self, i: usize) -> Vec<usize> {
        let leaves = self.tree.branches.get(i).map(|branch| branch.leaves.iter()).into_iter().flatten();
        leaves.filter_map(|&leaf| self.tree.leaves.get(leaf)).map(leaf_width).collect()
    }

    /// Recasts the entries of a branch so far to its new form, which is at most so many times as large.
    pub fn recast_earlier(&mut self, i: usize, (own, to): (ColumnPlan, &ColumnPlan), larger: u64) -> bool {
        let (Some(column), Some(branch)) = (self.columns.get_mut(i), self.tree.branches.get(i)) else { return false };
        for earlier in column.source.recasts.values_mut() {
            let Ok(again) = earlier.to(to.clone()) else { return false };
            *earlier = Arc::new(again);
        }
        // Where all entries so far are recast already, no input has the present type, and the wider one need not hold it.
        let recasts = &mut column.source.recasts;
        let files = column.source.pieces.iter().filter_map(Piece::file);
        let as_now: BTreeSet<u32> = files.filter(|file| !recasts.contains_key(file)).collect();
        if !as_now.is_empty() {
            let Ok(ours) = Recast::new(own, to.clone()).map(Arc::new) else { return false };
            recasts.extend(as_now.into_iter().map(|file| (file, Arc::clone(&ours))));
        }
        if column.source.fill.is_some() {
            let Ok(entry) = default_entry(&self.tree, branch) else { return false };
            column.source.fill = Some(entry);
        }
        #[expect(clippy::cast_precision_loss, reason = "a small number")]
        let ratio = larger as f64;
        column.source.expansion *= ratio;
        column.source.tot_bytes = column.source.tot_bytes.saturating_mul(larger);
        true
    }

    /// What notes say of branches that hold wider numbers than some inputs, by the branch's path.
    pub fn widened_texts(&mut self) -> Vec<(BranchPath, String)> {
        let mut widened: Vec<_> = std::mem::take(&mut self.widened).into_iter().collect();
        widened.sort_unstable_by_key(|(i, _)| *i);
        let paths = if widened.is_empty() { Vec::new() } else { paths(&self.tree) };
        let mut all = Vec::new();
        for (i, inputs) in widened {
            let (Some(branch), Some(path)) = (self.tree.branches.get(i), paths.get(i)) else { continue };
            let leaves = branch.leaves.iter().filter_map(|&leaf| self.tree.leaves.get(leaf));
            let texts = leaves.zip(inputs).filter(|(_, numbers)| numbers.len() > 1).map(|(leaf, numbers)| {
                let name = match leaf.named.name == branch.name() {
                    true => branch.name().to_owned(),
                    false => format!("{}.{}", branch.name(), leaf.named.name),
                };
                let inputs = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
                let wider = LeafNumber::of(leaf).map_or_else(String::new, |number| number.to_string());
                let tree = self.request.path;
                (path.clone(), format!("tree {tree}: {name} is written as {wider}, since the inputs have {inputs}"))
            });
            all.extend(texts);
        }
        all
    }

    /// Notes what is said of branches that the tree still has.
    pub fn note_kept(&mut self, texts: Vec<(BranchPath, String)>) {
        if !texts.is_empty() {
            let kept: HashSet<BranchPath> = paths(&self.tree).into_iter().collect();
            self.notes.extend(texts.into_iter().filter(|(path, _)| kept.contains(path)).map(|(_, text)| text));
        }
    }
}

/// Adds the types of the leaves of an input.
fn add_numbers(known: &mut InputNumbers, theirs: &[Option<LeafNumber>]) {
    for (known, theirs) in known.iter_mut().zip(theirs) {
        if let Some(number) = theirs.filter(|number| !known.contains(number)) {
            known.push(number);
        }
    }
}
