//! When a cluster ends: after so many entries, so many compressed bytes, or as much memory as one may take. The rule
//! looks at what was filled and nothing else, so that the same entries give the same clusters in every context, in
//! whatever portions they come.

use dataset::layout::ClusterSize;

/// Entries between two looks, at most.
const MOST_ENTRIES: u64 = 1 << 18;
/// How far a cluster may go beyond its size, of what it holds.
const BEYOND: u64 = 32;
/// Of a cluster that is thought to be as the last one, how much is filled before the first look.
const UNSEEN: u64 = 8;
/// Where a cluster is so many entries, memory that was not taken is looked after each time there may be so much.
const LOOKED_FOR: u64 = 4 << 20;
/// What a cluster of so many entries is thought to take before there was one.
const UNKNOWN: u64 = 32 << 20;

/// Says when the cluster that is being filled ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClusterRule {
    size: ClusterSize,
    /// Bytes after compression over those before, as far as known.
    ratio: f64,
    entries: u64,
    /// Entries until the next look.
    ahead: u64,
}

/// What a cluster holds so far, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FillLevel {
    /// Its baskets before compression.
    pub raw: u64,
    /// Its baskets after compression.
    pub packed: u64,
    /// What is in no basket yet.
    pub pending: u64,
}

impl ClusterRule {
    pub fn new(size: ClusterSize) -> Self {
        Self { size, ratio: 1.0, entries: 0, ahead: 1 }
    }

    /// Entries to fill before [`ClusterRule::ends`] is to be asked.
    pub fn ahead(&self) -> u64 {
        self.ahead
    }

    /// Counts entries that were filled.
    pub fn add(&mut self, entries: u64) {
        self.entries += entries;
        self.ahead = self.ahead.saturating_sub(entries);
    }

    /// Whether the cluster ends here. It may hold `most` bytes.
    pub fn ends(&mut self, filled: &FillLevel, most: u64) -> bool {
        // Buffers of entries grow by doubling, those of finished baskets by a quarter; and what is in no basket yet goes
        // there before its own buffer is given back.
        let held = filled.packed + filled.packed / 4 + 4 * filled.pending;
        let (there, size) = match self.size {
            ClusterSize::Entries(size) => (self.entries, size),
            ClusterSize::Bytes(size) => {
                let ratio = if filled.raw > filled.pending { ratio(filled) } else { self.ratio };
                (filled.packed + (filled.pending as f64 * ratio) as u64, size)
            }
        };
        if there >= size || held >= most {
            return true;
        }
        let each = |bytes: u64| (bytes / self.entries.max(1)).max(1);
        let (left, room) = ((size - there) / each(there), (most - held) / each(held));
        // Each look costs a call for each branch. Most of the way is gone at once, since what an entry takes may change;
        // the rest in steps that are small against the cluster.
        let step = (self.entries + left.min(room)) / BEYOND;
        let towards = |entries: u64| (entries - entries / 4).max(step);
        let ahead = match self.size {
            ClusterSize::Bytes(_) => towards(left.min(room)),
            ClusterSize::Entries(_) => left.min(towards(room)).min(LOOKED_FOR / each(held)),
        };
        // What an entry takes is found out by doubling.
        self.ahead = ahead.min(self.entries).clamp(1, MOST_ENTRIES);
        false
    }

    /// Begins the next cluster. `filled` is what the last one had, closed.
    pub fn start(&mut self, filled: &FillLevel) {
        if filled.raw > 0 {
            self.ratio = ratio(filled);
        }
        self.ahead = (self.entries / UNSEEN).clamp(1, MOST_ENTRIES);
        self.entries = 0;
    }

    /// Entries of the cluster so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// What a cluster is thought to take of memory before there was one.
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
        let mut rule = ClusterRule::new(size);
        let (mut sizes, mut left, mut filled) = (Vec::new(), entries, FillLevel::default());
        while left > 0 {
            let mut given = portion.min(left);
            left -= given;
            while given > 0 {
                let n = rule.ahead().min(given);
                given -= n;
                rule.add(n);
                filled.raw += n * each;
                filled.packed += n * each / 3;
                if rule.ahead() == 0 && rule.ends(&filled, u64::MAX) {
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
    fn bytes_are_met_within_a_few_percent_in_whatever_portions() {
        let found = clusters(ClusterSize::Bytes(1_000_000), 99, 100_000, 100_000);
        assert!(found.len() == 3 && found.iter().all(|n| (30_000..33_000).contains(n)), "{found:?}");
        for portion in [1, 7, 1000] {
            assert_eq!(clusters(ClusterSize::Bytes(1_000_000), 99, 100_000, portion), found);
        }
    }

    #[test]
    fn memory_ends_a_cluster_early() {
        let mut rule = ClusterRule::new(ClusterSize::Entries(1_000_000));
        rule.add(10);
        assert!(!rule.ends(&FillLevel { packed: 40, pending: 12, ..FillLevel::default() }, 100));
        assert!(rule.ends(&FillLevel { packed: 40, pending: 13, ..FillLevel::default() }, 100));
    }
}
