//! Decides where a cluster ends: at a number of entries, of bytes after compression or before it, or of bytes of memory. The rule depends on the
//! filled entries only, so that the same entries give the same clusters in every context and in any portions.

use dataset::layout::ClusterSize;

/// Largest number of entries between two checks.
const MAX_STEP: u64 = 1 << 18;
/// A cluster may exceed its size by one part in this many.
const TOLERANCE: u64 = 32;
/// The first check comes after one part in this many of the last cluster.
const FIRST_CHECK: u64 = 8;
/// If the cluster size is in entries, memory is checked after about this many bytes.
const MEMORY_CHECK: u64 = 4 << 20;
/// Expected memory of a cluster with a size in entries, before the first one.
const UNKNOWN: u64 = 32 << 20;

/// Decides when the cluster that is being filled ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterRule {
    size: ClusterSize,
    /// Most bytes before compression.
    unzipped: u64,
    /// Ratio of bytes after compression to bytes before, as far as known.
    ratio: f64,
    entries: u64,
    /// Entries until the next check.
    until_check: u64,
    /// Entries from here to the end of the cluster as the last check foresaw it.
    left: u64,
    /// Whether enough of the cluster was filled to foresee its end.
    is_foreseen: bool,
    /// Clusters so far that ended early for lack of memory.
    cut: u64,
}

/// Bytes that a cluster holds so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FillLevel {
    /// Its baskets before compression.
    pub raw: u64,
    /// Its baskets after compression.
    pub packed: u64,
    /// Entries that are in no basket yet.
    pub pending: u64,
}

impl ClusterRule {
    /// Clusters of this size, but of at most `unzipped` bytes before compression.
    pub fn new(size: ClusterSize, unzipped: u64) -> Self {
        Self { size, unzipped, ratio: 1.0, entries: 0, until_check: 1, left: 0, is_foreseen: false, cut: 0 }
    }

    /// Entries to fill before the next call of [`ClusterRule::ends`].
    pub fn until_check(&self) -> u64 {
        self.until_check
    }

    /// Counts filled entries.
    pub fn add(&mut self, entries: u64) {
        self.entries += entries;
        self.until_check = self.until_check.saturating_sub(entries);
    }

    /// Whether the cluster ends here. It may hold `most` bytes.
    pub fn ends(&mut self, filled: &FillLevel, most: u64) -> bool {
        // Buffers of entries grow by doubling, those of finished baskets by a quarter. Pending entries are copied into a
        // basket before their own buffer is freed.
        let held = filled.packed + filled.packed / 4 + 4 * filled.pending;
        let (there, size) = match self.size {
            ClusterSize::Entries(size) => (self.entries, size),
            ClusterSize::Bytes(size) => {
                let ratio = if filled.raw > filled.pending { ratio(filled) } else { self.ratio };
                (filled.packed + (filled.pending as f64 * ratio) as u64, size)
            }
        };
        let unzipped = filled.raw + filled.pending;
        let is_full = there >= size || unzipped >= self.unzipped;
        if is_full || held >= most {
            self.cut += u64::from(!is_full);
            return true;
        }
        let each = |bytes: u64| (bytes / self.entries.max(1)).max(1);
        let (left, room) = ((size - there) / each(there), (most - held) / each(held));
        let room = room.min((self.unzipped - unzipped) / each(unzipped));
        self.left = left.min(room);
        // Each check costs a call per branch. Most of the distance is filled without a check, but not all, since the size of
        // entries may change; the rest is filled in small steps.
        let step = (self.entries + self.left) / TOLERANCE;
        let towards = |entries: u64| (entries - entries / 4).max(step);
        let ahead = match self.size {
            ClusterSize::Bytes(_) => towards(self.left),
            ClusterSize::Entries(_) => left.min(towards(room)).min(MEMORY_CHECK / each(held)),
        };
        // The first steps grow by doubling, until the size of entries is known.
        self.until_check = ahead.min(self.entries).clamp(1, MAX_STEP);
        false
    }

    /// Begins the next cluster. `filled` are the bytes of the last one.
    pub fn start(&mut self, filled: &FillLevel) {
        if filled.raw > 0 {
            self.ratio = ratio(filled);
        }
        self.until_check = (self.entries / FIRST_CHECK).clamp(1, MAX_STEP);
        (self.entries, self.is_foreseen) = (0, false);
    }

