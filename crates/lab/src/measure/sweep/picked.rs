//! Entries that are picked at random, the same for each seed, and their index files.

use std::path::{Path, PathBuf};

use rootfile::{OutputFile, Result};

/// A share of the entries: a random number decides for each entry.
pub(super) struct Picked {
    all: u64,
    share: f64,
    seed: u64,
}

impl Picked {
    pub fn new(all: u64, share: f64, seed: u64) -> Self {
        Self { all, share, seed }
    }

    fn entries(&self) -> impl Iterator<Item = u64> {
        (0..self.all).filter(|&entry| flow::uniform(self.seed, entry) < self.share)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        if self.share >= 1.0 { self.all } else { (self.entries().count() as u64).max(1) }
    }

    /// Writes an index file of these entries. It has at least two entries, or one if the tree has only one.
    pub fn write(&self, folder: &Path, what: &str) -> Result<PathBuf> {
        let path = folder.join(format!("{what}-{}-{}.txt", self.all, self.share));
        if !path.exists() {
            let mut entries: Vec<u64> = self.entries().collect();
            if entries.len() < 2 {
                entries.extend([0, self.all.saturating_sub(1)]);
                entries.sort_unstable();
                entries.dedup();
            }
            let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
            OutputFile::replace(&path, &lines)?;
        }
        Ok(path)
    }
}
