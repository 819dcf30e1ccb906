//! The aliases of joined tables: those that all files have alike, and what the others are. It reads no entries.

use super::dataset::Dataset;
use crate::plan::tree::attached::{Alias, AliasConflicts, aliases, compare_aliases};

/// The aliases of the first file; an RNTuple has none.
pub(super) fn aliases_of(dataset: &Dataset) -> Vec<Alias> {
    dataset.tree().map_or_else(Vec::new, aliases)
}

/// Finds the aliases that not all of the tables with entries have alike, and tells each table.
pub(super) fn compare_aliases_of(datasets: &mut [Dataset]) {
    let mut found = AliasConflicts::new();
    let mut tables = datasets.iter().filter(|dataset| dataset.entries() > 0);
    let name = |dataset: &Dataset| dataset.paths().first().cloned().unwrap_or_default();
    if let Some(first) = tables.next() {
        found.extend(first.alias_conflicts.clone());
        for other in tables {
            found.extend(other.alias_conflicts.clone());
            compare_aliases(&aliases_of(first), &name(first), &aliases_of(other), &name(other), &mut found);
        }
    }
    datasets.iter_mut().for_each(|dataset| dataset.alias_conflicts.clone_from(&found));
}
