//! Branches that hold entries behind the last one of their tree.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::{first, have};
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// Branches that hold entries behind the last one of their tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongBranches {
    /// Entries of the tree.
    pub entries: u64,
    /// How many branches.
    pub branches: u64,
    /// The first of them, with their entries.
    pub examples: Vec<String>,
}

impl Rule for LongBranches {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree().filter(|tree| tree.held.is_none())?;
        let long = tree.branches.iter().filter(|branch| branch.beyond > 0);
        let long: Vec<String> = long.map(|branch| format!("{}: {} more", branch.name, branch.beyond)).collect();
        let fault = Self { entries: tree.entries, branches: long.len() as u64, examples: first(&long) };
        (!long.is_empty()).then(|| Detected::new(fault, Cost::default()))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} more than the tree's {} entries ({}): no reader of the tree sees them.",
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
    fn branches_are_named_with_what_nobody_sees() {
        let mut long = tree((0..7).map(|_| branch("a", 1)).collect());
        for branch in &mut long.branches {
            branch.beyond = 5;
        }
        let finding = only(long);
        let examples = vec!["a: 5 more".to_owned(); 5];
        assert_eq!(finding.fault, LongBranches { entries: 1000, branches: 7, examples }.into());
        assert!(finding.text.starts_with("7 branches have more than"), "{}", finding.text);
        assert!(!finding.cost.danger);
    }
}
