//! Faults of baskets and clusters: too small, too large, uneven, or not aligned with clusters. Where a rule takes the overhead of
//! a basket, it serves pages of RNTuples as well.

use super::codecs;
use super::detected::Detected;
use super::speeds::{self, BASKET, BASKET_BYTES, BASKET_ENTRY, Overhead};
use super::sums::{on_disk, sizes};
use crate::inspect::finding::{Cost, Fault, Price};
use crate::inspect::report::{BranchReport, ClustersKnown, TreeReport};
use crate::math::as_f64;

/// Baskets with fewer bytes before compression cost more for their overhead than for their contents.
const TINY: u64 = 4_000;
/// Fewer superfluous baskets are not reported.
const WORTH: u64 = 100;
/// A good basket size.
pub(super) const GOOD_BASKET: u64 = 32_000;
/// A larger basket is expensive for a reader of single entries.
const HUGE_BASKET: u64 = 1_000_000;
/// The size that too large baskets are cut to.
pub(super) const SMALLER_BASKET: u64 = 256_000;
/// Large baskets are reported if a single entry takes at least this many seconds.
const ENTRY: f64 = 5e-3;
/// Clusters with fewer bytes on disk are too small for efficient reads.
const SMALL_CLUSTER: u64 = 1_000_000;
/// ROOT's own size of a cluster, on disk.
const GOOD_CLUSTER: u64 = 30_000_000;
/// Bytes of a cluster before compression that readers can keep in memory easily.
const IN_MEMORY: u64 = 30_000_000;
/// The least cluster that is advised, whatever the compression.
const LEAST_CLUSTER: u64 = 20_000;
/// Clusters that threads can share out well.
const CLUSTERS: u64 = 8;
/// A read cache that jobs on a grid can still afford.
const HUGE_CLUSTER: u64 = 200_000_000;
/// Memory below this is not worth a word.
const MEMORY: u64 = 4_000_000;

/// A good cluster size for a tree of `raw` bytes before compression and `zip` on disk: ROOT's own, or smaller, so that there
/// are some, and none is too large for memory.
pub(super) fn good_cluster((raw, zip): (u64, u64)) -> u64 {
    // A round number reads better.
    let round = |bytes: u64| {
        if bytes < SMALL_CLUSTER { bytes / 10_000 * 10_000 } else { bytes / SMALL_CLUSTER * SMALL_CLUSTER }
    };
    let in_memory = u128::from(IN_MEMORY) * u128::from(zip) / u128::from(raw.max(1));
    let in_memory = u64::try_from(in_memory).unwrap_or(GOOD_CLUSTER);
    round((zip / CLUSTERS).clamp(SMALL_CLUSTER, GOOD_CLUSTER).min(in_memory)).max(LEAST_CLUSTER)
}

/// Whether combined baskets would not fit the buffers of most branches.
pub(super) fn has_small_buffers(tree: &TreeReport) -> bool {
    let small = |branch: &&BranchReport| branch.basket_size < GOOD_BASKET.min(branch.tot_bytes);
    2 * on_disk(tree).filter(small).count() > on_disk(tree).count()
}

/// Clusters that a rewrite keeps: declared ones, or the ranges between entries at which all branches begin a basket.
fn parts(tree: &TreeReport) -> u64 {
    match tree.clusters_known {
        ClustersKnown::Declared => tree.clusters.len() as u64,
        ClustersKnown::Estimated => tree.common_boundaries.max(1),
    }
}

/// Baskets of a branch that are enough: one for each cluster, or more for many bytes.
fn enough(tree: &TreeReport, branch: &BranchReport) -> u64 {
    parts(tree).max(branch.tot_bytes.div_ceil(GOOD_BASKET)).max(1)
}

/// The cost of superfluous baskets or pages.
fn needless(baskets: u64, each: Overhead) -> Cost {
    Cost { bytes: baskets * each.bytes, read_seconds: as_f64(baskets) * each.seconds, ..Cost::default() }
}

/// Additional memory of readers, where `branches` branches get larger baskets.
fn larger(branches: u64, to: u64, from: u64) -> Price {
    Price { memory: branches * to.saturating_sub(from), ..Price::default() }
}

