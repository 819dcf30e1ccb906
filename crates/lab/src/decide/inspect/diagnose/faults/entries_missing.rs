//! A tree that counts more entries than any of its branches holds.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// A tree that counts more entries than any of its branches holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntriesMissing {
    /// Entries of the tree.
    pub entries: u64,
    /// Entries up to the last one in a branch.
    pub held: u64,
}

impl Rule for EntriesMissing {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        Some(Detected::new(Self { entries: tree.entries, held: tree.held? }, Cost::DANGER))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "The tree counts {} entries, its branches hold {}: the count is damaged, or baskets are lost. \
             `basketry recover` takes what is there.",
            self.entries, self.held
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, faults, report, tree};

    #[test]
    fn a_count_that_no_branch_reaches_is_one_fault() {
        let mut short = tree(vec![branch("a", 1)]);
        short.held = Some(900);
        short.branches[0].held = Some(900);
        assert_eq!(faults(&report(vec![short])), [EntriesMissing { entries: 1000, held: 900 }.into()]);
    }
}
