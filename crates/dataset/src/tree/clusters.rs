//! The first entries of the clusters of a tree: as its metadata declare them, and as its baskets show.
//!
//! A cluster is a run of entries whose baskets a reader fetches together. A tree only says how many entries a cluster
//! has (fAutoFlush, and fClusterSize for the ranges that end at fClusterRangeEnd); baskets may still cross these
//! boundaries. Pure functions of the metadata.

use super::{Branch, Tree};

/// The compressed bytes of a cluster in ROOT if none is declared: the default size of `TTreeCache`.
const CACHE: u64 = 30_000_000;

/// The source of cluster boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterSource {
    /// The tree records them.
    Declared,
    /// The tree records none: ROOT makes clusters that fit its read cache.
    Estimated,
    /// Entries at which all branches start a basket.
    Baskets,
}

/// First entries of clusters, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// First entry of each; the last ends with the tree. Empty for an empty tree.
    pub starts: Vec<u64>,
    /// Where the boundaries come from.
    pub source: ClusterSource,
}

impl Clusters {
    /// First and end entry of each cluster, for a tree of `entries` entries.
    pub fn ranges(&self, entries: u64) -> impl Iterator<Item = std::ops::Range<u64>> {
        let ends = self.starts.iter().skip(1).copied().chain([entries]);
        self.starts.iter().copied().zip(ends).map(|(start, end)| start..end)
    }
}

/// What ROOT's cluster iterator gives for the whole tree.
///
/// At most `most` starts are listed: a cluster may have only one entry.
pub fn declared_up_to(tree: &Tree, most: usize) -> Clusters {
    let rules = Rules {
        entries: tree.entries,
        zip_bytes: tree.zip_bytes,
        auto_flush: tree.auto_flush,
        ranges: &tree.cluster_ranges,
    };
    rules.starts(most)
}

/// First entries of a tree's clusters, from 0 on: as declared, or else where all branches begin a basket. A declaration with far
/// more clusters than baskets is not believed.
pub fn cluster_starts(tree: &Tree) -> Vec<u64> {
    let declares = !tree.cluster_ranges.is_empty() || tree.auto_flush > 0;
    let most = tree.branches.iter().map(|b| b.baskets.len()).max().unwrap_or(0).saturating_mul(16).max(1000);
    let declared = declares.then(|| declared_up_to(tree, most + 1).starts).filter(|s| s.len() <= most);
    let mut starts = declared.unwrap_or_else(|| common_boundaries(tree).starts);
    starts.retain(|&s| s < tree.entries);
    if starts.first() != Some(&0) && tree.entries > 0 {
        starts.insert(0, 0);
    }
    starts
}

/// Entries at which every branch that holds data starts a basket: the tree can be cut there without opening a basket.
pub fn common_boundaries(tree: &Tree) -> Clusters {
    let mut holders: Vec<&Branch> = tree.branches.iter().filter(|branch| !branch.baskets.is_empty()).collect();
    holders.sort_by_key(|branch| branch.baskets.len());
    let (mut starts, rest) = match holders.split_first() {
        Some((first, rest)) => (starts_of(first).collect::<Vec<_>>(), rest),
        None => (if tree.entries > 0 { vec![0] } else { Vec::new() }, holders.get(..0).unwrap_or_default()),
    };
    for branch in rest {
        keep_common(&mut starts, starts_of(branch));
    }
    starts.retain(|&start| start < tree.entries);
    Clusters { starts, source: ClusterSource::Baskets }
}

/// The intersection of two ascending lists.
fn keep_common(starts: &mut Vec<u64>, theirs: impl Iterator<Item = u64>) {
    let mut theirs = theirs.peekable();
    starts.retain(|start| {
        while theirs.next_if(|at| at < start).is_some() {}
        theirs.peek() == Some(start)
    });
}

fn starts_of(branch: &Branch) -> impl Iterator<Item = u64> {
    branch.baskets.iter().filter(|basket| basket.entries > 0).map(|basket| basket.first_entry)
}

/// The metadata that define clusters.
struct Rules<'a> {
    entries: u64,
    zip_bytes: u64,
    auto_flush: i64,
    ranges: &'a [(i64, i64)],
}

impl Rules<'_> {
    /// `TTree::TClusterIterator::Next`, from entry 0 on.
    fn starts(&self, most: usize) -> Clusters {
        let recorded = !self.ranges.is_empty() || self.auto_flush > 0;
        let default = self.default_size();
        let mut starts = Vec::new();
        let mut ranges = self.ranges.iter().copied().peekable();
        let mut start = 0;
        let mut estimated = !recorded;
        while start < self.entries && starts.len() < most {
            starts.push(start);
            // As in ROOT, a step leaves at most one range.
            let _ = ranges.next_if(|&(end, _)| i64::try_from(start).unwrap_or(i64::MAX) > end);
            let next = match ranges.peek() {
                Some(&(end, size)) => {
                    let size = u64::try_from(size).ok().filter(|&size| size > 0);
                    estimated |= size.is_none() && self.auto_flush <= 0;
                    let behind = u64::try_from(end).unwrap_or(0).saturating_add(1);
                    start.saturating_add(size.unwrap_or(default)).min(behind)
                }
                None => {
                    estimated |= self.auto_flush <= 0;
                    start.saturating_add(default)
                }
            };
            if next <= start {
                break;
            }
            start = next;
        }
        let source = if estimated { ClusterSource::Estimated } else { ClusterSource::Declared };
        Clusters { starts, source }
    }

    /// `TTree::TClusterIterator::GetEstimatedClusterSize`.
    fn default_size(&self) -> u64 {
        match (u64::try_from(self.auto_flush), self.zip_bytes) {
            (Ok(entries @ 1..), _) => entries,
            (_, 0) => self.entries.saturating_sub(1).max(1),
            (_, zip) => {
                let size = u128::from(self.entries) * u128::from(CACHE) / u128::from(zip);
                u64::try_from(size).unwrap_or(u64::MAX).max(1)
            }
        }
    }
}

