//! The entries that users ask for: ranges, a random share, or a list in a file. No tree is read here.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::glob::TreePattern;
use crate::{EntrySet, EntrySetBuilder};
use rootfile::{Error, Result};

/// Largest table of which a share can be taken: each entry is tested.
const MOST_FOR_SHARE: u64 = 1 << 36;

/// Some of the entries of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Entries {
    /// All.
    #[default]
    All,
    /// A random share of them.
    Share(f64),
    /// The entries in any of these ranges.
    Ranges(Vec<Slice>),
    /// The entries whose numbers stand in a file, one a line.
    Listed(PathBuf),
    /// These entries, which a program has found.
    Chosen(EntrySet),
}

/// A range of entries like a slice in Python. Each bound may be left out; a negative bound counts from the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The first entry. The first of the table, if not given.
    pub start: Option<i128>,
    /// The entry after the last. The end of the table, if not given.
    pub end: Option<i128>,
}

impl Slice {
    fn resolve(self, all: u64) -> Range<u64> {
        let place = |number: i128| {
            let number = if number < 0 { number + i128::from(all) } else { number };
            u64::try_from(number.max(0)).unwrap_or(u64::MAX).min(all)
        };
        let start = self.start.map_or(0, place);
        start..self.end.map_or(all, place).max(start)
    }
}

impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: Option<i128>| bound.map(|bound| bound.to_string()).unwrap_or_default();
        match self {
            Self::All => f.write_str(":"),
            Self::Share(share) => write!(f, "{}%", share * 100.0),
            Self::Ranges(slices) => {
                let texts: Vec<_> =
                    slices.iter().map(|slice| format!("{}:{}", bound(slice.start), bound(slice.end))).collect();
                f.write_str(&texts.join(","))
            }
            Self::Listed(path) => path.display().fmt(f),
            Self::Chosen(entries) => write!(f, "{} entries", entries.len()),
        }
    }
}

impl From<Range<u64>> for Entries {
    fn from(range: Range<u64>) -> Self {
        Self::Ranges(vec![Slice { start: Some(range.start.into()), end: Some(range.end.into()) }])
    }
}

impl std::str::FromStr for Entries {
    type Err = Error;

    /// `1%`, `100:200`, `:10,-10:`, or a file's name.
    fn from_str(text: &str) -> Result<Self> {
        if let Some(number) = text.strip_suffix('%') {
            let share = number.trim().parse::<f64>().ok().map(|n| n / 100.0).filter(|s| *s > 0.0 && *s <= 1.0);
            return share.map(Self::Share).ok_or_else(|| Error::request(format!("{text}: not a share of entries")));
        }
        let ranges = text.split(',').map(slice).collect::<Option<Vec<_>>>();
        Ok(ranges.map_or_else(|| Self::Listed(text.into()), Self::Ranges))
    }
}

fn slice(text: &str) -> Option<Slice> {
    // No count of entries needs more digits, nor does its negative.
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text => text.parse::<i64>().ok().map(|n| Some(n.into())),
    };
    let (start, end) = text.split_once(':')?;
    Some(Slice { start: number(start)?, end: number(end)? })
}