    /// Entries that are still to come in this cluster, and the few by which it may exceed its size. None until an eighth is filled, and
    /// after it was said once.
    pub fn foresee(&mut self) -> Option<u64> {
        let all = self.entries + self.left;
        if self.is_foreseen || self.entries < all / FIRST_CHECK {
            return None;
        }
        self.is_foreseen = true;
        Some(self.left + all / TOLERANCE)
    }

    /// Clusters so far that ended early for lack of memory.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Entries of the cluster so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Expected memory of the first cluster.
    pub fn first_guess(&self) -> u64 {
        match self.size {
            ClusterSize::Bytes(bytes) => 2 * bytes,
            ClusterSize::Entries(_) => UNKNOWN,
        }
    }
}

fn ratio(filled: &FillLevel) -> f64 {
    filled.packed as f64 / filled.raw.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clusters of `entries` of `each` bytes that shrink to a third, filled in portions of at most `portion`.
    fn clusters(size: ClusterSize, each: u64, entries: u64, portion: u64) -> Vec<u64> {
        clusters_within(u64::MAX, size, each, entries, portion)
    }

    fn clusters_within(unzipped: u64, size: ClusterSize, each: u64, entries: u64, portion: u64) -> Vec<u64> {
        let mut rule = ClusterRule::new(size, unzipped);
        let (mut sizes, mut left, mut filled) = (Vec::new(), entries, FillLevel::default());
        while left > 0 {
            let mut given = portion.min(left);
            left -= given;
            while given > 0 {
                let n = rule.until_check().min(given);
                given -= n;
                rule.add(n);
                filled.raw += n * each;
                filled.packed += n * each / 3;
                if rule.until_check() == 0 && rule.ends(&filled, u64::MAX) {
                    sizes.push(rule.entries());
                    rule.start(&filled);
                    filled = FillLevel::default();
                }
            }
        }
        sizes
    }

    #[test]
    fn entries_are_counted() {
        assert_eq!(clusters(ClusterSize::Entries(1000), 8, 5500, 10_000), [1000; 5]);
    }

    #[test]
    fn bytes_are_met_within_a_few_percent_in_any_portions() {
        let found = clusters(ClusterSize::Bytes(1_000_000), 99, 100_000, 100_000);
        assert!(found.len() == 3 && found.iter().all(|n| (30_000..33_000).contains(n)), "{found:?}");
        for portion in [1, 7, 1000] {
            assert_eq!(clusters(ClusterSize::Bytes(1_000_000), 99, 100_000, portion), found);
        }
    }

    #[test]
    fn the_end_of_a_cluster_is_foreseen_once() {
        for (size, all) in [(ClusterSize::Bytes(1_000_000), 1_000_000 / 33), (ClusterSize::Entries(50_000), 50_000)] {
            let mut rule = ClusterRule::new(size, u64::MAX);
            for _ in 0..2 {
                let (mut filled, mut foreseen) = (FillLevel::default(), Vec::new());
                loop {
                    let n = rule.until_check();
                    rule.add(n);
                    (filled.raw, filled.packed) = (filled.raw + n * 99, filled.packed + n * 33);
                    if rule.ends(&filled, u64::MAX) {
                        break;
                    }
                    foreseen.extend(rule.foresee().map(|ahead| (rule.entries(), ahead)));
                }
                let [(done, ahead)] = foreseen[..] else { panic!("{foreseen:?}") };
                assert!(done >= all / FIRST_CHECK && done < all, "{done}");
                assert!(done + ahead >= rule.entries() && ahead < rule.entries(), "{done} {ahead}");
                rule.start(&filled);
            }
        }
    }

    #[test]
    fn bytes_before_compression_end_a_cluster() {
        let size = ClusterSize::Bytes(1_000_000);
        let found = clusters_within(990_000, size, 99, 50_000, 10_000);
        assert!(found.len() == 4 && found.iter().all(|n| (10_000..10_400).contains(n)), "{found:?}");
        assert_eq!(found, clusters_within(990_000, size, 99, 50_000, 7));
        assert_eq!(clusters_within(1 << 40, size, 99, 100_000, 7), clusters(size, 99, 100_000, 7));
    }

    #[test]
    fn memory_ends_a_cluster_early() {
        let mut rule = ClusterRule::new(ClusterSize::Entries(1_000_000), u64::MAX);
        rule.add(10);
        assert!(!rule.ends(&FillLevel { packed: 40, pending: 12, ..FillLevel::default() }, 100));
        assert!(rule.ends(&FillLevel { packed: 40, pending: 13, ..FillLevel::default() }, 100));
    }
}
