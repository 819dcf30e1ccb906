//! Entries that are found in any order, a bit for each, and the others as a set.

use dataset::{EntrySet, EntrySetBuilder};

/// Entries in any order, a bit for each.
#[derive(Debug, Default)]
pub(crate) struct EntryBits(Vec<u64>);

impl EntryBits {
    pub fn add(&mut self, entry: u64) {
        let word = usize::try_from(entry / 64).unwrap_or(usize::MAX);
        if word >= self.0.len() {
            self.0.resize(word.saturating_add(1), 0);
        }
        self.0.get_mut(word).into_iter().for_each(|word| *word |= 1 << (entry % 64));
    }

    fn has(&self, entry: u64) -> bool {
        let word = usize::try_from(entry / 64).ok().and_then(|word| self.0.get(word));
        word.is_some_and(|word| word >> (entry % 64) & 1 == 1)
    }

    /// The entries of a set that are not here.
    pub fn without(&self, entries: &EntrySet, all: u64) -> EntrySet {
        let mut left = EntrySetBuilder::new(all);
        for run in entries.all_runs() {
            let mut at = run.start;
            for entry in run.clone().filter(|entry| self.has(*entry)) {
                left.push(at..entry);
                at = entry + 1;
            }
            left.push(at..run.end);
        }
        left.finish()
    }
}
