//! A set of entries of a table, which may have billions: runs of neighbours, or a bit for each entry where that takes less
//! memory, or the list that a caller gave. It counts the entries before a position and finds the n-th, and knows nothing of
//! columns or files.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use rootfile::{Error, Result};

/// Words of bits for each count.
const BLOCK: usize = 8;
/// Bits take less memory than runs if the table has fewer entries per run: a run takes 16 bytes.
const ENTRIES_PER_RUN: u64 = 128;

/// A set of entries. Cheap to clone.
///
/// ```
/// use dataset::EntrySet;
///
/// let chosen = EntrySet::sorted([3, 4, 5, 9])?;
/// assert_eq!((chosen.len(), chosen.contains(4), chosen.rank(9)), (4, true, 3));
/// let runs: Vec<_> = chosen.intersection(&EntrySet::range(4..100)).all_runs().collect();
/// assert_eq!(runs, [4..6, 9..10]);
/// # Ok::<(), rootfile::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EntrySet {
    kind: Arc<Kind>,
    len: u64,
}

#[derive(Debug)]
enum Kind {
    /// First entry of each run, and the number of entries of the set before it.
    Runs(Vec<(u64, u64)>),
    /// A bit for each entry, and for each block of words the number of entries of the set before it.
    Bits(Vec<u64>, Vec<u64>),
    /// The entries, ascending. Reads of single entries use it without a copy.
    List(Vec<u64>),
}

impl PartialEq for EntrySet {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && (Arc::ptr_eq(&self.kind, &other.kind) || self.all_runs().eq(other.all_runs()))
    }
}

impl Eq for EntrySet {}

impl EntrySet {
    /// The entries of a range.
    pub fn range(entries: Range<u64>) -> Self {
        let mut set = EntrySetBuilder::new(entries.end);
        set.push(entries);
        set.finish()
    }

    /// The entries of an ascending list.
    ///
    /// # Errors
    ///
    /// The list does not ascend, or has an entry twice.
    pub fn sorted(entries: impl Into<Vec<u64>>) -> Result<Self> {
        let entries = entries.into();
        match entries.windows(2).find(|pair| pair[0] >= pair[1]) {
            Some(pair) => Err(Error::request(format!(
                "a selection must ascend, and has entry {} before {}; sort it, and remove duplicates",
                pair[0], pair[1]
            ))),
            None => Ok(Self { len: entries.len() as u64, kind: Arc::new(Kind::List(entries)) }),
        }
    }

    /// The entries whose place in the mask is true.
    pub fn mask(mask: impl IntoIterator<Item = bool>) -> Self {
        let entries = mask.into_iter().zip(0u64..).filter_map(|(chosen, entry)| chosen.then_some(entry));
        let entries: Vec<u64> = entries.collect();
        Self { len: entries.len() as u64, kind: Arc::new(Kind::List(entries)) }
    }

    /// Whether the set has no entry.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of entries.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Memory of the set, in bytes.
    pub fn memory(&self) -> u64 {
        match &*self.kind {
            Kind::Runs(runs) => runs.capacity() as u64 * 16,
            Kind::Bits(words, counts) => (words.capacity() + counts.capacity()) as u64 * 8,
            Kind::List(entries) => entries.capacity() as u64 * 8,
        }
    }

    /// Number of entries of the set before an entry. For an entry of the set, its rank.
    pub fn rank(&self, entry: u64) -> u64 {
        match &*self.kind {
            Kind::Runs(runs) => match runs.partition_point(|(first, _)| *first <= entry).checked_sub(1) {
                Some(run) => {
                    let (first, before) = runs.get(run).copied().unwrap_or_default();
                    (before + (entry - first)).min(self.before_run(run + 1))
                }
                None => 0,
            },
            Kind::Bits(words, counts) => {
                let word = usize::try_from(entry / 64).unwrap_or(usize::MAX);
                let Some(last) = words.get(word) else { return self.len };
                let block = word / BLOCK;
                let whole = words.get(block * BLOCK..word).unwrap_or_default();
                let within = (last & !(u64::MAX << (entry % 64))).count_ones();
                let before: u32 = whole.iter().map(|word| word.count_ones()).sum();
                counts.get(block).copied().unwrap_or(0) + u64::from(before + within)
            }
            Kind::List(entries) => entries.partition_point(|known| *known < entry) as u64,
        }
    }