/// Cluster ranges as a tree records them (fClusterRangeEnd, fClusterSize): the last entry of each range, and the number
/// of entries of each cluster in it. `bounds` are the first entry of each cluster, and last the end of the last.
pub fn recorded_ranges(bounds: &[u64]) -> Vec<(i64, i64)> {
    let long = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let Some((&base, rest)) = bounds.split_first() else { return Vec::new() };
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    let mut previous = base;
    for (i, &bound) in rest.iter().enumerate() {
        let size = long(bound - previous);
        let end = long(bound - base) - 1;
        let last_of_all = i + 1 == rest.len();
        match ranges.last_mut() {
            // Only the last cluster of a range may be shorter: readers count from the range's start.
            Some((range_end, range_size)) if *range_size == size || (last_of_all && size < *range_size) => {
                *range_end = end;
            }
            _ if size > 0 => ranges.push((end, size)),
            _ => {}
        }
        previous = bound;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(entries: u64, zip_bytes: u64, auto_flush: i64, ranges: &[(i64, i64)]) -> (Vec<u64>, ClusterSource) {
        let clusters = Rules { entries, zip_bytes, auto_flush, ranges }.starts(usize::MAX);
        (clusters.starts, clusters.source)
    }

    #[test]
    fn auto_flush_in_entries() {
        assert_eq!(starts(25, 1000, 10, &[]), (vec![0, 10, 20], ClusterSource::Declared));
        assert_eq!(starts(20, 1000, 10, &[]), (vec![0, 10], ClusterSource::Declared));
        assert!(starts(0, 0, 10, &[]).0.is_empty());
    }

    #[test]
    fn ranges_then_auto_flush() {
        let ranges = [(24, 10), (29, 5)];
        assert_eq!(starts(60, 1000, 20, &ranges), (vec![0, 10, 20, 25, 30, 50], ClusterSource::Declared));
    }

    #[test]
    fn nothing_declared_is_estimated_from_the_cache() {
        // 30 MB of 120 MB: a quarter of the entries.
        assert_eq!(starts(100, 120_000_000, -30_000_000, &[]), (vec![0, 25, 50, 75], ClusterSource::Estimated));
        assert_eq!(starts(100, 1000, 0, &[]), (vec![0], ClusterSource::Estimated));
        assert_eq!(starts(3, 0, 0, &[]).0, vec![0, 2]);
        assert_eq!(starts(1, 0, 0, &[]).0, vec![0]);
        // A range without a size, and entries behind the last range.
        assert_eq!(starts(100, 300_000_000, 0, &[(49, 0)]).0, (0..10).map(|i| i * 10).collect::<Vec<_>>());
    }

    #[test]
    fn common_starts_are_those_of_all() {
        let mut starts = vec![0, 10, 20, 30, 40];
        keep_common(&mut starts, [0, 5, 10, 25, 30, 40].into_iter());
        assert_eq!(starts, [0, 10, 30, 40]);
        keep_common(&mut starts, [0, 30, 30].into_iter());
        assert_eq!(starts, [0, 30]);
        keep_common(&mut starts, std::iter::empty());
        assert!(starts.is_empty());
    }

    #[test]
    fn ranges_end_with_the_tree() {
        let clusters = Clusters { starts: vec![0, 10], source: ClusterSource::Declared };
        assert_eq!(clusters.ranges(15).collect::<Vec<_>>(), [0..10, 10..15]);
    }

    #[test]
    fn extreme_numbers_terminate() {
        for ranges in [&[(-5, 3)][..], &[(i64::MAX, 0)], &[(i64::MIN, i64::MIN)], &[(10, 3), (4, 2), (20, 7)]] {
            for auto_flush in [i64::MIN, -1, 0, 1, i64::MAX] {
                let found = Rules { entries: u64::MAX, zip_bytes: 1, auto_flush, ranges }.starts(50);
                assert!(found.starts.len() <= 50 && found.starts.is_sorted());
            }
        }
    }

    #[test]
    fn ranges_say_where_each_cluster_begins() {
        assert_eq!(recorded_ranges(&[0, 100, 200, 250]), [(249, 100)]);
        assert_eq!(recorded_ranges(&[0, 100, 150, 300]), [(99, 100), (149, 50), (299, 150)]);
        assert_eq!(recorded_ranges(&[50, 150, 250]), [(199, 100)]);
        assert_eq!(recorded_ranges(&[]), []);
    }
}
