//! Baskets in the tree's own record, which are read each time the tree is opened.

use serde::{Deserialize, Serialize};

use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds::EMBEDDED_BYTE;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{BYTES, embedded_bytes};
use crate::inspect::fault_cost::Cost;
use crate::math::as_f64;

/// Baskets in the tree's own record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmbeddedBaskets {
    /// How many.
    pub baskets: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Rule for EmbeddedBaskets {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        let bytes = embedded_bytes(tree);
        let baskets = tree.branches.iter().map(|branch| branch.embedded.len() as u64).sum();
        let cost = Cost { open_seconds: as_f64(bytes) * EMBEDDED_BYTE, ..Cost::default() };
        (bytes > 2 * BYTES && bytes > (tree.zip_bytes + bytes) / 10)
            .then(|| Detected::new(Self { baskets, bytes }, cost))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} with {} are in the tree's own record and are read each time the tree is opened.",
            plural(self.baskets, "basket"),
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
    use crate::inspect::contents::EmbeddedReport;
    use crate::inspect::diagnose::fixtures::{branch, only, tree};

    #[test]
    fn baskets_in_the_record_cost_each_opening_of_the_tree() {
        let mut inside = branch("a", 10);
        inside.embedded = vec![EmbeddedReport { index: 10, entries: 5, bytes: 5_000_000 }];
        let finding = only(tree(vec![inside]));
        assert_eq!(finding.fault, EmbeddedBaskets { baskets: 1, bytes: 5_000_000 }.into());
        // Who reads the baskets reads them elsewhere then.
        assert!(finding.cost.open_seconds > 0.0 && finding.cost.read_seconds == 0.0);
    }
}
