//! Clusters too large to be held in memory.

use serde::{Deserialize, Serialize};

use super::clusters_not_recorded::ClustersNotRecorded;
use crate::inspect::diagnose::baskets::{GOOD_CLUSTER, in_good_clusters};
use crate::inspect::diagnose::format::size;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;

/// A read cache that jobs on a grid can still afford.
const HUGE_CLUSTER: u64 = 200_000_000;

/// Clusters too large to be held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HugeClusters {
    /// Bytes on disk of the largest.
    pub largest_bytes: u64,
    /// Memory that a reader needs for it.
    pub read_memory: u64,
}

impl Rule for HugeClusters {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.table()?;
        if tree.largest_cluster <= HUGE_CLUSTER || ClustersNotRecorded::find(at).is_some() {
            return None;
        }
        let memory = tree.memory.read.saturating_sub(2 * GOOD_CLUSTER);
        let fault = Self { largest_bytes: tree.largest_cluster, read_memory: tree.memory.read };
        Some(Detected::new(fault, Cost { memory, ..Cost::default() }).priced(in_good_clusters(tree)))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "The largest cluster has {}: a job that reads it whole needs {} of memory.",
            size(self.largest_bytes),
            size(self.read_memory)
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
    fn a_cluster_that_jobs_cannot_hold_is_named() {
        let mut huge = tree(vec![branch("a", 1000)]);
        huge.largest_cluster = 400_000_000;
        huge.memory.read = 900_000_000;
        let finding = only(huge);
        assert_eq!(finding.fault, HugeClusters { largest_bytes: 400_000_000, read_memory: 900_000_000 }.into());
        assert_eq!(finding.cost.memory, 840_000_000);
    }
}