    /// Whether the set has an entry.
    pub fn contains(&self, entry: u64) -> bool {
        self.rank(entry) < self.rank(entry.saturating_add(1))
    }

    /// Number of entries of the set in a range.
    pub fn count(&self, entries: &Range<u64>) -> u64 {
        self.rank(entries.end).saturating_sub(self.rank(entries.start))
    }

    /// The entry with a rank.
    pub fn nth(&self, rank: u64) -> Option<u64> {
        if rank >= self.len {
            return None;
        }
        match &*self.kind {
            Kind::Runs(runs) => {
                let run = runs.partition_point(|(_, before)| *before <= rank).checked_sub(1)?;
                let (first, before) = runs.get(run)?;
                Some(first + (rank - before))
            }
            Kind::Bits(words, counts) => {
                let block = counts.partition_point(|before| *before <= rank).checked_sub(1)?;
                let mut left = rank - counts.get(block)?;
                for (place, word) in words.iter().enumerate().skip(block * BLOCK) {
                    let here = u64::from(word.count_ones());
                    if left < here {
                        let rest = (0..left).fold(*word, |word, _| word & word.wrapping_sub(1));
                        return Some(place as u64 * 64 + u64::from(rest.trailing_zeros()));
                    }
                    left -= here;
                }
                None
            }
            Kind::List(entries) => entries.get(usize::try_from(rank).ok()?).copied(),
        }
    }

    /// The entries with ranks in a range, as runs of neighbours. Each run is as long as possible.
    pub fn runs(&self, ranks: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut left = ranks.end.min(self.len).saturating_sub(ranks.start);
        let mut at = self.nth(ranks.start).unwrap_or(0);
        let mut listed = self.listed(&ranks);
        std::iter::from_fn(move || {
            if let Some(entries) = &mut listed {
                return next_run(entries);
            }
            let run = if left == 0 { None } else { self.run_from(at) }?;
            let run = run.start..run.end.min(run.start + left);
            left -= run.end - run.start;
            at = run.end;
            Some(run)
        })
    }

    /// All entries, as runs of neighbours.
    pub fn all_runs(&self) -> impl Iterator<Item = Range<u64>> {
        self.runs(0..self.len)
    }

    /// The entries in a range, unless they are neighbours or there are none.
    pub fn scattered(&self, range: &Range<u64>) -> Option<Cow<'_, [u64]>> {
        let ranks = self.rank(range.start)..self.rank(range.end);
        let (first, last) = self.nth(ranks.start).zip(self.nth(ranks.end.checked_sub(1)?))?;
        let is_scattered = ranks.start < ranks.end && last - first >= ranks.end - ranks.start;
        is_scattered.then(|| match self.listed(&ranks) {
            Some(entries) => Cow::Borrowed(entries),
            None => Cow::Owned(self.runs(ranks).flatten().collect()),
        })
    }

    /// The entries with ranks in a range, where they are kept as a list.
    fn listed(&self, ranks: &Range<u64>) -> Option<&[u64]> {
        let Kind::List(entries) = &*self.kind else { return None };
        let at = |rank: u64| usize::try_from(rank).unwrap_or(usize::MAX).min(entries.len());
        Some(entries.get(at(ranks.start)..at(ranks.end)).unwrap_or_default())
    }

    /// From the first of its entries in a range to the last.
    pub fn span(&self, range: Range<u64>) -> Range<u64> {
        let ranks = self.rank(range.start)..self.rank(range.end);
        match (self.nth(ranks.start), ranks.end.checked_sub(1).and_then(|last| self.nth(last))) {
            (Some(first), Some(last)) if !ranks.is_empty() => first..last + 1,
            _ => range.start..range.start,
        }
    }

    /// The entries that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let mut both = EntrySetBuilder::new(self.end().min(other.end()));
        for run in self.all_runs() {
            other.runs(other.rank(run.start)..other.rank(run.end)).for_each(|run| both.push(run));
        }
        both.finish()
    }

    /// The entries that are in either set.
    pub fn union(&self, other: &Self) -> Self {
        let mut either = EntrySetBuilder::new(self.end().max(other.end()));
        let (mut own, mut others) = (self.all_runs().peekable(), other.all_runs().peekable());
        loop {
            let own_first = match (own.peek(), others.peek()) {
                (Some(a), Some(b)) => a.start <= b.start,
                (a, _) => a.is_some(),
            };
            let Some(run) = (if own_first { own.next() } else { others.next() }) else { break };
            either.push(run);
        }
        either.finish()
    }

    /// The entry after the last.
    fn end(&self) -> u64 {
        self.len.checked_sub(1).and_then(|last| self.nth(last)).map_or(0, |last| last + 1)
    }

    /// Number of entries of the set before a run. Behind the last run these are all.
    fn before_run(&self, run: usize) -> u64 {
        match &*self.kind {
            Kind::Runs(runs) => runs.get(run).map_or(self.len, |(_, before)| *before),
            Kind::Bits(..) | Kind::List(_) => self.len,
        }
    }

    /// The run of neighbours from the first entry of the set that is not before `entry`.
    fn run_from(&self, entry: u64) -> Option<Range<u64>> {
        match &*self.kind {
            Kind::Runs(runs) => {
                let after = runs.partition_point(|(first, _)| *first <= entry);
                let of = |run: usize| {
                    let (first, before) = runs.get(run)?;
                    Some(*first..first + (self.before_run(run + 1) - before))
                };
                let holds = after.checked_sub(1).and_then(of).filter(|run| run.end > entry);
                holds.map(|run| entry..run.end).or_else(|| of(after))
            }
            Kind::Bits(words, _) => {
                let start = next(words, entry, false)?;
                Some(start..next(words, start, true).unwrap_or(words.len() as u64 * 64))
            }
            Kind::List(entries) => {
                let mut rest = entries.get(entries.partition_point(|known| *known < entry)..)?;
                next_run(&mut rest)
            }
        }
    }
}