pub(super) fn tiny(tree: &TreeReport, each: Overhead) -> Option<Detected> {
    let is_tiny = |branch: &&BranchReport| {
        let count = branch.basket_summary.count;
        branch.tot_bytes / count.max(1) < TINY && count > 2 * enough(tree, branch)
    };
    let (mut branches, mut baskets, mut enough_baskets, mut bytes) = (0, 0, 0, 0);
    for branch in on_disk(tree).filter(is_tiny) {
        branches += 1;
        baskets += branch.basket_summary.count;
        enough_baskets += enough(tree, branch);
        bytes += branch.tot_bytes;
    }
    let extra = baskets - enough_baskets;
    if extra < WORTH || extra < tree.baskets / 10 {
        return None;
    }
    let mean_bytes = bytes / baskets;
    let price = larger(branches, GOOD_BASKET.min(bytes / branches.max(1)), mean_bytes);
    let fault = Fault::TinyBaskets { branches, baskets, enough: enough_baskets, mean_bytes };
    Some(Detected::new(fault, needless(extra, each)).priced(price))
}

pub(super) fn huge(tree: &TreeReport, setting: i32) -> Option<Detected> {
    let (mut branches, mut median, mut entry_seconds, mut cut) = (0, 0, 0.0, 0);
    for branch in on_disk(tree) {
        let Some(raw) = branch.basket_summary.raw.filter(|raw| raw.median > HUGE_BASKET) else { continue };
        let baskets = branch.basket_summary.count;
        // An entry that is huge by itself cannot be cut.
        if branch.entries < 8 * baskets || branch.tot_bytes / branch.entries.max(1) > SMALLER_BASKET / 4 {
            continue;
        }
        branches += 1;
        median = median.max(raw.median);
        cut += branch.tot_bytes / SMALLER_BASKET;
        let whole = codecs::decompression(branch, setting) + codecs::decoding(branch);
        entry_seconds += whole / as_f64(baskets) * (1.0 - as_f64(SMALLER_BASKET) / as_f64(raw.median));
    }
    let price = Price {
        bytes: cut * (BASKET_BYTES + BASKET_ENTRY) + tree.zip_bytes / 200,
        read_seconds: as_f64(cut) * BASKET,
        ..Price::default()
    };
    let cost = Cost { entry_seconds, ..Cost::default() };
    (entry_seconds > ENTRY).then(|| Detected::new(Fault::HugeBaskets { branches, median }, cost).priced(price))
}

