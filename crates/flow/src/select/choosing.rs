//! Which entries of each tree a rewrite keeps: what is asked of it, the notes on what that leaves behind, and what of a
//! file counts entries of trees and is not right any more: friends and entry lists. It plans no tree.

use std::path::Path;
use std::sync::Arc;

use dataset::glob::ColumnPattern;
use dataset::tree::FriendName;
use rootfile::{Error, Result};

use super::condition::{self, Table};
use super::entries::EntryFilter;
use crate::objects::ObjectPlan;
use crate::plan::TablePlan;
use crate::table::entry_set::Selected;

/// Classes of objects that list entries of trees by their numbers.
const LISTS: [&str; 3] = ["TEntryList", "TEventList", "TEntryListArray"];

/// What is asked of all trees, and which of it they could follow.
pub(crate) struct Choosing<'a> {
    filter: &'a EntryFilter,
    met: Vec<bool>,
    trees: Vec<String>,
}

/// What is asked of one tree.
#[derive(Default)]
pub(crate) struct Wanted {
    of_tree: EntryFilter,
    holds: Option<Selected>,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl<'a> Choosing<'a> {
    pub fn new(filter: &'a EntryFilter) -> Self {
        Self { filter, met: vec![false; filter.conditions.len()], trees: Vec::new() }
    }

    /// What is asked of a tree.
    pub fn of(&mut self, table: &Table<'_>) -> Result<Wanted> {
        self.trees.push(table.path.to_owned());
        let mut holds: Option<Selected> = None;
        let mut lacking = Vec::new();
        for (pattern, met) in self.filter.conditions.iter().zip(&mut self.met) {
            match condition::holds(table, pattern)? {
                None => lacking.push(pattern.as_str()),
                Some(found) => {
                    *met = true;
                    holds = Some(holds.map_or_else(|| found.clone(), |before| before.and(&found)));
                }
            }
        }
        let mut notes = Vec::new();
        if !lacking.is_empty() {
            let lacking = lacking.join(", ");
            notes
                .push(format!("tree {} has no column {lacking}: none of its entries is left out for that", table.path));
        }
        Ok(Wanted { of_tree: self.filter.of_tree(table.path), holds, notes })
    }

    /// Whether all that was asked for was asked of some tree.
    pub fn finish(&self) -> Result<()> {
        let of = || if self.trees.is_empty() { "no tree".to_owned() } else { self.trees.join(", ") };
        if let Some(tree) = self.filter.idle(&self.trees) {
            return Err(Error::request(format!("--entries {}=: no such tree; there are: {}", tree.as_str(), of())));
        }
        match self.filter.conditions.iter().zip(&self.met).find(|(_, met)| !**met) {
            Some((pattern, _)) => Err(lacks(pattern, &of())),
            None => Ok(()),
        }
    }
}

fn lacks(pattern: &ColumnPattern, trees: &str) -> Error {
    Error::request(format!("--where {}: no such column in {trees}", pattern.as_str()))
}

impl Wanted {
    /// Whether all entries are kept.
    pub fn is_all(&self) -> bool {
        self.holds.is_none() && self.of_tree.keeps_all()
    }

    /// The entries of a table that has so many.
    pub fn of(&self, all: u64) -> Result<Selected> {
        let asked = self.of_tree.chosen(all)?;
        Ok(match (asked, &self.holds) {
            (Some(asked), Some(holds)) => asked.and(holds),
            (Some(asked), None) => asked,
            (None, Some(holds)) => holds.clone(),
            (None, None) => Selected::range(0..all),
        })
    }
}

/// Takes friends away that would go with other entries than before, and says what else counts entries as they were.
pub(crate) fn settle(plans: &mut [(&str, &mut TablePlan)], own: &Path, objects: &ObjectPlan) {
    let chosen = |plan: &TablePlan| plan.selected.clone();
    let trees: Vec<(String, Option<Arc<Selected>>, bool)> =
        plans.iter().map(|(path, plan)| ((*path).to_owned(), chosen(plan), plan.tree.tree_index.is_some())).collect();
    if trees.iter().all(|(_, chosen, _)| chosen.is_none()) {
        return;
    }
    for (path, plan) in plans.iter_mut() {
        let goes_along = |friend: &FriendName| {
            let here = friend.file.is_empty() || Path::new(&friend.file).file_name() == own.file_name();
            let tree = trees.iter().find(|(path, ..)| here && path == friend.tree.trim_start_matches('/'));
            match tree {
                // What is found by its index stays right.
                Some((_, chosen, indexed)) => *indexed || *chosen == plan.selected,
                None => plan.selected.is_none(),
            }
        };
        let friends = plan.tree.friends();
        let names: Vec<&str> = friends.iter().filter(|f| !goes_along(f)).map(|f| f.name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        plan.notes.push(format!(
            "tree {path}: its friends {} are left out: entries of one and the other do not go together any more",
            names.join(", ")
        ));
        let stays: Vec<FriendName> = friends.iter().filter(|f| goes_along(f)).cloned().collect();
        plan.tree.retain_friends(|friend| stays.contains(friend));
    }
    let entries =
        objects.directories.iter().flat_map(|d| d.entries.iter().map(|entry| (d.path_of(&entry.name), entry)));
    let lists: Vec<String> =
        entries.filter(|(_, entry)| LISTS.contains(&entry.class.as_str())).map(|(path, _)| path).collect();
    let first = plans.iter_mut().find(|(_, plan)| plan.selected.is_some());
    if let (false, Some((_, plan))) = (lists.is_empty(), first) {
        plan.notes.push(format!(
            "lists of entries are carried over as they are, by the numbers before: {}",
            lists.join(", ")
        ));
    }
}
