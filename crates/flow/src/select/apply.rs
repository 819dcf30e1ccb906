//! The entries of each table that a rewrite keeps. No table is planned here.

use dataset::glob::ColumnPattern;
use dataset::{EntryFilter, EntrySet};
use rootfile::{Error, Hint, Result};

use super::predicate::{OpenColumns, SourceTree, entries_where};
use crate::execute::budget::Budget;

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