pub(super) fn clusters(tree: &TreeReport, setting: i32, each: Overhead) -> Option<Detected> {
    let clusters = tree.clusters.len() as u64;
    let branches = on_disk(tree).count() as u64;
    // Each cluster begins a basket of each branch.
    let started = (tree.zip_bytes / good_cluster(sizes(tree))).saturating_mul(branches);
    let more = Price {
        bytes: started * (BASKET_BYTES + BASKET_ENTRY),
        read_seconds: as_f64(started) * BASKET,
        ..Price::default()
    };
    if tree.clusters_known == ClustersKnown::Estimated {
        let fault = Fault::ClustersNotRecorded { common_boundaries: tree.common_boundaries };
        // Jobs that share the tree cut it inside baskets, and both neighbours decompress such a basket.
        let twice = as_f64(tree.tot_bytes.min(clusters * branches * GOOD_BASKET)) / as_f64(tree.tot_bytes.max(1));
        let shared_seconds = twice * on_disk(tree).map(|branch| codecs::decompression(branch, setting)).sum::<f64>();
        let cost = Cost { shared_seconds, ..Cost::default() };
        if tree.zip_bytes > GOOD_CLUSTER && tree.common_boundaries <= clusters {
            return Some(Detected::new(fault, cost).priced(more));
        }
    }
    let clusters = parts(tree);
    if tree.largest_cluster > HUGE_CLUSTER {
        let memory = tree.memory.read.saturating_sub(2 * GOOD_CLUSTER);
        let fault = Fault::HugeClusters { largest_bytes: tree.largest_cluster, read_memory: tree.memory.read };
        return Some(Detected::new(fault, Cost { memory, ..Cost::default() }).priced(more));
    }
    let mean_bytes = tree.zip_bytes / clusters.max(1);
    // Data that compress very well have good baskets in small clusters.
    let baskets = on_disk(tree).map(|branch| branch.basket_summary.count).sum::<u64>();
    let good = tree.tot_bytes / tree.baskets.max(1) > GOOD_BASKET / 3;
    if clusters < 20 || mean_bytes > SMALL_CLUSTER || good {
        return None;
    }
    let left = tree.zip_bytes.div_ceil(good_cluster(sizes(tree)));
    let needed = on_disk(tree).map(|b| b.tot_bytes.div_ceil(GOOD_BASKET).max(left)).sum::<u64>();
    let extra = baskets.saturating_sub(needed);
    // Memory with larger clusters: one cluster, and its baskets, compressed and decompressed.
    let zip = tree.zip_bytes.saturating_sub(extra * BASKET_BYTES);
    let larger = |branch: &BranchReport| GOOD_BASKET.max(branch.basket_size).min(branch.tot_bytes / left.max(1));
    let baskets_then = on_disk(tree).map(larger).sum::<u64>();
    let memory =
        (good_cluster(sizes(tree)).min(zip) + baskets_then + baskets_then.min(zip)).saturating_sub(tree.memory.read);
    let note = format!("{} for threads and jobs to share.", super::format::plural(left, "cluster"));
    let price = Price {
        memory,
        note: note.replace(" for", if left == 1 { " is left for" } else { " are left for" }),
        ..Price::default()
    };
    // A few baskets more cost nothing.
    (extra * 4 > baskets && extra >= WORTH)
        .then(|| Detected::new(Fault::SmallClusters { clusters, mean_bytes }, needless(extra, each)).priced(price))
}

pub(super) fn misaligned(tree: &TreeReport, setting: i32) -> Option<Detected> {
    if tree.crossing < 10 || tree.crossing < tree.baskets / 20 {
        return None;
    }
    let of = |branch: &BranchReport| {
        let summary = branch.basket_summary;
        codecs::decompression(branch, setting) * as_f64(summary.crossing) / as_f64(summary.count.max(1))
    };
    let fault = Fault::MisalignedClusters { crossing: tree.crossing, baskets: tree.baskets };
    let cost = Cost { shared_seconds: on_disk(tree).map(of).sum(), ..Cost::default() };
    // Baskets end at the end of a cluster, so each crossing basket becomes two.
    let price = Price {
        bytes: tree.crossing * (BASKET_BYTES + BASKET_ENTRY),
        read_seconds: as_f64(tree.crossing) * BASKET,
        ..Price::default()
    };
    Some(Detected::new(fault, cost).priced(price))
}

pub(super) fn oversized(tree: &TreeReport) -> Option<Detected> {
    let (buffers, used) = (tree.memory.write, tree.memory.read_baskets);
    let memory = buffers.saturating_sub(2 * used);
    let fault = Fault::OversizedBuffers { entries: tree.entries, buffers, used };
    (memory > MEMORY).then(|| Detected::new(fault, Cost { memory, ..Cost::default() }).of_writer())
}

pub(super) fn uneven(tree: &TreeReport) -> Option<Detected> {
    let excess = |branch: &BranchReport| {
        let raw = branch.basket_summary.raw.filter(|raw| raw.max > 10 * raw.median.max(1))?;
        (branch.basket_summary.count >= 10).then_some((raw.max - raw.median, raw))
    };
    let uneven = || on_disk(tree).filter_map(|branch| Some((excess(branch)?, branch)));
    let memory = uneven().map(|((excess, _), _)| excess).sum();
    let ((_, raw), worst) = uneven().max_by_key(|((excess, _), _)| *excess)?;
    let fault = Fault::UnevenBaskets {
        branches: uneven().count() as u64,
        worst: worst.name.clone(),
        median: raw.median,
        max: raw.max,
    };
    let cut = memory / GOOD_BASKET;
    let price = Price { bytes: speeds::bytes(as_f64(cut * BASKET_BYTES)), ..Price::default() };
    (memory > MEMORY).then(|| Detected::new(fault, Cost { memory, ..Cost::default() }).priced(price))
}
