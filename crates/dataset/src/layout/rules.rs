//! The rules of a layout for one tree and its columns, indexed for many look-ups.
//!
//! A layout may have a rule for each of ten thousand columns, as those of `tune` do. So rules for named columns are
//! found by name, and only patterns are tried one by one.

use std::collections::HashMap;

use super::{ColumnLayout, Layout, TreeLayout};
use crate::column_names::column_names;
use crate::glob::{ColumnPattern, without_dimensions};

/// The part of a [`Layout`] that applies to one tree.
#[derive(Clone, Debug)]
pub struct TreeRules<'a> {
    /// The keys of the tree.
    pub tree: TreeLayout,
    path: String,
    /// The keys of columns without a rule.
    common: ColumnLayout,
    rules: &'a [(ColumnPattern, ColumnLayout)],
    /// The rules for a name, in order.
    named: HashMap<&'a str, Vec<usize>>,
    /// The rules with patterns, in order.
    open: Vec<usize>,
}

impl Layout {
    /// The rules for the columns of the tree with this path, for many look-ups.
    pub fn rules(&self, tree: &str) -> TreeRules<'_> {
        TreeRules::new(self, tree)
    }
}

impl<'a> TreeRules<'a> {
    fn new(layout: &'a Layout, path: &str) -> Self {
        let tree = layout.resolve_tree(path);
        let (mut named, mut open) = (HashMap::<_, Vec<_>>::new(), Vec::new());
        for (number, (pattern, _)) in layout.columns().iter().enumerate() {
            match pattern.names(path) {
                Some(names) => names.into_iter().for_each(|name| named.entry(name).or_default().push(number)),
                None => open.push(number),
            }
        }
        Self { common: tree.columns(), tree, path: path.to_owned(), rules: layout.columns(), named, open }
    }

    /// The keys of a column. `lineage` is its own name and then those of its parents, up to the top: a rule for one of its
    /// [names](column_names) applies to it.
    pub fn column(&self, lineage: &[&str]) -> ColumnLayout {
        if self.rules.is_empty() {
            return self.common.clone();
        }
        let names = column_names(lineage);
        let named = names.iter().flat_map(|name| [name.as_str(), without_dimensions(name)]);
        let mut numbers: Vec<usize> = named.filter_map(|name| self.named.get(name)).flatten().copied().collect();
        let matches = |pattern: &ColumnPattern| names.iter().any(|name| pattern.matches(&self.path, name));
        numbers.extend(self.open.iter().filter(|&&n| self.rules.get(n).is_some_and(|(pattern, _)| matches(pattern))));
        numbers.sort_unstable();
        numbers.dedup();
        let mut merged = self.common.clone();
        for (_, keys) in numbers.into_iter().filter_map(|number| self.rules.get(number)) {
            merged.overlay(keys);
        }
        merged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ByteSize;

    #[test]
    fn later_rules_win_whether_found_by_name_or_pattern() {
        let layout = Layout::from_toml(
            "compression = \"zstd:5\"\n[column.pt]\nbasket = \"1kB\"\n[column.\"*t\"]\nbasket = \"2kB\"\n\
             [column.\"{eta,fX}\"]\nbasket = \"3kB\"\n[column.\"Runs/eta\"]\nbasket = \"4kB\"\n[column.muon]\nbasket = \"5kB\"",
        )
        .unwrap();
        let rules = layout.rules("Events");
        let basket = |lineage: &[&str]| rules.column(lineage).basket.map(|ByteSize(size)| size / 1000);
        assert_eq!(basket(&["pt"]), Some(2), "the pattern comes after the name");
        assert_eq!(basket(&["eta"]), Some(3), "the name comes after the pattern, and the last is for another tree");
        assert_eq!(basket(&["fX[3]"]), Some(3), "without its dimensions");
        assert_eq!(basket(&["muon", "pt"]), Some(5), "its parent has a rule");
        assert_eq!(basket(&["phi"]), None);
        assert_eq!(rules.column(&["phi"]).compression, Some("zstd:5".parse().unwrap()));
        assert_eq!(layout.rules("Runs").column(&["eta"]).basket, Some(ByteSize(4000)));
    }
}
