//! Older cycles of trees that were kept, by `AutoSave` or by a crash.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::TreeReport;
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Older cycles that were kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OldCycles {
    /// How many.
    pub cycles: u64,
    /// Bytes of their records.
    pub bytes: u64,
}

impl Rule for OldCycles {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        // An older cycle may be another tree; nothing replaced it.
        let saved = |tree: &&TreeReport| !tree.newest && !tree.is_another;
        let old = || at.trees.iter().filter(saved);
        let bytes = old().map(|tree| tree.metadata.bytes).sum();
        let fault = Self { cycles: old().count() as u64, bytes };
        (at.is_file() && at.is_much_of_file(bytes)).then(|| Detected::new(fault, Cost { bytes, ..Cost::default() }))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} of trees take {}: they are left by AutoSave or by a crash, and nothing reads them.",
            plural(self.cycles, "older cycle"),
            size(self.bytes)
        )
    }

    fn remedy(&self, _: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::rewrite("rewritten"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::diagnose;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, tree};

    #[test]
    fn what_a_newer_cycle_replaces_is_a_leftover() {
        let mut file = report(vec![tree(vec![branch("a", 10)])]);
        let mut old = tree(vec![branch("a", 5)]);
        old.newest = false;
        old.metadata.bytes = 1_000_000;
        let other = TreeReport { is_another: true, ..old.clone() };
        file.trees.extend([old, other]);
        assert_eq!(faults(&file), [OldCycles { cycles: 1, bytes: 1_000_000 }.into()]);
        // A rewrite keeps the newest cycle of a name, and says what it leaves out.
        let price = diagnose(&file).remove(0).price.unwrap();
        assert!(price.note.contains("lacks d/T;0, another tree"), "{price:?}");
    }
}