/// Takes the first run of neighbours off an ascending list.
fn next_run(entries: &mut &[u64]) -> Option<Range<u64>> {
    let &first = entries.first()?;
    let len = entries.iter().zip(first..).take_while(|(entry, next)| **entry == *next).count();
    *entries = entries.get(len..).unwrap_or_default();
    Some(first..first + len as u64)
}

/// The first bit from `entry` on that is set, or that is not.
fn next(words: &[u64], entry: u64, unset: bool) -> Option<u64> {
    let first = usize::try_from(entry / 64).ok()?;
    let mut mask = u64::MAX << (entry % 64);
    for (place, word) in words.iter().enumerate().skip(first) {
        let bits = if unset { !word } else { *word } & mask;
        if bits != 0 {
            return Some(place as u64 * 64 + u64::from(bits.trailing_zeros()));
        }
        mask = u64::MAX;
    }
    None
}

/// Builds a set from entries in ascending order.
#[derive(Debug)]
pub struct EntrySetBuilder {
    /// Entries of the table.
    total: u64,
    runs: Vec<Range<u64>>,
    words: Vec<u64>,
}

impl EntrySetBuilder {
    /// Starts a set for a table with `total` entries.
    pub fn new(total: u64) -> Self {
        Self { total, runs: Vec::new(), words: Vec::new() }
    }

    /// Adds a run, which must not start before the last one did.
    pub fn push(&mut self, run: Range<u64>) {
        let run = run.start.min(self.total)..run.end.min(self.total);
        if run.is_empty() {
            return;
        }
        if !self.words.is_empty() {
            return set(&mut self.words, run);
        }
        match self.runs.last_mut() {
            Some(last) if run.start <= last.end => last.end = last.end.max(run.end),
            _ => self.runs.push(run),
        }
        // So the set never takes more memory than its input, whatever number of entries a file claims.
        if self.runs.len() > 1024 && self.runs.len() as u64 > self.total / ENTRIES_PER_RUN {
            self.words = vec![0; usize::try_from(self.total.div_ceil(64)).unwrap_or(usize::MAX)];
            let words = &mut self.words;
            std::mem::take(&mut self.runs).into_iter().for_each(|run| set(words, run));
        }
    }

    /// The set.
    pub fn finish(self) -> EntrySet {
        let mut len = 0;
        if self.words.is_empty() {
            let count = |run: Range<u64>| {
                let before = len;
                len += run.end - run.start;
                (run.start, before)
            };
            let runs = self.runs.into_iter().map(count).collect();
            return EntrySet { kind: Arc::new(Kind::Runs(runs)), len };
        }
        let counts = self.words.chunks(BLOCK).map(|block| {
            let before = len;
            len += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            before
        });
        let counts = counts.collect();
        EntrySet { kind: Arc::new(Kind::Bits(self.words, counts)), len }
    }
}

