//! How many different values there are: all of them up to a limit, and beyond it an estimate from the part of them that is kept.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Values that are kept.
const MOST_KEPT: usize = 1 << 16;
/// Bytes of the values that are kept, and of a table of half the size while it grows.
pub(super) const MOST_BYTES: u64 = 3 * table_bytes(MOST_KEPT) / 2;

/// Different values, by their hashes. Those below a bound are kept, and the bound is halved whenever they are too many (adaptive
/// sampling, by Wegman and Flajolet): what is kept depends on the values alone, not on their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Distinct {
    kept: HashSet<u64, BuildHasherDefault<Spread>>,
    /// How often the bound was halved: so many zeros begin each hash that is kept.
    halvings: u32,
}

impl Distinct {
    /// Adds a value.
    pub fn add(&mut self, value: u64) {
        let hash = mixed(value);
        if hash.leading_zeros() < self.halvings || !self.kept.insert(hash) {
            return;
        }
        while self.kept.len() > MOST_KEPT {
            self.halvings += 1;
            self.kept.retain(|kept| kept.leading_zeros() >= self.halvings);
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        let kept = self.kept.len() as u64;
        kept.saturating_mul(1u64.checked_shl(self.halvings).unwrap_or(u64::MAX))
    }

    /// Whether all of them are kept.
    pub fn is_exact(&self) -> bool {
        self.halvings == 0
    }
}

/// Bytes of a set of so many hashes: the next power of two above eight sevenths of them, with a byte each.
const fn table_bytes(hashes: usize) -> u64 {
    let places = (hashes * 8 / 7 + 1).next_power_of_two() as u64;
    places * (size_of::<u64>() as u64 + 1)
}

/// Different values have different hashes, whose bits are as good as random (the end of SplitMix64).
fn mixed(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The place of a hash in the table: not by its first bits, which are zeros of all that are kept.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(self.0 ^ u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl Iterator<Item = u64>) -> Distinct {
        let mut all = Distinct::default();
        values.for_each(|value| all.add(value));
        all
    }

    #[test]
    fn few_are_counted_and_many_are_estimated() {
        for count in [0, 1, 1000, MOST_KEPT as u64] {
            let found = of((0..count).chain(0..count));
            assert!(found.is_exact() && found.count() == count);
        }
        for (count, step) in [(100_000u64, 1u64), (1_000_000, 1 << 20), (3_000_000, 1 << 40)] {
            let found = of((0..count).map(|value| value.wrapping_mul(step)));
            assert!(!found.is_exact());
            assert!(found.count().abs_diff(count) < count / 50, "{} of {count}", found.count());
        }
    }

    #[test]
    fn their_order_does_not_matter() {
        let (up, down) = (of(0..200_000), of((0..200_000).rev()));
        assert_eq!((up.count(), up.kept), (down.count(), down.kept));
    }

    #[test]
    fn the_table_takes_no_more_than_planned() {
        let full = of(0..MOST_KEPT as u64).kept.capacity();
        assert!((full * 8 / 7 * 9) as u64 <= table_bytes(MOST_KEPT), "{full}");
    }
}
