//! Groups of an RNTuple with hardly more than one small cluster, each with a page list of its own.

use rootfile::codec::Algorithm;
use serde::{Deserialize, Serialize};

use crate::cost::codec_speeds::CodecSpeeds;
use crate::inspect::diagnose::format::{plural, size};
use crate::inspect::diagnose::remedy::Remedy;
use crate::inspect::diagnose::rule::{Detected, Rule};
use crate::inspect::diagnose::speeds;
use crate::inspect::diagnose::subject::{Diagnosed, Words};
use crate::inspect::fault_cost::Cost;
use crate::math::as_f64;

/// Fewer cluster groups are not reported.
const GROUPS: u64 = 20;
/// Groups with more bytes on disk are not tiny.
const TINY_GROUP: u64 = 1_000_000;
/// Bytes on disk of a group that are no page list: two keys, the frame of the envelope, and a record in the footer.
const GROUP_BYTES: u64 = 130;

/// Groups of hardly more than one small cluster, each with a page list of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TinyClusterGroups {
    /// Groups.
    pub groups: u64,
    /// Clusters.
    pub clusters: u64,
    /// Mean bytes on disk of a group.
    pub mean_bytes: u64,
}

impl Rule for TinyClusterGroups {
    fn find(at: &Diagnosed<'_>) -> Option<Detected<Self>> {
        let ntuple = at.ntuple()?;
        let (groups, clusters) = (ntuple.cluster_groups, ntuple.cluster_count);
        let mean_bytes = ntuple.zip_bytes / groups.max(1);
        let start = CodecSpeeds::of(Some(Algorithm::Zstd)).reading.seconds(0, 0, 1);
        let cost = Cost {
            bytes: groups * GROUP_BYTES,
            open_seconds: as_f64(groups) * (speeds::GROUP + start),
            ..Cost::default()
        };
        (groups >= GROUPS && clusters < 2 * groups && mean_bytes < TINY_GROUP)
            .then(|| Detected::new(Self { groups, clusters, mean_bytes }, cost))
    }

    fn sentence(&self, _: Words) -> String {
        format!(
            "{} for {}, of {} each: a reader fetches a page list for each group. Programs that extend an RNTuple in \
             small steps write such files.",
            plural(self.groups, "cluster group"),
            plural(self.clusters, "cluster"),
            size(self.mean_bytes)
        )
    }

    fn remedy(&self, at: &Diagnosed<'_>) -> Option<Remedy> {
        Some(Remedy::clusters(at.table()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::diagnose::fixtures::{faults, field, ntuple, with_ntuples};

    #[test]
    fn groups_of_one_small_cluster_are_named() {
        let mut small = field("a", 1000);
        (small.columns[0].tot_bytes, small.columns[0].zip_bytes) = (5_000_000, 2_500_000);
        let mut small = ntuple(vec![small]);
        (small.clusters, small.cluster_count, small.cluster_groups) = ((0..1000).collect(), 1000, 1000);
        let found = faults(&with_ntuples(vec![small]));
        let expected = TinyClusterGroups { groups: 1000, clusters: 1000, mean_bytes: 2_500 };
        assert!(found.contains(&expected.into()), "{found:?}");
    }
}
