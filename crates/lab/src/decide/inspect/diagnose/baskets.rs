//! Good sizes of baskets and clusters, and what another size costs. Faults of pages of RNTuples use it as well.

pub(super) use crate::cost::clusters::FULL_CLUSTER as GOOD_CLUSTER;

use super::speeds::{BASKET, BASKET_BYTES, BASKET_ENTRY, Overhead};
use super::sums::{on_disk, sizes};
use crate::inspect::contents::{BranchReport, TreeReport};
use crate::inspect::fault_cost::{Cost, Price};
use crate::math::as_f64;

/// Baskets with fewer bytes before compression cost more for their overhead than for their contents.
const TINY: u64 = 4_000;
/// Fewer superfluous baskets are not reported.
pub(super) const WORTH: u64 = 100;
/// A good basket size.
pub(super) const GOOD_BASKET: u64 = 32_000;
/// The size that too large baskets are cut to.
pub(super) const SMALLER_BASKET: u64 = 256_000;
/// Clusters with fewer bytes on disk are too small for efficient reads.
pub(super) const SMALL_CLUSTER: u64 = 1_000_000;
/// Bytes of a cluster before compression that readers can keep in memory easily.
const IN_MEMORY: u64 = 30_000_000;
/// The least cluster that is advised, whatever the compression.
const LEAST_CLUSTER: u64 = 20_000;
/// Memory below this is not worth a word.
pub(super) const MEMORY: u64 = 4_000_000;

/// A good cluster size for a tree of `raw` bytes before compression and `zip` on disk: ROOT's own, or smaller, so that none is
/// too large for memory. A tree of several such clusters has as many as [`clusters::least`] asks for.
pub(super) fn good_cluster((raw, zip): (u64, u64)) -> u64 {
    // A round number reads better.
    let round = |bytes: u64| {
        if bytes < SMALL_CLUSTER { bytes / 10_000 * 10_000 } else { bytes / SMALL_CLUSTER * SMALL_CLUSTER }
    };
    let in_memory = u128::from(IN_MEMORY) * u128::from(zip) / u128::from(raw.max(1));
    let in_memory = u64::try_from(in_memory).unwrap_or(GOOD_CLUSTER);
    round(GOOD_CLUSTER.min(in_memory)).max(LEAST_CLUSTER)
}

/// Whether combined baskets would not fit the buffers of most branches.
pub(super) fn has_small_buffers(tree: &TreeReport) -> bool {
    let small = |branch: &&BranchReport| branch.basket_size < GOOD_BASKET.min(branch.tot_bytes);
    2 * on_disk(tree).filter(small).count() > on_disk(tree).count()
}

/// Clusters that a rewrite keeps: declared ones, or the ranges between entries at which all branches begin a basket.
pub(super) fn parts(tree: &TreeReport) -> u64 {
    tree.cluster_count.max(1)
}

/// The cost of superfluous baskets or pages.
pub(super) fn needless(baskets: u64, each: Overhead) -> Cost {
    Cost { bytes: baskets * each.bytes, read_seconds: as_f64(baskets) * each.seconds, ..Cost::default() }
}

/// The price of baskets more.
pub(super) fn started(baskets: u64) -> Price {
    Price { bytes: baskets * (BASKET_BYTES + BASKET_ENTRY), read_seconds: as_f64(baskets) * BASKET, ..Price::default() }
}

/// The price of good clusters: each begins a basket of each branch.
pub(super) fn in_good_clusters(tree: &TreeReport) -> Price {
    let branches = on_disk(tree).count() as u64;
    started((tree.zip_bytes / good_cluster(sizes(tree))).saturating_mul(branches))
}

/// Baskets or pages that hold next to nothing.
pub(super) struct Tiny {
    /// Branches or columns that have them.
    pub columns: u64,
    /// Baskets or pages of these.
    pub pieces: u64,
    /// As many would be enough: one for each cluster, or more for many bytes.
    pub enough: u64,
    /// Their bytes before compression.
    pub bytes: u64,
}

impl Tiny {
    /// Those of a table, if they are worth a word.
    pub fn of(tree: &TreeReport) -> Option<Self> {
        let enough = |branch: &BranchReport| parts(tree).max(branch.tot_bytes.div_ceil(GOOD_BASKET)).max(1);
        let is_tiny = |branch: &&BranchReport| {
            let count = branch.basket_summary.count;
            branch.content_bytes() / count.max(1) < TINY && count > 2 * enough(branch)
        };
        let mut tiny = Self { columns: 0, pieces: 0, enough: 0, bytes: 0 };
        for branch in on_disk(tree).filter(is_tiny) {
            tiny.columns += 1;
            tiny.pieces += branch.basket_summary.count;
            tiny.enough += enough(branch);
            tiny.bytes += branch.content_bytes();
        }
        let extra = tiny.pieces - tiny.enough;
        (extra >= WORTH && extra >= tree.baskets / 10).then_some(tiny)
    }

    /// Bytes of one, before compression.
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.pieces.max(1)
    }

    /// The cost of those that are superfluous.
    pub fn cost(&self, each: Overhead) -> Cost {
        needless(self.pieces - self.enough, each)
    }
}