impl Entries {
    /// The set of entries, in a table that has `all`. A share depends on the seed.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or the table is too large for a share.
    pub fn resolve(&self, all: u64, seed: u64) -> Result<EntrySet> {
        let mut set = EntrySetBuilder::new(all);
        match self {
            Self::All => set.push(0..all),
            Self::Ranges(slices) => {
                let mut ranges: Vec<Range<u64>> = slices.iter().map(|slice| slice.resolve(all)).collect();
                ranges.sort_unstable_by_key(|range| range.start);
                ranges.into_iter().for_each(|range| set.push(range));
            }
            Self::Chosen(entries) => entries.all_runs().for_each(|run| set.push(run)),
            Self::Share(_) if all > MOST_FOR_SHARE => {
                return Err(Error::request(format!("{all} entries are too many to take a share of")));
            }
            Self::Share(share) => {
                // Each entry has a random number of its own, as picked events do.
                (0..all).filter(|&entry| uniform(seed, entry) < *share).for_each(|entry| set.push(entry..entry + 1));
            }
            Self::Listed(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
                    io::ErrorKind::NotFound => {
                        let text = path.display();
                        let what =
                            format!("{text} is neither a range of entries (100:200), nor a share (1%), nor a file");
                        Error::from(io::Error::new(e.kind(), what))
                    }
                    _ => Error::from(e).file(path),
                })?;
                let number = |line: &str| {
                    line.parse::<u64>().map_err(|_| Error::request(format!("{line:?} is no entry number")).file(path))
                };
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
                let mut entries = lines.map(number).collect::<Result<Vec<_>>>()?;
                entries.sort_unstable();
                entries.iter().for_each(|&entry| set.push(entry..entry.saturating_add(1)));
            }
        }
        Ok(set.finish())
    }

    /// Whether a table that has `all` should have some of them: a random share may be of none by chance, and a table without entries has
    /// none. What cannot be read is an error of the work.
    pub fn should_select(&self, all: u64) -> bool {
        all == 0
            || matches!(self, Self::All | Self::Share(_))
            || self.resolve(all, 1).is_ok_and(|set| !set.is_empty())
            || self.file().is_some_and(|file| !file.exists())
    }

    /// The file that lists the entries, if they come from one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Listed(path) => Some(path),
            _ => None,
        }
    }

    /// The entries for a read of a table that has `all`: a range, and the entries among these, if not all.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or the table is too large for a share.
    pub fn choose(&self, all: u64, seed: u64) -> Result<(Range<u64>, Option<EntrySet>)> {
        let set = self.resolve(all, seed)?;
        let mut runs = set.all_runs();
        match (runs.next(), runs.next()) {
            (first, None) => Ok((first.unwrap_or(0..0), None)),
            _ => Ok((0..all, Some(EntrySet::sorted(set.all_runs().flatten().collect::<Vec<_>>())?))),
        }
    }
}

/// A number from 0 to 1 that depends on the seed and the index alone (SplitMix64).
///
/// ```
/// let drawn = dataset::uniform(1, 42);
/// assert!((0.0..1.0).contains(&drawn));
/// assert_eq!(drawn, dataset::uniform(1, 42));
/// ```
#[expect(clippy::cast_precision_loss, reason = "53 bits")]
pub fn uniform(seed: u64, index: u64) -> f64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// The entries of each tree that are kept.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Entries of the trees that match a pattern, or of all trees. An entry is kept if any of these names it.
    pub entries: Vec<(Option<TreePattern>, Entries)>,
    /// Expressions that must be true for an entry to be kept, one after the other, in trees that have their columns.
    pub cuts: Vec<String>,
    /// An expression whose sum over the entries is told before and after each cut.
    pub weight: Option<String>,
}

impl EntryFilter {
    /// Whether all entries are kept.
    pub fn is_all(&self) -> bool {
        self.entries.is_empty() && self.cuts.is_empty()
    }
}

impl From<Range<u64>> for EntryFilter {
    fn from(range: Range<u64>) -> Self {
        Self { entries: vec![(None, range.into())], ..Self::default() }
    }
}

impl EntryFilter {
    /// Adds `[TREE=]ENTRIES`.
    ///
    /// # Errors
    ///
    /// The text is no pattern, or no selection of entries.
    pub fn add(&mut self, text: &str) -> Result<()> {
        let (tree, entries) = match text.split_once('=') {
            Some((tree, entries)) if !PathBuf::from(text).exists() => (Some(TreePattern::new(tree)?), entries),
            _ => (None, text),
        };
        self.entries.push((tree, entries.parse()?));
        Ok(())
    }

