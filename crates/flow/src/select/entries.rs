//! Which entries are meant, as users say it: ranges, a share at random, or a list in a file. It reads no tree.

use std::ops::Range;
use std::path::{Path, PathBuf};

use dataset::glob::{ColumnPattern, TreePattern};
use rootfile::{Error, Result};

use crate::arrow::read::Selection;
use crate::table::entry_set::{Chooser, Selected};

/// Most entries of which a share is taken: each is asked.
const MOST_ASKED: u64 = 1 << 36;

/// Some of the entries of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Entries {
    /// All.
    #[default]
    All,
    /// A share of them, at random.
    Share(f64),
    /// Those in any of these ranges.
    Ranges(Vec<Slice>),
    /// Those whose numbers stand in a file, one a line.
    Listed(PathBuf),
}

/// A range of entries as Python's slices have it: from the first up to and without the second, either of which may be
/// left out, and is counted from the end where it is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// The first, if it is not the very first.
    pub start: Option<i128>,
    /// The one after the last, if it is not the very last.
    pub end: Option<i128>,
}

impl Slice {
    fn of(self, all: u64) -> Range<u64> {
        let place = |number: i128| {
            let number = if number < 0 { number + i128::from(all) } else { number };
            u64::try_from(number.max(0)).unwrap_or(u64::MAX).min(all)
        };
        let start = self.start.map_or(0, place);
        start..self.end.map_or(all, place).max(start)
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
    /// Those of a table that has `all`. The seed chooses those of a share.
    pub(crate) fn of(&self, all: u64, seed: u64) -> Result<Selected> {
        let mut chosen = Chooser::new(all);
        match self {
            Self::All => chosen.push(0..all),
            Self::Ranges(slices) => {
                let mut ranges: Vec<Range<u64>> = slices.iter().map(|slice| slice.of(all)).collect();
                ranges.sort_unstable_by_key(|range| range.start);
                ranges.into_iter().for_each(|range| chosen.push(range));
            }
            Self::Share(_) if all > MOST_ASKED => {
                return Err(Error::request(format!("{all} entries are too many to take a share of")));
            }
            Self::Share(share) => {
                // Each entry by its own throw of the dice: as events are picked.
                (0..all).filter(|&entry| spread(seed, entry) < *share).for_each(|entry| chosen.push(entry..entry + 1));
            }
            Self::Listed(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
                let number = |line: &str| {
                    line.parse::<u64>().map_err(|_| Error::request(format!("{line:?} is no entry number")).file(path))
                };
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
                let mut entries = lines.map(number).collect::<Result<Vec<_>>>()?;
                entries.sort_unstable();
                entries.iter().for_each(|&entry| chosen.push(entry..entry.saturating_add(1)));
            }
        }
        Ok(chosen.finish())
    }

    /// The file that lists them, if one does.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Listed(path) => Some(path),
            _ => None,
        }
    }

    /// Those of a table that has `all`, as a read wants them: a range, and which entries of it, if not all.
    pub fn choose(&self, all: u64, seed: u64) -> Result<(Range<u64>, Option<Selection>)> {
        let chosen = self.of(all, seed)?;
        let mut runs = chosen.all();
        match (runs.next(), runs.next()) {
            (first, None) => Ok((first.unwrap_or(0..0), None)),
            _ => Ok((0..all, Some(Selection::sorted(chosen.all().flatten().collect::<Vec<_>>())?))),
        }
    }
}

/// A number from 0 to 1 that depends on the seed and the place (SplitMix64).
#[expect(clippy::cast_precision_loss, reason = "53 bits")]
pub fn spread(seed: u64, place: u64) -> f64 {
    let mut z = seed.wrapping_add(place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Which entries of which trees are kept.
#[derive(Clone, Debug, Default)]
pub struct EntryFilter {
    /// Entries of the trees that match, or of all: those that any of these names.
    pub entries: Vec<(Option<TreePattern>, Entries)>,
    /// Of these only those for which such a column is true, in trees that have it.
    pub conditions: Vec<ColumnPattern>,
}

impl From<Range<u64>> for EntryFilter {
    fn from(range: Range<u64>) -> Self {
        Self { entries: vec![(None, range.into())], conditions: Vec::new() }
    }
}

impl EntryFilter {
    /// Adds `[TREE=]ENTRIES`.
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
        self.entries.is_empty() && self.conditions.is_empty()
    }

    /// What is asked of a tree, conditions aside.
    pub(crate) fn of_tree(&self, tree: &str) -> Self {
        let speaks = |pattern: &Option<TreePattern>| pattern.as_ref().is_none_or(|pattern| pattern.matches(tree));
        let entries = self.entries.iter().filter(|(pattern, _)| speaks(pattern)).cloned().collect();
        Self { entries, conditions: Vec::new() }
    }

    /// The entries asked for of a tree that has `all`, conditions aside; none if nothing is asked.
    pub(crate) fn chosen(&self, all: u64) -> Result<Option<Selected>> {
        let mut found: Option<Selected> = None;
        for (_, entries) in &self.entries {
            let chosen = entries.of(all, 1)?;
            found = Some(found.map_or_else(|| chosen.clone(), |found| found.or(&chosen)));
        }
        Ok(found)
    }

    /// A tree pattern that matches none of these.
    pub(crate) fn idle(&self, trees: &[String]) -> Option<&TreePattern> {
        let is_idle = |pattern: &&TreePattern| !trees.iter().any(|tree| pattern.matches(tree));
        self.entries.iter().filter_map(|(pattern, _)| pattern.as_ref()).find(is_idle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, all: u64) -> Vec<u64> {
        text.parse::<Entries>().unwrap().of(all, 1).unwrap().all().flatten().collect()
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
        assert!(Entries::Share(0.01).of(u64::MAX, 1).is_err());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picked.txt");
        std::fs::write(&path, "# mine\n7\n3\n\n7\n99\n").unwrap();
        assert_eq!(of(path.to_str().unwrap(), 10), [3, 7]);
        std::fs::write(&path, "x").unwrap();
        assert!(Entries::Listed(path).of(10, 1).is_err());
    }

    #[test]
    fn reads_are_given_a_range_where_there_is_one() {
        let choose = |text: &str| text.parse::<Entries>().unwrap().choose(10, 1).unwrap();
        assert_eq!(choose("2:4"), (2..4, None));
        assert_eq!(choose("5:2"), (0..0, None));
        let (range, chosen) = choose("2:4,9:");
        assert_eq!((range, chosen.unwrap().entries()), (0..10, &[2, 3, 9][..]));
    }

    #[test]
    fn trees_have_their_own() {
        let mut filter = EntryFilter::default();
        filter.add("Ev*=0:2").unwrap();
        filter.add("9:").unwrap();
        let of = |tree| filter.of_tree(tree).chosen(10).unwrap().unwrap().all().flatten().collect::<Vec<_>>();
        assert_eq!(of("dir/Events"), [0, 1, 9]);
        assert_eq!(of("Runs"), [9]);
        assert_eq!(filter.idle(&["Runs".to_owned()]).unwrap().as_str(), "Ev*");
        assert!(filter.idle(&["Events".to_owned()]).is_none());
        assert!(EntryFilter::default().of_tree("Events").chosen(10).unwrap().is_none());
    }
}
