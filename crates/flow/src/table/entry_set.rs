//! A set of entries that are to be kept, of a table that may have billions: a list of runs, or a bit for each entry where
//! that takes less. It counts those before an entry and finds the n-th, and knows nothing of columns or files.

use std::ops::Range;

/// Words of bits for which a count is kept.
const BLOCK: usize = 8;
/// Entries that runs are cheaper for than bits: a run takes 16 bytes.
const ENTRIES_PER_RUN: u64 = 128;

/// A set of entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    kind: Kind,
    len: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// First entry of each run, and how many are chosen before it.
    Runs(Vec<(u64, u64)>),
    /// A bit for each entry, and before each block of words how many are chosen.
    Bits(Vec<u64>, Vec<u64>),
}

impl Selected {
    /// The entries of a range.
    pub fn range(entries: Range<u64>) -> Self {
        let mut chosen = Chooser::new(entries.end);
        chosen.push(entries);
        chosen.finish()
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> u64 {
        match &self.kind {
            Kind::Runs(runs) => runs.capacity() as u64 * 16,
            Kind::Bits(words, counts) => (words.capacity() + counts.capacity()) as u64 * 8,
        }
    }

    /// How many there are before an entry: the number that it has among the chosen, if it is one.
    pub fn rank(&self, entry: u64) -> u64 {
        match &self.kind {
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
        }
    }

    /// Whether an entry is one of them.
    pub fn contains(&self, entry: u64) -> bool {
        self.rank(entry) < self.rank(entry.saturating_add(1))
    }

    /// How many of a range there are.
    pub fn count(&self, entries: &Range<u64>) -> u64 {
        self.rank(entries.end).saturating_sub(self.rank(entries.start))
    }

    /// The entry of that number; if there are not so many, none.
    pub fn nth(&self, number: u64) -> Option<u64> {
        if number >= self.len {
            return None;
        }
        match &self.kind {
            Kind::Runs(runs) => {
                let run = runs.partition_point(|(_, before)| *before <= number).checked_sub(1)?;
                let (first, before) = runs.get(run)?;
                Some(first + (number - before))
            }
            Kind::Bits(words, counts) => {
                let block = counts.partition_point(|before| *before <= number).checked_sub(1)?;
                let mut left = number - counts.get(block)?;
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
        }
    }

    /// Those with numbers in a range, as runs of neighbours.
    pub fn runs(&self, numbers: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let mut left = numbers.end.min(self.len).saturating_sub(numbers.start);
        let mut at = self.nth(numbers.start).unwrap_or(0);
        std::iter::from_fn(move || {
            let run = if left == 0 { None } else { self.run_from(at) }?;
            let run = run.start..run.end.min(run.start + left);
            left -= run.end - run.start;
            at = run.end;
            Some(run)
        })
    }

    /// All of them, as runs of neighbours.
    pub fn all(&self) -> impl Iterator<Item = Range<u64>> {
        self.runs(0..self.len)
    }

    /// Those that are in another set as well.
    pub fn and(&self, other: &Self) -> Self {
        let mut both = Chooser::new(self.end().min(other.end()));
        for run in self.all() {
            other.runs(other.rank(run.start)..other.rank(run.end)).for_each(|run| both.push(run));
        }
        both.finish()
    }

    /// Those that are in either set.
    pub fn or(&self, other: &Self) -> Self {
        let mut either = Chooser::new(self.end().max(other.end()));
        let (mut own, mut others) = (self.all().peekable(), other.all().peekable());
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

    /// How many are chosen before a run; behind the last that is all.
    fn before_run(&self, run: usize) -> u64 {
        match &self.kind {
            Kind::Runs(runs) => runs.get(run).map_or(self.len, |(_, before)| *before),
            Kind::Bits(..) => self.len,
        }
    }

    /// The neighbours from the first one that is not before `entry`.
    fn run_from(&self, entry: u64) -> Option<Range<u64>> {
        match &self.kind {
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
        }
    }
}

/// The first bit from `entry` on that is set, or is not.
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

/// A set in the making, of entries in ascending order.
#[derive(Debug)]
pub(crate) struct Chooser {
    /// Entries of the table.
    total: u64,
    runs: Vec<Range<u64>>,
    words: Vec<u64>,
}

impl Chooser {
    /// Begins a set of entries of a table that has so many.
    pub fn new(total: u64) -> Self {
        Self { total, runs: Vec::new(), words: Vec::new() }
    }

    /// Adds entries that do not begin before the last ones did.
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
        // So it is never larger than what was given, whatever a file says of its entries.
        if self.runs.len() > 1024 && self.runs.len() as u64 > self.total / ENTRIES_PER_RUN {
            self.words = vec![0; usize::try_from(self.total.div_ceil(64)).unwrap_or(usize::MAX)];
            let words = &mut self.words;
            std::mem::take(&mut self.runs).into_iter().for_each(|run| set(words, run));
        }
    }

    /// The set.
    pub fn finish(self) -> Selected {
        let mut len = 0;
        if self.words.is_empty() {
            let count = |run: Range<u64>| {
                let before = len;
                len += run.end - run.start;
                (run.start, before)
            };
            let runs = self.runs.into_iter().map(count).collect();
            return Selected { kind: Kind::Runs(runs), len };
        }
        let counts = self.words.chunks(BLOCK).map(|block| {
            let before = len;
            len += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            before
        });
        let counts = counts.collect();
        Selected { kind: Kind::Bits(self.words, counts), len }
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

    fn of(entries: &[u64], total: u64) -> Selected {
        let mut chosen = Chooser::new(total);
        entries.iter().for_each(|&entry| chosen.push(entry..entry + 1));
        chosen.finish()
    }

    fn check(chosen: &Selected, entries: &[u64], total: u64) {
        assert_eq!(chosen.len(), entries.len() as u64);
        assert_eq!(chosen.all().flatten().collect::<Vec<_>>(), entries);
        for (number, &entry) in entries.iter().enumerate() {
            assert_eq!((chosen.nth(number as u64), chosen.rank(entry)), (Some(entry), number as u64));
        }
        assert_eq!((chosen.nth(chosen.len()), chosen.rank(total)), (None, chosen.len()));
        for start in [0, 1, total / 3] {
            let end = start + total / 2;
            let inside: Vec<u64> = entries.iter().copied().filter(|e| (start..end).contains(e)).collect();
            assert_eq!(chosen.count(&(start..end)), inside.len() as u64);
            let numbers = chosen.rank(start)..chosen.rank(end);
            let runs: Vec<_> = chosen.runs(numbers).collect();
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "runs are as long as can be");
            assert_eq!(runs.into_iter().flatten().collect::<Vec<_>>(), inside);
        }
    }

    #[test]
    fn runs_and_bits_are_the_same() {
        for (step, total) in [(1, 3000), (2, 9000), (3, 9000), (1000, 9000), (9000, 9000), (7, 64 * 3000)] {
            let entries: Vec<u64> = (0..total).filter(|n| n % step == step - 1).collect();
            check(&of(&entries, total), &entries, total);
        }
        let every = of(&(0..5000).map(|n| n * 2).collect::<Vec<_>>(), 10_000);
        assert!(matches!(every.kind, Kind::Bits(..)) && every.memory() < 2000);
        check(&of(&[], 100), &[], 100);
        check(&Selected::range(3..3), &[], 10);
    }

    #[test]
    fn what_a_file_says_takes_no_memory() {
        let mut chosen = Chooser::new(u64::MAX);
        (0..2000).for_each(|n| chosen.push(n * 10..n * 10 + 1));
        let chosen = chosen.finish();
        assert!(chosen.memory() < 1 << 16 && chosen.len() == 2000);
        assert_eq!(Selected::range(5..u64::MAX).len(), u64::MAX - 5);
    }

    proptest! {
        #[test]
        fn sets_are_joined_and_met(a in prop::collection::btree_set(0..6000u64, 0..4000),
                                   b in prop::collection::btree_set(0..6000u64, 0..300)) {
            let (one, other) = (a.iter().copied().collect::<Vec<_>>(), b.iter().copied().collect::<Vec<_>>());
            let (one, other) = (of(&one, 6000), of(&other, 6000));
            check(&one.and(&other), &a.intersection(&b).copied().collect::<Vec<_>>(), 6000);
            check(&other.or(&one), &a.union(&b).copied().collect::<Vec<_>>(), 6000);
        }
    }
}
