//! The gaps of an output: bytes between its records that belong to none of them any more, and may be used again.
//!
//! On disk a gap begins with its size as a negative fNbytes (`TFile::MakeFree`), so that whoever walks the records
//! steps over it; the free list names it too. This keeps the list; writing both is for others.

use std::collections::BTreeMap;

/// The least that may be left of a gap: the four bytes that say how long it is (`TFree::GetBestFree`).
pub(super) const MARK: u64 = 4;

/// Bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub first: u64,
    pub len: u64,
}

/// All gaps; none touches another.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    lens: BTreeMap<u64, u64>,
}

impl Gaps {
    /// Adds a run to the gaps, and says which gap it is part of now.
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

    /// Takes the start of the smallest gap that has room for `len` bytes, and a mark for what stays of it: the run
    /// taken, and the gap that is left behind it, if any. With `leave` something has to be left.
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

    /// The gaps in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.lens.iter().map(|(&first, &len)| Run { first, len })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lens.len()
    }
}

/// What a gap of this size begins with; none can be larger than the number there has room for.
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
    fn gaps_that_touch_are_one() {
        let mut some = gaps(&[(100, 50), (200, 50), (300, 20)]);
        assert_eq!(all(&some), [(100, 50), (200, 50), (300, 20)]);
        assert_eq!(some.add(Run { first: 150, len: 50 }), Run { first: 100, len: 150 });
        assert_eq!(all(&some), [(100, 150), (300, 20)]);
        assert_eq!(all(&gaps(&[(10, 5), (5, 5), (15, 5)])), [(5, 15)]);
        let half = u64::from(i32::MAX.unsigned_abs());
        assert_eq!(gaps(&[(0, half), (half, half)]).len(), 2, "no gap is larger than its mark can say");
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
