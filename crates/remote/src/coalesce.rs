//! Which ranges are fetched together: those with little between them.

use std::ops::Range;

/// Ranges with larger gaps are never joined.
pub(crate) const MOST_GAP: u64 = 1 << 20;

/// One range that is fetched, and which of the requested ranges lie in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Joined {
    pub range: Range<u64>,
    pub members: Vec<usize>,
}

/// Joins ranges whose gap is at most `gap`; of larger gaps, the smallest, as long as all gaps together are at most a share of
/// `1 / part` of the requested bytes. Empty ranges are left out.
pub(crate) fn join(ranges: &[Range<u64>], gap: u64, part: u64) -> Vec<Joined> {
    let mut order: Vec<usize> = (0..ranges.len()).filter(|&i| ranges.get(i).is_some_and(|r| r.start < r.end)).collect();
    order.sort_by_key(|&i| ranges.get(i).map(|range| (range.start, range.end)));
    let wanted: u64 = order.iter().filter_map(|&i| ranges.get(i)).map(|range| range.end - range.start).sum();
    let mut gaps: Vec<u64> = Vec::new();
    let mut end = None;
    for range in order.iter().filter_map(|&i| ranges.get(i)) {
        gaps.extend(end.and_then(|end| range.start.checked_sub(end)).filter(|gap| (1..=MOST_GAP).contains(gap)));
        end = end.max(Some(range.end));
    }
    gaps.sort_unstable();
    let (mut spent, mut most) = (0u64, gap.min(MOST_GAP));
    for gap in gaps {
        spent += gap;
        if gap > most {
            if spent > wanted / part.max(1) {
                break;
            }
            most = gap;
        }
    }
    let mut joined: Vec<Joined> = Vec::new();
    for (i, range) in order.iter().filter_map(|&i| Some((i, ranges.get(i)?))) {
        match joined.last_mut() {
            Some(last) if range.start <= last.range.end.saturating_add(most) => {
                last.range.end = last.range.end.max(range.end);
                last.members.push(i);
            }
            _ => joined.push(Joined { range: range.clone(), members: vec![i] }),
        }
    }
    joined
}

/// Gives each requested range its bytes. `fetched` has the bytes of each joined range.
pub(crate) fn deal(ranges: &[Range<u64>], joined: &[Joined], fetched: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut dealt = vec![Vec::new(); ranges.len()];
    for (group, bytes) in joined.iter().zip(fetched) {
        if let [only] = group.members.as_slice() {
            if let Some(slot) = dealt.get_mut(*only) {
                *slot = bytes;
            }
            continue;
        }
        for &member in &group.members {
            let (Some(slot), Some(range)) = (dealt.get_mut(member), ranges.get(member)) else { continue };
            let at = |place: u64| usize::try_from(place - group.range.start).unwrap_or(usize::MAX);
            *slot = bytes.get(at(range.start)..at(range.end)).unwrap_or_default().to_vec();
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(ranges: &[Range<u64>], gap: u64, part: u64) -> Vec<Range<u64>> {
        join(ranges, gap, part).into_iter().map(|joined| joined.range).collect()
    }

    #[test]
    fn near_ranges_are_one() {
        let ranges = [1000..1100, 0..100, 120..200, 150..160, 7..7];
        assert_eq!(spans(&ranges, 20, 1000), [0..200, 1000..1100]);
        assert_eq!(spans(&ranges, 0, 1000), [0..100, 120..200, 1000..1100]);
        assert_eq!(spans(&ranges, 0, 10), [0..200, 1000..1100], "20 of 280 bytes are less than a tenth");
        assert_eq!(spans(&[0..10, 10..20, 90..91], 0, 1000), [0..20, 90..91]);
        assert_eq!(spans(&[0..1 << 30, (1 << 30) + MOST_GAP + 1..(1 << 31)], u64::MAX, 1).len(), 2);
    }

    #[test]
    fn each_range_gets_its_bytes() {
        let file: Vec<u8> = (0..=255).collect();
        let ranges = [200..210, 0..5, 3..20, 25..30, 9..9];
        let joined = join(&ranges, 5, 1000);
        let fetched = joined.iter().map(|j| file[j.range.start as usize..j.range.end as usize].to_vec()).collect();
        let expected: Vec<_> = ranges.iter().map(|r| file[r.start as usize..r.end as usize].to_vec()).collect();
        assert_eq!(deal(&ranges, &joined, fetched), expected);
    }
}
