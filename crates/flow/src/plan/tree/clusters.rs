//! Boundaries of the output's clusters.
//!
//! Clusters of the inputs are kept whole as far as the requested size allows, since baskets that stay inside a cluster need
//! not be opened. Sizes in bytes are compressed bytes, as ROOT counts them.

use dataset::EntrySet;
use dataset::layout::ClusterSize;
use rootfile::{Error, Result};

/// Largest number of clusters that a requested size may give.
const MAX_CLUSTERS: u64 = 2_000_000;

/// A cluster of the inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SourceCluster {
    pub first_entry: u64,
    pub entries: u64,
    /// Estimated compressed bytes in the output.
    pub bytes: f64,
    /// Whether only some of its entries are selected.
    pub thinned: bool,
}

/// How clusters are formed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clustering {
    /// As in the inputs.
    Keep,
    /// As in the inputs, but small neighbours are packed up to this many bytes.
    Pack(u64),
    /// The same, but only clusters that lost entries are packed.
    Refill(u64),
    /// Of this size.
    Size(ClusterSize),
}

/// First entries of the output's clusters, and at the end the end of the last.
pub(crate) fn bounds(source: &[SourceCluster], clustering: Clustering) -> Result<Vec<u64>> {
    let Some(first) = source.first() else { return Ok(Vec::new()) };
    let end = source.last().map_or(0, |c| c.first_entry + c.entries);
    let mut bounds = match clustering {
        Clustering::Keep => source.iter().map(|c| c.first_entry).collect(),
        Clustering::Size(ClusterSize::Entries(n)) => every(first.first_entry, end, n.max(1))?,
        Clustering::Size(ClusterSize::Bytes(bytes)) => resized(source, bytes)?,
        Clustering::Pack(bytes) => packed(source, bytes, |_| false),
        Clustering::Refill(bytes) => packed(source, bytes, |cluster| !cluster.thinned),
    };
    bounds.push(end);
    Ok(bounds)
}

/// The bounds of clusters of one size for so many rows that are taken from clusters with these bounds: the size of that cluster which half of
/// their entries have at most.
pub(crate) fn even(bounds: &[u64], rows: u64) -> Result<Vec<u64>> {
    let mut sizes: Vec<u64> = bounds.windows(2).map(|bounds| bounds[1] - bounds[0]).filter(|size| *size > 0).collect();
    sizes.sort_unstable();
    let half = sizes.iter().sum::<u64>().div_ceil(2);
    let mut so_far = 0;
    let usual = sizes.iter().find(|size| {
        so_far += **size;
        so_far >= half
    });
    let mut bounds = every(0, rows, usual.copied().unwrap_or(rows).max(1))?;
    bounds.push(rows);
    Ok(bounds)
}

fn every(first: u64, end: u64, n: u64) -> Result<Vec<u64>> {
    let clusters = (end - first).div_ceil(n);
    if clusters > MAX_CLUSTERS {
        return Err(Error::request(format!(
            "clusters of {n} entries would give {clusters} clusters; choose larger ones, so that there are at most \
             {MAX_CLUSTERS}"
        )));
    }
    Ok((0..clusters).map(|i| first + i * n).collect())
}

/// Joins whole clusters until the next would take the sum further away from `bytes`. A far larger cluster is cut evenly.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates")]
fn resized(source: &[SourceCluster], bytes: u64) -> Result<Vec<u64>> {
    let target = (bytes as f64).max(1.0);
    let mut bounds: Vec<u64> = Vec::new();
    let mut sum = 0.0;
    for cluster in source {
        if bounds.is_empty() || sum + cluster.bytes / 2.0 > target {
            bounds.push(cluster.first_entry);
            sum = 0.0;
        }
        sum += cluster.bytes;
        let parts = (cluster.bytes / target).round() as u64;
        if parts > 1 && cluster.entries > 1 {
            let parts = parts.min(cluster.entries);
            let each = cluster.entries.div_ceil(parts);
            let parts = every(cluster.first_entry, cluster.first_entry + cluster.entries, each)?;
            bounds.extend(parts.into_iter().skip(1));
            // The last part of a cut cluster is full as well.
            sum = target;
        }
    }
    bounds.dedup();
    Ok(bounds)
}

