//! The layout of a file: keys for all trees, for some trees, for some columns.

use std::str::FromStr;

use rootfile::{Error, Result};

use super::{ColumnLayout, TreeLayout};
use crate::glob::{ColumnPattern, TreePattern};

/// How the entries of trees are stored in a file.
///
/// Rules keep their order, and the last matching rule wins, key by key. A rule for columns overrides a rule for trees,
/// which overrides the common keys. Written and read as TOML:
///
/// ```toml
/// cluster      = "30MB"
/// compression  = "zstd:5"
/// [tree."MetaData*"]
/// basket       = "1kB"
/// [column."Muon_*"]
/// compression  = "lz4:4"
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The keys of trees without a rule.
    pub common: TreeLayout,
    trees: Vec<(TreePattern, TreeLayout)>,
    columns: Vec<(ColumnPattern, ColumnLayout)>,
}

impl Layout {
    /// The rules for trees, in order.
    pub fn trees(&self) -> &[(TreePattern, TreeLayout)] {
        &self.trees
    }

    /// The rules for columns, in order.
    pub fn columns(&self) -> &[(ColumnPattern, ColumnLayout)] {
        &self.columns
    }

    /// Adds a rule for trees at the end. If the pattern already has a rule, that rule moves to the end and the new keys
    /// override its keys.
    pub fn set_tree(&mut self, pattern: TreePattern, keys: &TreeLayout) {
        let mut rule = take(&mut self.trees, &pattern);
        rule.overlay(keys);
        self.trees.push((pattern, rule));
    }

    /// Adds a rule for columns at the end. If the pattern already has a rule, that rule moves to the end and the new
    /// keys override its keys.
    pub fn set_column(&mut self, pattern: ColumnPattern, keys: &ColumnLayout) {
        let mut rule = take(&mut self.columns, &pattern);
        rule.overlay(keys);
        self.columns.push((pattern, rule));
    }

    /// Adds rules for columns that have none yet, such as one for each column of a tree. Unlike [`Layout::set_column`]
    /// it does not search for an equal pattern.
    pub fn extend_columns(&mut self, rules: impl IntoIterator<Item = (ColumnPattern, ColumnLayout)>) {
        self.columns.extend(rules);
    }

    /// Adds the keys and rules of another layout at the end, so that they win.
    pub fn overlay(&mut self, other: &Self) {
        self.common.overlay(&other.common);
        for (pattern, keys) in &other.trees {
            self.set_tree(pattern.clone(), keys);
        }
        for (pattern, keys) in &other.columns {
            self.set_column(pattern.clone(), keys);
        }
    }

    /// The keys of the tree with this path in the file.
    pub fn resolve_tree(&self, tree: &str) -> TreeLayout {
        let mut merged = self.common.clone();
        for (_, keys) in self.trees.iter().filter(|(pattern, _)| pattern.matches(tree)) {
            merged.overlay(keys);
        }
        merged
    }

    /// Reads TOML.
    ///
    /// # Errors
    ///
    /// If the text is invalid, with line and column; for an unknown key the message lists the known ones.
    pub fn from_toml(text: &str) -> Result<Self> {
        toml::from_str(text).map_err(|e| Error::request(format!("layout: {}", e.to_string().trim_end())))
    }

    /// Writes TOML: keys in a fixed order, rules in their order.
    ///
    /// # Errors
    ///
    /// If the layout has two rules with the same pattern.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self).map_err(|e| Error::request(format!("layout: {e}")))
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::from_toml(text)
    }
}

fn take<P: PartialEq, K: Default>(rules: &mut Vec<(P, K)>, pattern: &P) -> K {
    match rules.iter().position(|(p, _)| p == pattern) {
        Some(at) => rules.remove(at).1,
        None => K::default(),
    }
}
