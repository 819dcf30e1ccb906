//! Baskets that cross the start of a cluster.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::baskets::started;
use crate::inspect::diagnose::codecs::decompression;
use crate::inspect::diagnose::format::plural;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::on_disk;
use crate::inspect::fault_cost::Cost;
use crate::math::as_f64;

/// Baskets that cross the start of a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MisalignedClusters {
    /// How many.
    pub crossing: u64,
    /// Of how many.
    pub baskets: u64,
}

impl Rule for MisalignedClusters {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.tree()?;
        if tree.crossing < 10 || tree.crossing < tree.baskets / 20 {
            return None;
        }
        let of = |branch: &BranchReport| {
            let summary = branch.basket_summary;
            decompression(branch, at.setting()) * as_f64(summary.crossing) / as_f64(summary.count.max(1))
        };
        let fault = Self { crossing: tree.crossing, baskets: tree.baskets };
        let cost = Cost { shared_seconds: on_disk(tree).map(of).sum(), ..Cost::default() };
        // Baskets end at the end of a cluster, so each crossing basket becomes two.
        Some(Detected::new(fault, cost).priced(started(tree.crossing)))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} of {} cross the start of a cluster: jobs and threads that share the tree by clusters \
             fetch and decompress them twice.",
            self.crossing,
            plural(self.baskets, "basket")
        )
    }

    fn remedy(&self, at: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::clusters(at.table()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{branch, only, tree};

    #[test]
    fn crossing_baskets_cost_those_who_share_a_tree() {
        let mut crossing = branch("a", 100);
        crossing.basket_summary.crossing = 50;
        let mut tree = tree(vec![crossing]);
        tree.crossing = 50;
        let finding = only(tree);
        assert_eq!(finding.fault, MisalignedClusters { crossing: 50, baskets: 100 }.into());
        // One thread that reads all of it decompresses nothing twice.
        assert!(finding.cost.shared_seconds > 0.0 && finding.cost.read_seconds == 0.0);
    }
}