/// Target of a file that ends before its first cluster does: ROOT's default for fAutoFlush.
const DEFAULT_TARGET: f64 = 30e6;
/// Smallest target, for files whose fAutoFlush is a number of entries.
const MIN_TARGET: f64 = 4e6;

/// The cluster size in bytes that a tree's fAutoFlush aims at. Negative values are bytes, positive ones entries.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates")]
pub(crate) fn target_size(source: &[SourceCluster], auto_flush: i64) -> u64 {
    let entries: u64 = source.iter().map(|c| c.entries).sum();
    let bytes: f64 = source.iter().map(|c| c.bytes).sum();
    let target = match auto_flush {
        ..=-1 => (auto_flush as f64).abs().max(MIN_TARGET),
        // A number of entries that no cluster reached is not used.
        1.. if source.iter().any(|c| c.entries >= auto_flush.unsigned_abs()) => {
            (bytes / entries.max(1) as f64 * auto_flush as f64).clamp(MIN_TARGET, DEFAULT_TARGET)
        }
        _ => DEFAULT_TARGET,
    };
    target as u64
}

/// Packs clusters: those of at least half of `bytes` are left alone, so that they can be copied, and runs of smaller ones
/// between them are joined. Packing is idempotent: no two small clusters stay side by side. A small cluster between large
/// ones stays, however small: joining it would mean to rewrite a large neighbour.
#[expect(clippy::cast_precision_loss, reason = "estimates")]
fn packed(source: &[SourceCluster], bytes: u64, stays: impl Fn(&SourceCluster) -> bool) -> Vec<u64> {
    let target = (bytes as f64).max(1.0);
    let is_good = |c: &SourceCluster| c.bytes >= target / 2.0 || stays(c);
    // First entry, bytes, and whether the group is a cluster of the input that can be copied.
    let mut groups: Vec<(u64, f64, bool)> = Vec::new();
    let mut open = false;
    for cluster in source {
        match groups.last_mut() {
            _ if is_good(cluster) => {
                groups.push((cluster.first_entry, cluster.bytes, true));
                open = false;
            }
            Some((_, sum, _)) if open && *sum + cluster.bytes / 2.0 <= target => *sum += cluster.bytes,
            _ => {
                groups.push((cluster.first_entry, cluster.bytes, false));
                open = true;
            }
        }
    }
    let mut bounds: Vec<(u64, f64, bool)> = Vec::with_capacity(groups.len());
    for group in groups {
        let (_, bytes, _) = group;
        match bounds.last_mut() {
            // Joining a small group to one that is rewritten anyway costs nothing.
            Some((_, sum, false)) if !group.2 && bytes < target / 4.0 => *sum += bytes,
            _ => bounds.push(group),
        }
    }
    bounds.into_iter().map(|(first, ..)| first).collect()
}

/// Average bytes of a cluster.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "estimates")]
pub(crate) fn mean(source: &[SourceCluster]) -> u64 {
    (source.iter().map(|c| c.bytes).sum::<f64>() / source.len().max(1) as f64) as u64
}

/// Reduces clusters to their selected entries, and counts entries by the selected ones.
#[expect(clippy::cast_precision_loss, reason = "shares")]
pub(crate) fn thin(clusters: &mut Vec<SourceCluster>, selected: &EntrySet) {
    for cluster in clusters.iter_mut() {
        let first_entry = selected.rank(cluster.first_entry);
        let entries = selected.rank(cluster.first_entry.saturating_add(cluster.entries)) - first_entry;
        let bytes = cluster.bytes * entries as f64 / cluster.entries.max(1) as f64;
        *cluster = SourceCluster { first_entry, entries, bytes, thinned: entries < cluster.entries };
    }
    clusters.retain(|cluster| cluster.entries > 0);
}

