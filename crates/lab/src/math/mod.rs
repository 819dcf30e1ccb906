//! Arithmetic that several measurements share: statistics of repeats, and the choice under limits ([`solve`]). Nothing
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_value_wins() {
        assert_eq!(most([(1, 5), (2, 3), (1, 1), (2, 4)].into_iter()), Some(2));
        assert_eq!(most(std::iter::empty::<(i32, u64)>()), None);
    }
}
