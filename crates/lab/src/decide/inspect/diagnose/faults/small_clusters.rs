//! Too many clusters for their contents.

use dataset::layout::ByteSize;
use serde::{Deserialize, Serialize};

use super::clusters_not_recorded::ClustersNotRecorded;
use super::huge_clusters::HugeClusters;
use crate::inspect::contents::BranchReport;
use crate::inspect::diagnose::baskets::{
    GOOD_BASKET, SMALL_CLUSTER, SMALLER_BASKET, WORTH, good_cluster, has_small_buffers, needless, parts,
};
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds::BASKET_BYTES;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::diagnose::sums::{on_disk, sizes};
use crate::inspect::fault_cost::Price;

/// Too many clusters for their contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SmallClusters {
    /// Clusters.
    pub clusters: u64,
    /// Mean bytes on disk.
    pub mean_bytes: u64,
}

impl Rule for SmallClusters {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let tree = at.table()?;
        let clusters = parts(tree);
        let mean_bytes = tree.zip_bytes / clusters.max(1);
        // Data that compress very well have good baskets in small clusters.
        let good = tree.tot_bytes / tree.baskets.max(1) > GOOD_BASKET / 3;
        if clusters < 20 || mean_bytes > SMALL_CLUSTER || good {
            return None;
        }
        if ClustersNotRecorded::find(at).is_some() || HugeClusters::find(at).is_some() {
            return None;
        }
        let baskets = on_disk(tree).map(|branch| branch.basket_summary.count).sum::<u64>();
        let left = tree.zip_bytes.div_ceil(good_cluster(sizes(tree)));
        let needed = on_disk(tree).map(|b| b.tot_bytes.div_ceil(GOOD_BASKET).max(left)).sum::<u64>();
        let extra = baskets.saturating_sub(needed);
        // Memory with larger clusters: one cluster, and its baskets, compressed and decompressed.
        let zip = tree.zip_bytes.saturating_sub(extra * BASKET_BYTES);
        let larger = |branch: &BranchReport| GOOD_BASKET.max(branch.basket_size).min(branch.tot_bytes / left.max(1));
        let baskets_then = on_disk(tree).map(larger).sum::<u64>();
        let then = good_cluster(sizes(tree)).min(zip) + baskets_then + baskets_then.min(zip);
        let are = if left == 1 { "is" } else { "are" };
        let price = Price {
            memory: then.saturating_sub(tree.memory.read),
            note: format!("{} {are} left for threads and jobs to share.", plural(left, "cluster")),
            ..Price::default()
        };
        // A few baskets more cost nothing.
        (extra * 4 > baskets && extra >= WORTH)
            .then(|| Detected::new(Self { clusters, mean_bytes }, needless(extra, at.overhead())).priced(price))
    }

    fn sentence(&self, words: Words) -> String {
        let Words { column, piece, .. } = words;
        format!(
            "{} of {} each: every {column} has a {piece} in each cluster, so {piece}s are small, and so are the units \
             of work of threads.",
            plural(self.clusters, "cluster"),
            size(self.mean_bytes)
        )
    }

    fn remedy(&self, at: &Diagnosed<'_>) -> Option<Remedy> {
        let clusters = Remedy::clusters(at.table());
        // Writers shrink buffers to the contents of small clusters.
        let small = at.tree().is_some_and(has_small_buffers);
        Some(if small { clusters.and("basket", ByteSize(GOOD_BASKET)) } else { clusters })
    }

    fn others(&self, at: &Diagnosed<'_>) -> Vec<Remedy> {
        let with = |basket| Remedy::clusters(at.table()).and("basket", ByteSize(basket));
        let one = at.table().map_or(0, |tree| tree.zip_bytes).max(SMALL_CLUSTER);
        let whole = Remedy::tree("clusters", "cluster", ByteSize(one)).and("basket", ByteSize(SMALLER_BASKET));
        vec![with(GOOD_BASKET), with(SMALLER_BASKET), whole]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::contents::ClustersKnown;
    use crate::inspect::diagnose::fixtures::{
        branch, faults, field, ntuple, only, only_ntuple, report, tree, with_ntuples,
    };

    #[test]
    fn small_clusters_are_a_fault_where_they_make_small_baskets() {
        // Baskets of 20 kB are good, in however many clusters.
        let mut small = tree(vec![branch("a", 1000)]);
        (small.clusters, small.cluster_count) = ((0..1000).collect(), 1000);
        assert_eq!(faults(&report(vec![small])), []);
        let one = BranchReport { tot_bytes: 5_000_000, zip_bytes: 2_500_000, ..branch("a", 1000) };
        let mut small = tree(vec![one]);
        (small.clusters, small.cluster_count) = ((0..1000).collect(), 1000);
        let finding = only(small.clone());
        assert_eq!(finding.fault, SmallClusters { clusters: 1000, mean_bytes: 2_500 }.into());
        assert_eq!(finding.price.unwrap().note, "1 cluster is left for threads and jobs to share.");
        // Buffers that a writer shrank to what small clusters held would keep baskets small.
        assert!(finding.command.is_some_and(|command| command.ends_with(" --cluster 15MB")));
        small.branches[0].basket_size = 5_000;
        assert!(only(small.clone()).command.is_some_and(|command| command.ends_with(" --cluster 15MB --basket 32kB")));
        // Of files that were put together as they are, a rewrite keeps what begins together.
        small.clusters = vec![0];
        small.clusters_known = ClustersKnown::Estimated;
        small.common_boundaries = 1000;
        assert_eq!(only(small).fault, SmallClusters { clusters: 1000, mean_bytes: 2_500 }.into());
    }

    #[test]
    fn those_of_rntuples_have_other_words() {
        let mut small = field("a", 1000);
        (small.columns[0].tot_bytes, small.columns[0].zip_bytes) = (5_000_000, 2_500_000);
        let mut small = ntuple(vec![small]);
        (small.clusters, small.cluster_count) = ((0..1000).collect(), 1000);
        let finding = only_ntuple(small.clone());
        assert_eq!(finding.fault, SmallClusters { clusters: 1000, mean_bytes: 2_500 }.into());
        assert!(
            finding.text.contains("every column has a page in each cluster, so pages are small"),
            "{}",
            finding.text
        );
        assert!(finding.command.is_some_and(|command| command.ends_with(" --cluster 15MB")));
        // Groups are a fault of their own.
        small.cluster_groups = 1000;
        assert_eq!(faults(&with_ntuples(vec![small])).len(), 2);
    }
}
