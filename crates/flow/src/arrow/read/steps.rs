//! The steps in which entries are read: small clusters together, large ones in parts, so that the arrays of a step fit.

/// Steps take at least about this many bytes before compression: less would not keep all threads busy.
const SMALL_STEP: u64 = 8 << 20;

/// The bounds of steps over clusters with these bounds. An entry has about `each` bytes; the arrays of a step may take `room`.
pub(crate) fn steps(clusters: &[u64], each: u64, room: u64) -> Vec<u64> {
    let each = each.max(1);
    let (most, enough) = ((room / each).max(1), (SMALL_STEP.min(room) / each).max(1));
    let all = clusters.last().copied().unwrap_or(0);
    let mut steps = vec![clusters.first().copied().unwrap_or(0)];
    for &bound in clusters.iter().skip(1) {
        let start = steps.last().copied().unwrap_or(0);
        if bound <= start || (bound - start < enough && bound < all) {
            continue;
        }
        let parts = (bound - start).div_ceil(most);
        let size = (bound - start).div_ceil(parts);
        steps.extend((1..=parts).map(|part| (start + part * size).min(bound)));
    }
    steps.dedup();
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_clusters_are_joined_and_large_ones_cut() {
        let mb = 1 << 20;
        assert_eq!(steps(&[0, 1, 2, 10, 20, 21], mb, 100 * mb), [0, 10, 20, 21]);
        assert_eq!(steps(&[0, 100, 110], mb, 30 * mb), [0, 25, 50, 75, 100, 110]);
        assert_eq!(steps(&[0, 3], 1 << 40, mb), [0, 1, 2, 3]);
        assert_eq!(steps(&[0, 0], 1, mb), [0]);
        assert_eq!(steps(&[], 1, mb), [0]);
    }
}
