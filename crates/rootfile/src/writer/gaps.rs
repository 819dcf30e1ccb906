//! The gaps of an output: bytes of records that are no longer used.
//!
//! On disk a gap begins with its size as a negative fNbytes (`TFile::MakeFree`), so that a scan of the records skips
//! it; the free list has it too. This module keeps the list, and writes nothing.

use std::collections::BTreeMap;

pub(super) use crate::file::Run;

/// The smallest remainder of a gap: the four bytes of its size (`TFree::GetBestFree`).
pub(super) const MARK: u64 = 4;

/// All gaps. No two are adjacent.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    lens: BTreeMap<u64, u64>,
}

impl Gaps {
    /// Adds a run of bytes. Returns the gap that it is part of.
    pub fn add(&mut self, run: Run) -> Run {
        let mut all = run;
        if let Some((&first, &len)) = self.lens.range(..run.first).next_back()
            && first + len == run.first
            && mark_of(len + all.len).is_some()
        {
            all = Run { first, len: len + all.len };
        }
        if let Some(&len) = self.lens.get(&(run.first + run.len))
            && mark_of(len + all.len).is_some()
        {
            self.lens.remove(&(run.first + run.len));
            all.len += len;
        }
        self.lens.insert(all.first, all.len);
        all
    }

    /// Takes `len` bytes from the start of the smallest gap with room for them and for the mark of the remainder.
    /// Returns the taken run and the remaining gap, if any. With `leave` there must be a remainder.
    pub fn take(&mut self, len: u64, leave: bool) -> Option<(Run, Option<Run>)> {
        let fits = |&(_, &size): &(&u64, &u64)| size >= len + MARK || size == len && !leave;
        let (&first, &size) = self.lens.iter().filter(fits).min_by_key(|&(first, size)| (*size, *first))?;
        self.lens.remove(&first);
        let rest = (size > len).then_some(Run { first: first + len, len: size - len });
        if let Some(rest) = rest {
            self.lens.insert(rest.first, rest.len);
        }
        Some((Run { first, len }, rest))
    }

    /// Takes out the gaps that reach up to the end of a file. Returns where it ends without them.
    pub fn cut(&mut self, mut end: u64) -> u64 {
        while let Some(last) = self.lens.last_entry()
            && last.key() + last.get() == end
        {
            end = last.remove_entry().0;
        }
        end
    }

    /// The gaps in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.lens.iter().map(|(&first, &len)| Run { first, len })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lens.len()
    }
}

/// The first bytes of a gap of this size; `None` beyond what the number can hold.
pub(super) fn mark_of(len: u64) -> Option<[u8; 4]> {
    i32::try_from(len).ok().map(|len| (-len).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(runs: &[(u64, u64)]) -> Gaps {
        let mut gaps = Gaps::default();
        for &(first, len) in runs {
            gaps.add(Run { first, len });
        }
        gaps
    }

    fn all(gaps: &Gaps) -> Vec<(u64, u64)> {
        gaps.iter().map(|run| (run.first, run.len)).collect()
    }

    #[test]
    fn adjacent_gaps_are_merged() {
        let mut some = gaps(&[(100, 50), (200, 50), (300, 20)]);
        assert_eq!(all(&some), [(100, 50), (200, 50), (300, 20)]);
        assert_eq!(some.add(Run { first: 150, len: 50 }), Run { first: 100, len: 150 });
        assert_eq!(all(&some), [(100, 150), (300, 20)]);
        assert_eq!(all(&gaps(&[(10, 5), (5, 5), (15, 5)])), [(5, 15)]);
        let half = u64::from(i32::MAX.unsigned_abs());
        assert_eq!(gaps(&[(0, half), (half, half)]).len(), 2, "no gap is larger than its mark can say");
    }

    #[test]
    fn gaps_at_the_end_are_cut() {
        let half = u64::from(i32::MAX.unsigned_abs());
        for (runs, end, left) in [
            (vec![(100, 50), (200, 50)], 250, vec![(100, 50)]),
            (vec![(100, 50)], 151, vec![(100, 50)]),
            (vec![(50, 20), (100, half), (100 + half, half)], 100 + 2 * half, vec![(50, 20)]),
        ] {
            let mut some = gaps(&runs);
            let now = some.cut(end);
            assert_eq!((all(&some), now < end), (left.clone(), left.len() < runs.len()), "{runs:?}");
        }
    }

    #[test]
    fn the_smallest_gap_with_room_is_taken() {
        let some = gaps(&[(100, 60), (200, 50), (300, 53), (400, 500)]);
        let taken = |len, leave| some.clone().take(len, leave).map(|(run, rest)| (run.first, rest.map(|r| r.len)));
        assert_eq!(taken(50, false), Some((200, None)));
        assert_eq!(taken(50, true), Some((100, Some(10))), "53 leaves no room for a mark");
        assert_eq!(taken(49, false), Some((300, Some(4))));
        assert_eq!(taken(501, false), None);
        let mut some = some;
        some.take(49, false);
        assert_eq!(all(&some), [(100, 60), (200, 50), (349, 4), (400, 500)]);
    }
}