/// Which clusters of the output are packed from more than one of the inputs.
pub(crate) fn are_packed(source: &[SourceCluster], bounds: &[u64]) -> Vec<bool> {
    let first = |bound: u64| source.partition_point(|c| c.first_entry < bound);
    bounds.windows(2).map(|w| first(w[1]) - first(w[0]) > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(source: &[SourceCluster], clustering: Clustering) -> Vec<u64> {
        super::bounds(source, clustering).unwrap()
    }

    fn even(n: u64, entries: u64, bytes: f64) -> Vec<SourceCluster> {
        (0..n).map(|i| SourceCluster { first_entry: i * entries, entries, bytes, thinned: false }).collect()
    }

    #[test]
    fn clusters_are_kept_counted_or_packed() {
        let source = even(10, 100, 1e6);
        assert_eq!(bounds(&source, Clustering::Keep).len(), 11);
        assert_eq!(bounds(&source, Clustering::Size(ClusterSize::Entries(400))), [0, 400, 800, 1000]);
        assert_eq!(bounds(&source, Clustering::Size(ClusterSize::Bytes(3_000_000))), [0, 300, 600, 900, 1000]);
        let cut = bounds(&even(2, 100, 10e6), Clustering::Size(ClusterSize::Bytes(5_000_000)));
        assert_eq!(cut, [0, 50, 100, 150, 200]);
        assert_eq!(bounds(&even(2, 100, 10e6), Clustering::Pack(5_000_000)), [0, 100, 200]);
    }

    fn mixed(bytes: &[f64]) -> Vec<SourceCluster> {
        let cluster = |(i, &bytes): (usize, &f64)| SourceCluster {
            first_entry: i as u64 * 10,
            entries: 10,
            bytes,
            thinned: false,
        };
        bytes.iter().enumerate().map(cluster).collect()
    }

    #[test]
    fn large_clusters_are_left_alone_among_small_ones() {
        let pack = |bytes: &[f64]| bounds(&mixed(bytes), Clustering::Pack(100));
        assert_eq!(pack(&[100.0, 60.0, 50.0]), [0, 10, 20, 30]);
        assert_eq!(pack(&[100.0, 20.0, 100.0, 20.0, 20.0]), [0, 10, 20, 30, 50]);
        assert_eq!(pack(&[30.0; 7]), [0, 30, 60, 70]);
        assert_eq!(pack(&[30.0, 30.0, 30.0, 20.0]), [0, 40]);
        // A tiny cluster at the end of an input does not cause its neighbours to be opened.
        assert_eq!(pack(&[100.0, 1.0, 100.0]), [0, 10, 20, 30]);
    }

    #[test]
    fn only_clusters_that_lost_entries_are_put_together() {
        let mut source = even(6, 100, 30.0);
        thin(&mut source, &EntrySet::range(20..50).union(&EntrySet::range(110..540)));
        let kept: Vec<_> = source.iter().map(|c| (c.first_entry, c.entries, c.thinned)).collect();
        let expected = [(0, 30, true), (30, 90, true), (120, 100, false), (220, 100, false), (320, 100, false)];
        assert_eq!(kept, [&expected[..], &[(420, 40, true)]].concat());
        assert_eq!(bounds(&source, Clustering::Refill(60)), [0, 120, 220, 320, 420, 460]);
        assert_eq!(mean(&source), 23);
    }

    #[test]
    fn packing_again_changes_nothing() {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 / 16_777_216.0
        };
        for _ in 0..200 {
            let sizes: Vec<f64> = (0..40).map(|_| random().powi(3) * 150.0).collect();
            let source = mixed(&sizes);
            let once = bounds(&source, Clustering::Pack(100));
            let merged: Vec<SourceCluster> = once
                .windows(2)
                .map(|w| {
                    let inside = source.iter().filter(|c| w[0] <= c.first_entry && c.first_entry < w[1]);
                    let bytes = inside.map(|c| c.bytes).sum();
                    SourceCluster { first_entry: w[0], entries: w[1] - w[0], bytes, thinned: false }
                })
                .collect();
            assert_eq!(bounds(&merged, Clustering::Pack(100)), once, "{sizes:?}");
        }
    }

    #[test]
    fn clusters_without_number_are_refused() {
        for clustering in [ClusterSize::Entries(1), ClusterSize::Bytes(1)] {
            assert!(super::bounds(&even(2, 1 << 40, 1e12), Clustering::Size(clustering)).is_err());
        }
    }
}