/// Sets the bits of a range.
fn set(words: &mut [u64], run: Range<u64>) {
    let place = |entry: u64| usize::try_from(entry / 64).unwrap_or(usize::MAX);
    let (first, last) = (place(run.start), place(run.end - 1));
    for (at, word) in words.iter_mut().enumerate().take(last + 1).skip(first) {
        let from = if at == first { u64::MAX << (run.start % 64) } else { u64::MAX };
        let to = if at == last { u64::MAX >> (63 - (run.end - 1) % 64) } else { u64::MAX };
        *word |= from & to;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(entries: &[u64], total: u64) -> EntrySet {
        let mut set = EntrySetBuilder::new(total);
        entries.iter().for_each(|&entry| set.push(entry..entry + 1));
        set.finish()
    }

    fn check(set: &EntrySet, entries: &[u64], total: u64) {
        assert_eq!(set.len(), entries.len() as u64);
        assert_eq!(set.all_runs().flatten().collect::<Vec<_>>(), entries);
        for (number, &entry) in entries.iter().enumerate() {
            assert_eq!((set.nth(number as u64), set.rank(entry)), (Some(entry), number as u64));
        }
        assert_eq!((set.nth(set.len()), set.rank(total)), (None, set.len()));
        for start in [0, 1, total / 3] {
            let end = start + total / 2;
            let inside: Vec<u64> = entries.iter().copied().filter(|e| (start..end).contains(e)).collect();
            assert_eq!(set.count(&(start..end)), inside.len() as u64);
            let numbers = set.rank(start)..set.rank(end);
            let runs: Vec<_> = set.runs(numbers).collect();
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "runs are as long as can be");
            assert_eq!(runs.into_iter().flatten().collect::<Vec<_>>(), inside);
        }
    }

    #[test]
    fn all_representations_agree() {
        for (step, total) in [(1, 3000), (2, 9000), (3, 9000), (1000, 9000), (9000, 9000), (7, 64 * 3000)] {
            let entries: Vec<u64> = (0..total).filter(|n| n % step == step - 1).collect();
            check(&of(&entries, total), &entries, total);
            let list = EntrySet::sorted(entries.clone()).unwrap();
            check(&list, &entries, total);
            assert_eq!(list, of(&entries, total));
        }
        let every = of(&(0..5000).map(|n| n * 2).collect::<Vec<_>>(), 10_000);
        assert!(matches!(*every.kind, Kind::Bits(..)) && every.memory() < 2000);
        check(&of(&[], 100), &[], 100);
        check(&EntrySet::range(3..3), &[], 10);
    }

    #[test]
    fn a_claimed_number_of_entries_takes_no_memory() {
        let mut set = EntrySetBuilder::new(u64::MAX);
        (0..2000).for_each(|n| set.push(n * 10..n * 10 + 1));
        let set = set.finish();
        assert!(set.memory() < 1 << 16 && set.len() == 2000);
        assert_eq!(EntrySet::range(5..u64::MAX).len(), u64::MAX - 5);
    }

    #[test]
    fn scattered_entries_are_neighbours_nowhere() {
        let list = EntrySet::sorted([1, 2, 3, 7, 9, 10]).unwrap();
        let runs = of(&[1, 2, 3, 7, 9, 10], 20);
        for set in [list, runs] {
            assert_eq!(set.scattered(&(0..5)), None);
            assert_eq!(set.scattered(&(4..7)), None);
            assert_eq!(set.scattered(&(3..9)).as_deref(), Some(&[3, 7][..]));
            assert_eq!(set.runs(1..5).collect::<Vec<_>>(), [2..4, 7..8, 9..10]);
        }
    }

    #[test]
    fn masks_choose_and_lists_must_ascend() {
        assert_eq!(EntrySet::mask([false, true, true]), EntrySet::range(1..3));
        assert!(EntrySet::sorted([1, 1]).is_err());
    }

    proptest! {
        #[test]
        fn unions_and_intersections(a in prop::collection::btree_set(0..6000u64, 0..4000),
                                   b in prop::collection::btree_set(0..6000u64, 0..300)) {
            let (one, other) = (a.iter().copied().collect::<Vec<_>>(), b.iter().copied().collect::<Vec<_>>());
            let (one, other) = (of(&one, 6000), of(&other, 6000));
            check(&one.intersection(&other), &a.intersection(&b).copied().collect::<Vec<_>>(), 6000);
            check(&other.union(&one), &a.union(&b).copied().collect::<Vec<_>>(), 6000);
        }
    }
}
