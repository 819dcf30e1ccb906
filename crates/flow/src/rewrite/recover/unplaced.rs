//! Baskets whose tree has no record: grouped for the report, and the error if nothing can be recovered.

use std::collections::BTreeMap;

use super::report::Unplaced;
use super::scan_result::FoundBasket;

/// Baskets without a tree, by tree name and branch.
pub(super) fn group(baskets: &[FoundBasket]) -> Vec<Unplaced> {
    let mut groups: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    for basket in baskets {
        let group = groups.entry((&basket.tree, &basket.branch)).or_default();
        *group = (group.0 + 1, group.1 + basket.entries);
    }
    let list = groups.into_iter().map(|((tree, branch), (baskets, entries))| Unplaced {
        tree: tree.to_owned(),
        branch: branch.to_owned(),
        baskets,
        entries,
    });
    list.collect()
}

/// Most branches that a message names.
const MOST_NAMED: usize = 5;

/// The message if nothing can be recovered.
pub(super) fn refusal(unplaced: &[Unplaced], has_template: bool) -> String {
    if unplaced.is_empty() {
        return "nothing to recover was found: no tree, no basket, no object".to_owned();
    }
    let mut there = unplaced.iter().take(MOST_NAMED).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    if let Some(more @ 1..) = unplaced.len().checked_sub(MOST_NAMED) {
        there += &format!("; and {more} more branches");
    }
    let what = match has_template {
        true => "and the file given by --like has no tree of that name",
        false => "so the types of its branches are unknown: give --like FILE, with a file from the same job",
    };
    format!("no tree's record was written to it, or none is left, {what}. Found: {there}")
}
