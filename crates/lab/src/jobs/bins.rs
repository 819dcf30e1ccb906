//! Cuts a list of inputs into bins of about one size, in their order.

use std::ops::Range;

/// Consecutive bins of at most `target` each, by the sizes of inputs. An input that is larger has a bin of its own.
pub fn bins(sizes: &[u64], target: u64) -> Vec<Range<usize>> {
    let mut bins: Vec<Range<usize>> = Vec::new();
    let mut sum = 0u64;
    for (i, &size) in sizes.iter().enumerate() {
        match bins.last_mut() {
            Some(bin) if sum.checked_add(size).is_some_and(|sum| sum <= target) => {
                bin.end = i + 1;
                sum += size;
            }
            _ => {
                bins.push(i..i + 1);
                sum = size;
            }
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::bins;

    #[test]
    fn bins_keep_the_order_and_the_target() {
        assert!(bins(&[], 10).is_empty());
        assert_eq!(bins(&[4, 4, 4, 4], 8), [0..2, 2..4]);
        assert_eq!(bins(&[9, 1, 1], 10), [0..2, 2..3]);
        assert_eq!(bins(&[3, 20, 3, 3], 10), [0..1, 1..2, 2..4]);
        assert_eq!(bins(&[0, 0, 0], 0), std::slice::from_ref(&(0..3)));
        assert_eq!(bins(&[u64::MAX, u64::MAX], u64::MAX), [0..1, 1..2]);
    }
}
