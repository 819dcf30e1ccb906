//! Which columns and entries are read: as the user says it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use dataset::glob::Pattern;
use flow::read::{Dataset, Friend, Selection};
use rootfile::{Error, Result};

use crate::cost::spread;

/// Says whether a column is meant, by its name.
type Test = Box<dyn Fn(&str) -> bool>;

/// Which columns are read.
#[derive(Clone, Debug, Default)]
pub enum Columns {
    /// All.
    #[default]
    All,
    /// Those of these names, or that match these patterns; each must match some.
    Named(Vec<String>),
    /// Those whose name one of these expressions matches as a whole; each must match some.
    Matching(Vec<String>),
}

impl Columns {
    /// The columns meant, in the order of the tree. What is no branch of its own is looked for among those of its
    /// friends, which are called `friend.branch`, and come last.
    pub(super) fn choose(&self, dataset: &Dataset) -> Result<Vec<usize>> {
        let name = |column: usize| dataset.column(column).map_or("", |plan| plan.field().name().as_str());
        let own = 0..dataset.columns().len();
        let by = |matches: &[Test], texts: &[String]| {
            let (mut found, mut of_friends) = (BTreeSet::new(), BTreeSet::new());
            for (is_meant, text) in matches.iter().zip(texts) {
                let all_own: Vec<usize> = own.clone().filter(|&column| is_meant(name(column))).collect();
                if all_own.is_empty() {
                    let friends = dataset.friends().iter().flat_map(Friend::columns);
                    let theirs: Vec<usize> = friends.filter(|&column| is_meant(name(column))).collect();
                    if theirs.is_empty() {
                        return Err(none(dataset, text));
                    }
                    of_friends.extend(theirs);
                }
                found.extend(all_own);
            }
            Ok(found.into_iter().chain(of_friends).collect())
        };
        match self {
            Self::All => Ok(own.collect()),
            Self::Named(texts) => {
                let patterns = texts.iter().map(|text| {
                    let pattern = Pattern::new(text)?;
                    // A branch is meant with all below it, and by its last name alone.
                    Ok(Box::new(move |name: &str| {
                        name.match_indices('/').map(|(i, _)| i).chain([name.len()]).any(|end| {
                            let upto = name.get(..end).unwrap_or(name);
                            pattern.matches(upto) || upto.rsplit('/').next().is_some_and(|last| pattern.matches(last))
                        })
                    }) as Test)
                });
                by(&patterns.collect::<Result<Vec<_>>>()?, texts)
            }
            Self::Matching(texts) => {
                let patterns = texts.iter().map(|text| {
                    let pattern = Pattern::expression(text)?;
                    Ok(Box::new(move |name: &str| {
                        pattern.matches(name) || name.rsplit('/').next().is_some_and(|last| pattern.matches(last))
                    }) as Test)
                });
                by(&patterns.collect::<Result<Vec<_>>>()?, texts)
            }
        }
    }
}

/// Why a text means no column: perhaps it is one of a friend that cannot be read.
fn none(dataset: &Dataset, text: &str) -> Error {
    let named = |friend: &&Friend| text.strip_prefix(friend.name()).is_some_and(|rest| rest.starts_with('.'));
    let why = dataset.friends().iter().filter(named).find_map(|friend| friend.tree().err());
    why.unwrap_or_else(|| Error::request(format!("no branch of {} or its friends matches {text}", dataset.path())))
}

/// Which entries are read.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Entries {
    /// All.
    #[default]
    All,
    /// A share of them, at random.
    Share(f64),
    /// From the first up to and without the second.
    Range(u64, u64),
    /// Those whose numbers stand in a file, one a line.
    Listed(PathBuf),
}

impl std::str::FromStr for Entries {
    type Err = Error;

    /// `1%`, `100:200`, or a file's name.
    fn from_str(text: &str) -> Result<Self> {
        if let Some(number) = text.strip_suffix('%') {
            let share = number.trim().parse::<f64>().ok().map(|n| n / 100.0).filter(|s| *s > 0.0 && *s <= 1.0);
            return share.map(Self::Share).ok_or_else(|| Error::request(format!("{text}: not a share of entries")));
        }
        if let Some((from, to)) = text.split_once(':')
            && let (Ok(from), Ok(to)) = (from.parse(), to.parse())
        {
            return Ok(Self::Range(from, to));
        }
        Ok(Self::Listed(text.into()))
    }
}

/// The entries meant.
pub(super) struct Chosen {
    pub range: Range<u64>,
    pub chosen: Option<Selection>,
}

impl Entries {
    pub(super) fn choose(&self, all: u64, seed: u64) -> Result<Chosen> {
        match self {
            Self::All => Ok(Chosen { range: 0..all, chosen: None }),
            Self::Range(from, to) => Ok(Chosen { range: (*from).min(all)..(*to).min(all), chosen: None }),
            Self::Share(share) => {
                // Each entry by its own throw of the dice: as events are picked.
                let entries: Vec<u64> = (0..all).filter(|&entry| spread(seed, entry) < *share).collect();
                Ok(Chosen { range: 0..all, chosen: Some(Selection::sorted(entries)?) })
            }
            Self::Listed(path) => {
                let text = std::fs::read_to_string(path).map_err(|e| Error::from(e).file(path))?;
                let number = |line: &str| {
                    line.parse::<u64>().map_err(|_| Error::request(format!("{line:?} is no entry number")).file(path))
                };
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
                let mut entries = lines.map(number).collect::<Result<Vec<_>>>()?;
                entries.sort_unstable();
                entries.dedup();
                Ok(Chosen { range: 0..all, chosen: Some(Selection::sorted(entries)?) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_ranges_and_lists() {
        assert_eq!("1%".parse::<Entries>().unwrap(), Entries::Share(0.01));
        assert_eq!("3:70".parse::<Entries>().unwrap(), Entries::Range(3, 70));
        assert_eq!("picked.txt".parse::<Entries>().unwrap(), Entries::Listed("picked.txt".into()));
        assert!("200%".parse::<Entries>().is_err());
        let one = Entries::Share(0.01).choose(100_000, 1).unwrap().chosen.unwrap();
        assert!((800..1200).contains(&one.entries().len()), "{}", one.entries().len());
    }

    #[test]
    fn lists_are_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("picked.txt");
        std::fs::write(&path, "# mine\n7\n3\n\n7\n").unwrap();
        let chosen = Entries::Listed(path.clone()).choose(10, 1).unwrap().chosen.unwrap();
        assert_eq!(chosen.entries(), [3, 7]);
        std::fs::write(&path, "x").unwrap();
        assert!(Entries::Listed(path).choose(10, 1).is_err());
    }
}
