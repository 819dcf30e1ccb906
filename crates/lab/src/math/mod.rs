//! Arithmetic that several measurements share: statistics of repeats, samples of lists, and the choice under limits ([`solve`]). Nothing
//! here knows files.

pub mod solve;
pub mod statistics;

use std::collections::BTreeMap;

/// A count or a size as a float, for estimates.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(crate) fn as_f64(n: u64) -> f64 {
    n as f64
}

/// The value with the greatest weight; of equals, the greatest.
pub(crate) fn most<T: Ord + Copy>(values: impl Iterator<Item = (T, u64)>) -> Option<T> {
    let mut weights: BTreeMap<T, u64> = BTreeMap::new();
    for (value, weight) in values {
        *weights.entry(value).or_default() += weight;
    }
    weights.into_iter().max_by_key(|(_, weight)| *weight).map(|(value, _)| value)
}

/// The places of at most `most` of so many items, at even distances from the first to the last. Every sample of a list
/// of files is taken so.
pub fn evenly_spaced(items: usize, most: usize) -> impl Iterator<Item = usize> {
    let (count, last) = (items.min(most), items.saturating_sub(1));
    (0..count).map(move |i| i * last / count.saturating_sub(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_reaches_from_the_first_to_the_last() {
        let sample = |items, most| evenly_spaced(items, most).collect::<Vec<_>>();
        assert_eq!(sample(9, 5), [0, 2, 4, 6, 8]);
        assert_eq!(sample(10, 3), [0, 4, 9]);
        assert_eq!((sample(2, 5), sample(7, 1), sample(1, 5), sample(0, 5)), (vec![0, 1], vec![0], vec![0], vec![]));
    }

    #[test]
    fn the_heaviest_value_wins() {
        assert_eq!(most([(1, 5), (2, 3), (1, 1), (2, 4)].into_iter()), Some(2));
        assert_eq!(most(std::iter::empty::<(i32, u64)>()), None);
    }
}
