//! The entries of each tree that a rewrite keeps, and the objects that count entries by their old numbers: friends that no
//! longer align are dropped, and entry lists get a note. No tree is planned here.

use std::path::Path;
use std::sync::Arc;

use dataset::glob::ColumnPattern;
use dataset::tree::FriendName;
use dataset::{EntryFilter, EntrySet};
use objects::ObjectPlan;
use rootfile::{Error, Hint, Result};

use super::predicate::{OpenColumns, SourceTree, entries_where};
use crate::execute::budget::Budget;
use crate::plan::TablePlan;

/// Classes of objects that list entries of trees by their numbers.
const ENTRY_LISTS: [&str; 3] = ["TEntryList", "TEventList", "TEntryListArray"];

/// The selection of a rewrite: resolved tree by tree, then checked for parts that no tree matched.
pub(crate) struct EntrySelection<'a> {
    filter: &'a EntryFilter,
    /// For each condition, whether a tree has its column.
    found: Vec<bool>,
    trees: Vec<String>,
}

/// The selection in one tree.
#[derive(Default)]
pub(crate) struct TreeSelection {
    filter: EntryFilter,
    /// The entries for which all conditions are true.
    condition: Option<EntrySet>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl<'a> EntrySelection<'a> {
    pub fn new(filter: &'a EntryFilter) -> Self {
        Self { filter, found: vec![false; filter.conditions.len()], trees: Vec::new() }
    }

    /// The selection in a tree or an RNTuple. Reads the columns that are conditions.
    pub fn for_tree(&mut self, tree: &SourceTree<'_>) -> Result<TreeSelection> {
        self.for_table(tree.path, &|filter| tree.open(filter), tree.budget)
    }

    /// The selection in a table of any container, whose columns `open` opens.
    pub fn for_table(&mut self, path: &str, open: OpenColumns<'_>, budget: Budget) -> Result<TreeSelection> {
        self.trees.push(path.to_owned());
        let mut condition: Option<EntrySet> = None;
        let mut lacking = Vec::new();
        for (pattern, found) in self.filter.conditions.iter().zip(&mut self.found) {
            match entries_where(path, open, budget, pattern)? {
                None => lacking.push(pattern.as_str()),
                Some(entries) => {
                    *found = true;
                    condition = Some(condition.map_or_else(|| entries.clone(), |before| before.intersection(&entries)));
                }
            }
        }
        let mut notes = Vec::new();
        if !lacking.is_empty() {
            let lacking = lacking.join(", ");
            notes.push(format!("tree {path} has no column {lacking}: none of its entries is left out for that"));
        }
        Ok(TreeSelection { filter: self.filter.for_tree(path), condition, notes })
    }

    /// Fails if a tree pattern or a condition matched no tree.
    pub fn finish(&self) -> Result<()> {
        let of = || if self.trees.is_empty() { "no tree".to_owned() } else { self.trees.join(", ") };
        if let Some(tree) = self.filter.unmatched_pattern(&self.trees) {
            let message = format!("--entries {}=: no such tree; there are: {}", tree.as_str(), of());
            return Err(Error::request(message).hint(Hint::named("entries")));
        }
        match self.filter.conditions.iter().zip(&self.found).find(|(_, found)| !**found) {
            Some((pattern, _)) => Err(lacks(pattern, &of())),
            None => Ok(()),
        }
    }
}

fn lacks(pattern: &ColumnPattern, trees: &str) -> Error {
    Error::request(format!("--where {}: no such column in {trees}", pattern.as_str())).hint(Hint::named("where"))
}

impl TreeSelection {
    /// Whether all entries are kept.
    pub fn is_all(&self) -> bool {
        self.condition.is_none() && self.filter.keeps_all()
    }

    /// The set of entries, in a table that has `all`.
    pub fn entries(&self, all: u64) -> Result<EntrySet> {
        let named = self.filter.resolve(all)?;
        Ok(match (named, &self.condition) {
            (Some(named), Some(condition)) => named.intersection(condition),
            (Some(named), None) => named,
            (None, Some(condition)) => condition.clone(),
            (None, None) => EntrySet::range(0..all),
        })
    }
}

/// A tree of the output, some of whose entries may be left out, and what is said of it.
pub(crate) struct SelectedTree<'a> {
    pub path: &'a str,
    pub plan: &'a mut TablePlan,
    pub notes: &'a mut Vec<String>,
    pub lost: &'a mut Vec<String>,
}

/// Drops friends whose entries no longer align, and notes entry lists, which keep the old numbers.
pub(crate) fn drop_misaligned_friends(plans: &mut [SelectedTree<'_>], own: &Path, objects: &ObjectPlan) {
    let about = |SelectedTree { path, plan, .. }: &SelectedTree<'_>| {
        ((*path).to_owned(), plan.selected.clone(), plan.tree.tree_index.is_some())
    };
    let trees: Vec<(String, Option<Arc<EntrySet>>, bool)> = plans.iter().map(about).collect();
    if trees.iter().all(|(_, chosen, _)| chosen.is_none()) {
        return;
    }
    for SelectedTree { path, plan, lost, .. } in plans.iter_mut() {
        let still_aligned = |friend: &FriendName| {
            let here = friend.file.is_empty() || Path::new(&friend.file).file_name() == own.file_name();
            let tree = trees.iter().find(|(path, ..)| here && path == friend.tree.trim_start_matches('/'));
            match tree {
                // A friend with an index is looked up by it, whatever the entry numbers.
                Some((_, chosen, indexed)) => *indexed || *chosen == plan.selected,
                None => plan.selected.is_none(),
            }
        };
        let friends = plan.tree.friends();
        let names: Vec<&str> = friends.iter().filter(|f| !still_aligned(f)).map(|f| f.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        lost.push(format!(
            "tree {path}: its friends {} are left out: their entries no longer align with the selected ones",
            names.join(", ")
        ));
        let stays: Vec<FriendName> = friends.iter().filter(|f| still_aligned(f)).cloned().collect();
        plan.tree.retain_friends(|friend| stays.contains(friend));
    }
    let entries =
        objects.directories.iter().flat_map(|d| d.entries.iter().map(|entry| (d.path_of(&entry.name), entry)));
    let lists: Vec<String> =
        entries.filter(|(_, entry)| ENTRY_LISTS.contains(&entry.class.as_str())).map(|(path, _)| path).collect();
    let first = plans.iter_mut().find(|tree| tree.plan.selected.is_some());
    if let (false, Some(tree)) = (lists.is_empty(), first) {
        tree.notes.push(format!(
            "entry lists are copied unchanged and keep the entry numbers of the input: {}",
            lists.join(", ")
        ));
    }
}