    /// The files that list entries.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.entries.iter().filter_map(|(_, entries)| entries.file())
    }

    /// Whether all entries of all trees are kept.
    pub fn keeps_all(&self) -> bool {
        self.entries.is_empty() && self.cuts.is_empty()
    }

    /// The filter for one tree, without cuts.
    pub fn for_tree(&self, tree: &str) -> Self {
        let applies = |pattern: &Option<TreePattern>| pattern.as_ref().is_none_or(|pattern| pattern.matches(tree));
        let entries = self.entries.iter().filter(|(pattern, _)| applies(pattern)).cloned().collect();
        Self { entries, ..Self::default() }
    }

    /// The set of entries in a tree that has `all`, without cuts. `None` if the filter names no entries.
    ///
    /// # Errors
    ///
    /// As [`Entries::resolve`].
    pub fn resolve(&self, all: u64) -> Result<Option<EntrySet>> {
        let mut found: Option<EntrySet> = None;
        for (_, entries) in &self.entries {
            let set = entries.resolve(all, 1)?;
            found = Some(found.map_or_else(|| set.clone(), |found| found.union(&set)));
        }
        Ok(found)
    }

    /// A tree pattern that matches none of these trees.
    pub fn unmatched_pattern(&self, trees: &[String]) -> Option<&TreePattern> {
        let is_unmatched = |pattern: &&TreePattern| !trees.iter().any(|tree| pattern.matches(tree));
        self.entries.iter().filter_map(|(pattern, _)| pattern.as_ref()).find(is_unmatched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, all: u64) -> Vec<u64> {
        text.parse::<Entries>().unwrap().resolve(all, 1).unwrap().all_runs().flatten().collect()
    }

    #[test]
    fn ranges_are_as_in_python() {
        assert_eq!(of("2:4", 10), [2, 3]);
        assert_eq!(of("-2:", 10), [8, 9]);
        assert_eq!(of(":-8", 10), [0, 1]);
        assert_eq!(of("8:100", 10), [8, 9]);
        assert_eq!(of("7:9,0:2, 1:3 ", 10), [0, 1, 2, 7, 8]);
        assert_eq!(of(":", 2), [0, 1]);
        for nothing in ["5:5", "7:3", "100:", "-3:-5", ":-100", "5:6"] {
            assert!(of(nothing, 5).is_empty(), "{nothing}");
        }
    }

    #[test]
    fn shares_and_lists() {
        assert_eq!("1%".parse::<Entries>().unwrap(), Entries::Share(0.01));
        assert_eq!("3:7o".parse::<Entries>().unwrap(), Entries::Listed("3:7o".into()));
        assert!("200%".parse::<Entries>().is_err());
        assert!((800..1200).contains(&of("1%", 100_000).len()));
        assert!(Entries::Share(0.01).resolve(u64::MAX, 1).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picked.txt");
        std::fs::write(&path, "# mine\n7\n3\n\n7\n99\n").unwrap();
        assert_eq!(of(path.to_str().unwrap(), 10), [3, 7]);
        std::fs::write(&path, "x").unwrap();
        assert!(Entries::Listed(path).resolve(10, 1).is_err());
    }

    #[test]
    fn reads_are_given_a_range_where_there_is_one() {
        let choose = |text: &str| text.parse::<Entries>().unwrap().choose(10, 1).unwrap();
        assert_eq!(choose("2:4"), (2..4, None));
        assert_eq!(choose("5:2"), (0..0, None));
        let (range, set) = choose("2:4,9:");
        assert_eq!((range, set.unwrap()), (0..10, EntrySet::sorted([2, 3, 9]).unwrap()));
    }

    #[test]
    fn trees_have_their_own() {
        let mut filter = EntryFilter::default();
        filter.add("Ev*=0:2").unwrap();
        filter.add("9:").unwrap();
        let of = |tree| filter.for_tree(tree).resolve(10).unwrap().unwrap().all_runs().flatten().collect::<Vec<_>>();
        assert_eq!(of("dir/Events"), [0, 1, 9]);
        assert_eq!(of("Runs"), [9]);
        assert_eq!(filter.unmatched_pattern(&["Runs".to_owned()]).unwrap().as_str(), "Ev*");
        assert!(filter.unmatched_pattern(&["Events".to_owned()]).is_none());
        assert!(EntryFilter::default().for_tree("Events").resolve(10).unwrap().is_none());
    }
}
