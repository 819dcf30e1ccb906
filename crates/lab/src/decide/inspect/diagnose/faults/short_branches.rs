//! Branches that hold fewer entries than their tree.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::format::{first, have};
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Branches that hold fewer entries than their tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShortBranches {
    /// Entries of the tree.
    pub entries: u64,
    /// How many branches.
    pub branches: u64,
    /// The first of them, with their entries.
    pub examples: Vec<String>,
}

impl Rule for ShortBranches {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        // A count that no branch reaches is one fault, not one of each branch.
        let tree = at.tree().filter(|tree| tree.held.is_none())?;
        let entries = tree.entries;
        let short = |branch: &BranchReport| Some(format!("{}: {} of {entries}", branch.name, branch.held?));
        let short: Vec<String> = tree.branches.iter().filter_map(short).collect();
        let fault = Self { entries, branches: short.len() as u64, examples: first(&short) };
        (!short.is_empty()).then(|| Detected::new(fault, Cost::DANGER))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} fewer than the tree's {} entries ({}): ROOT repeats old values for the others. A merge fills \
             them in with zeros and empty values.",
            have(self.branches),
            self.entries,
            self.examples.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, only, tree};

    #[test]
    fn branches_are_named_with_their_entries() {
        let mut short = tree(vec![branch("a", 1), branch("b", 1)]);
        short.branches[1].held = Some(900);
        let finding = only(short);
        let examples = vec!["b: 900 of 1000".to_owned()];
        assert_eq!(finding.fault, ShortBranches { entries: 1000, branches: 1, examples }.into());
        assert!(finding.text.starts_with("1 branch has fewer than the tree's 1000 entries"), "{}", finding.text);
        assert!(finding.cost.danger);
    }
}
