//! A large tree that does not say where its clusters begin.

use serde::{Deserialize, Serialize};

use crate::inspect::contents::ClustersKnown;
use crate::inspect::diagnose::baskets::{GOOD_BASKET, GOOD_CLUSTER, in_good_clusters};
use crate::inspect::diagnose::codecs::decompression;
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::on_disk;
use crate::inspect::fault_cost::Cost;
use crate::math::as_f64;

/// A large tree that does not say where its clusters begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClustersNotRecorded {
    /// Starts at which all branches begin a basket.
    pub common_boundaries: u64,
}

impl Rule for ClustersNotRecorded {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.table()?;
        let clusters = tree.clusters.len() as u64;
        if tree.clusters_known != ClustersKnown::Estimated
            || tree.zip_bytes <= GOOD_CLUSTER
            || tree.common_boundaries > clusters
        {
            return None;
        }
        // Jobs that share the tree cut it inside baskets, and both neighbours decompress such a basket.
        let branches = on_disk(tree).count() as u64;
        let twice = as_f64(tree.tot_bytes.min(clusters * branches * GOOD_BASKET)) / as_f64(tree.tot_bytes.max(1));
        let shared_seconds = twice * on_disk(tree).map(|branch| decompression(branch, at.setting())).sum::<f64>();
        let fault = Self { common_boundaries: tree.common_boundaries };
        Some(Detected::new(fault, Cost { shared_seconds, ..Cost::default() }).priced(in_good_clusters(tree)))
    }

    fn sentence(&self, _: Words) -> String {
        "The tree does not record its clusters, and its branches do not begin baskets at the same entries: \
         parallel readers decompress baskets twice."
            .to_owned()
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
    fn a_large_tree_without_clusters_is_named() {
        let mut silent = tree(vec![branch("a", 10_000)]);
        silent.clusters_known = ClustersKnown::Estimated;
        let finding = only(silent);
        assert_eq!(finding.fault, ClustersNotRecorded { common_boundaries: 0 }.into());
        assert!(finding.command.is_some_and(|command| command.ends_with(" --cluster 15MB")));
    }
}
