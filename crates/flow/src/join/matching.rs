//! Who is joined with whom. The rows of all tables come in the order of their keys, and of one key those on the right come first: so the
//! partner of an entry on the left is known when its row comes, and one row of each table is all that is kept. Pairs are sorted again, by
//! the places of the left entries.

use std::path::Path;

use dataset::EntrySet;
use rootfile::{Error, Hint, Result};

use super::bounds::PackedRange;
use super::report::{How, JoinedTable, KeyedEntry, MOST_LISTED};
use crate::execute::budget::Budget;
use crate::execute::progress::{Progress, tell};
use crate::keys::key_type::KeyType;
use crate::keys::{EntryBits, EntryOfKey, Merged, Row, Sorter, first_place};

/// The place of a partner that is not there.
const NONE: u64 = u64::MAX;

/// The files of all tables, one behind the other: those of each table on the right, then those on the left.
#[derive(Clone, Debug)]
pub(super) struct FilesOfTables {
    /// Behind the last file of each table on the right.
    pub ends: Vec<usize>,
    /// The number of the first entry of each file on the left, in the whole table; and behind them that of all.
    pub firsts: Vec<u64>,
}

impl FilesOfTables {
    /// The number of the first file on the left.
    pub fn left(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The number of the table on the right that has a file; `None` for one on the left.
    fn table_of(&self, file: usize) -> Option<usize> {
        let table = self.ends.partition_point(|end| *end <= file);
        (table < self.ends.len()).then_some(table)
    }

    /// The number of the first file of a table on the right.
    fn first(&self, table: usize) -> usize {
        table.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0)
    }

    /// The number in the whole table on the left of the entry of a row.
    fn entry_of(&self, row: Row) -> u64 {
        let file = row.file().saturating_sub(self.left());
        self.firsts.get(file).copied().unwrap_or(0) + row.entry()
    }

    /// All entries on the left.
    pub fn entries(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }
}

/// How rows are matched.
pub(super) struct MatchRule<'a> {
    pub of: &'a KeyType,
    pub how: How,
    /// Whether the first of several entries of a table on the right with one key is taken.
    pub first: bool,
    /// The keys that count: entries with others are not there.
    pub range: PackedRange,
    /// The file and the number of the entry of a row.
    pub place: &'a dyn Fn(Row) -> EntryOfKey,
}

/// What was found.
pub(super) struct Matches {
    /// The partners, those of each table on the right after those of the one before, in the order of the left entries.
    pub pairs: Merged,
    /// Entries of the left table with keys that count.
    pub left: u64,
    /// What is told of each table on the right, as far as keys say it.
    pub right: Vec<JoinedTable>,
    /// The left entries that are written. `None`: all.
    pub chosen: Option<EntrySet>,
}

/// Matches rows, which come in the order of their keys. Pairs that have no room in the budget wait beside the output.
///
/// # Errors
///
/// A table on the right has a key twice, or a temporary file cannot be written.
pub(super) fn matches(
    mut rows: Merged,
    files: &FilesOfTables,
    rule: &MatchRule<'_>,
    budget: Budget,
    beside: &Path,
    progress: Progress<'_>,
) -> Result<Matches> {
    let sorter = Sorter::new(budget, 1, Some(beside))?;
    let mut filling = sorter.filling();
    let count = files.ends.len();
    let right = vec![JoinedTable::default(); count];
    let mut matcher = Matcher {
        files,
        rule,
        right,
        left: 0,
        key: None,
        partners: vec![None; count],
        has_left: false,
        dropped: EntryBits::default(),
        any_dropped: false,
    };
    let mut pairs = Vec::new();
    rows.each_block(|rows| {
        pairs.clear();
        rows.iter().try_for_each(|row| matcher.take(*row, &mut pairs))?;
        filling.add(pairs.drain(..))?;
        tell(progress, 0)
    })?;
    matcher.end_key();
    drop(filling);
    let all = files.entries();
    let chosen = matcher.any_dropped.then(|| matcher.dropped.without(&EntrySet::range(0..all), all));
    let (left, right) = (matcher.left, matcher.right);
    Ok(Matches { pairs: sorter.finish()?, left, right, chosen })
}

/// The entries of a table on the right with the key that has come last.
#[derive(Clone, Copy)]
struct Partner {
    first: Row,
    count: u64,
}

struct Matcher<'a> {
    files: &'a FilesOfTables,
    rule: &'a MatchRule<'a>,
    right: Vec<JoinedTable>,
    left: u64,
    /// The key that has come last, and what has it.
    key: Option<u128>,
    partners: Vec<Option<Partner>>,
    has_left: bool,
    /// The left entries without a partner in some table on the right, where they are not written.
    dropped: EntryBits,
    any_dropped: bool,
}

impl Matcher<'_> {
    /// Takes the next row, and adds its pairs.
    fn take(&mut self, row: Row, pairs: &mut Vec<Row>) -> Result<()> {
        if self.key != Some(row.key()) {
            self.end_key();
            self.key = Some(row.key());
        }
        let counts = self.rule.range.has(row.key());
        match self.files.table_of(row.file()) {
            Some(_) if !counts => Ok(()),
            Some(table) => self.take_right(table, row),
            None if !counts => {
                self.drop_left(row);
                let (place, tables) = (self.place_of(row), 0..self.right.len());
                pairs.extend(tables.map(|table| pair(table, place, NONE)));
                Ok(())
            }
            None => {
                self.take_left(row, pairs);
                Ok(())
            }
        }
    }

    fn take_right(&mut self, table: usize, row: Row) -> Result<()> {
        let (Some(partner), Some(told)) = (self.partners.get_mut(table), self.right.get_mut(table)) else {
            return Ok(());
        };
        told.entries += 1;
        match partner {
            None => *partner = Some(Partner { first: row, count: 1 }),
            Some(_) if self.rule.first => {
                partner.iter_mut().for_each(|partner| partner.count += 1);
                told.repeated += 1;
            }
            Some(Partner { first, .. }) => return Err(twice(self.rule, *first, row)),
        }
        Ok(())
    }

    fn take_left(&mut self, row: Row, pairs: &mut Vec<Row>) {
        self.has_left = true;
        self.left += 1;
        let place = self.place_of(row);
        for (table, (partner, told)) in self.partners.iter().zip(&mut self.right).enumerate() {
            let of_right = match partner {
                Some(Partner { first, .. }) => {
                    told.matched += 1;
                    first.place() - first_place(self.files.first(table))
                }
                None => {
                    told.missing += 1;
                    list(&mut told.missing_entries, self.rule, row);
                    NONE
                }
            };
            pairs.push(pair(table, place, of_right));
        }
        if self.rule.how == How::Inner && self.partners.iter().any(Option::is_none) {
            self.drop_left(row);
        }
    }

    /// Leaves a left entry out of the output.
    fn drop_left(&mut self, row: Row) {
        self.dropped.add(self.files.entry_of(row));
        self.any_dropped = true;
    }

    /// The place of a left entry among those of the left files.
    fn place_of(&self, row: Row) -> u64 {
        row.place() - first_place(self.files.left())
    }

    /// Tells what has no partner on the left.
    fn end_key(&mut self) {
        for (partner, told) in self.partners.iter_mut().zip(&mut self.right) {
            if let (Some(Partner { first, count }), false) = (partner.take(), self.has_left) {
                told.unused += count;
                list(&mut told.unused_entries, self.rule, first);
            }
        }
        self.has_left = false;
    }
}

/// The pair of a left entry with one of a table on the right.
fn pair(table: usize, left: u64, right: u64) -> Row {
    Row::new((table as u128) << 64 | u128::from(left), right)
}

fn list(listed: &mut Vec<KeyedEntry>, rule: &MatchRule<'_>, row: Row) {
    if listed.len() < MOST_LISTED {
        listed.push(KeyedEntry { key: rule.of.texts(row.key()), entry: (rule.place)(row) });
    }
}

/// Refuses a key that several entries of a table on the right have.
fn twice(rule: &MatchRule<'_>, first: Row, other: Row) -> Error {
    let key = rule.of.texts(first.key()).join(":");
    let at = |row: Row| {
        let EntryOfKey { file, entry } = (rule.place)(row);
        format!("entry {entry} of {}", file.display())
    };
    let hint = Hint::switch("first");
    let (one, two) = (at(first), at(other));
    let message =
        format!("{key} is the key of {one} and of {two}, so an entry would have two partners; {hint} takes the first");
    Error::request(message).hint(hint)
}

/// The partners of the left entries in one table on the right after the other.
pub(super) struct Partners {
    pairs: Merged,
    rows: Vec<Row>,
    at: usize,
}

impl Partners {
    pub fn new(pairs: Merged) -> Self {
        Self { pairs, rows: Vec::new(), at: 0 }
    }

    /// The place of the partner, as file and entry, of the next left entry in this table; the inner `None` if there is no partner. There
    /// are no more entries if there is none.
    pub fn next(&mut self, table: usize) -> Result<Option<Option<(usize, u64)>>> {
        if self.at == self.rows.len() {
            self.rows.clear();
            self.rows.extend_from_slice(self.pairs.next_block()?);
            self.at = 0;
        }
        let Some(row) = self.rows.get(self.at).filter(|row| row.key() >> 64 == table as u128) else { return Ok(None) };
        self.at += 1;
        Ok(Some((row.place() != NONE).then(|| (row.file(), row.entry()))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow_schema::DataType;
    use proptest::prelude::*;

    use super::*;
    use crate::execute::progress::unwatched;
    use crate::join::bounds::KeyRange;
    use crate::keys::key_type::KeyPart;

    fn of() -> KeyType {
        KeyType::of_types(&[KeyPart::new("k", &DataType::UInt32).unwrap()]).unwrap()
    }

    fn place(row: Row) -> EntryOfKey {
        EntryOfKey { file: format!("{}.root", row.file()).into(), entry: row.entry() }
    }

    /// Tables on the right, each of files of keys, and the files of the left one.
    fn matched(right: &[Vec<Vec<u32>>], left: &[Vec<u32>], how: How, first: bool, memory: u64) -> Result<Matches> {
        let budget = Budget::new(memory, 1);
        let sorter = Sorter::new(budget, 1, None).unwrap();
        for (file, keys) in right.iter().flatten().chain(left).enumerate() {
            let rows = keys.iter().zip(first_place(file)..).map(|(key, place)| Row::new(u128::from(*key), place));
            sorter.filling().add(rows).unwrap();
        }
        let mut ends = Vec::new();
        for table in right {
            ends.push(ends.last().copied().unwrap_or(0) + table.len());
        }
        let mut firsts = vec![0];
        for keys in left {
            firsts.push(firsts.last().copied().unwrap_or(0) + keys.len() as u64);
        }
        let (files, of) = (FilesOfTables { ends, firsts }, of());
        let range = PackedRange::of(KeyRange::default(), &of)?;
        let rule = MatchRule { of: &of, how, first, range, place: &place };
        matches(sorter.finish()?, &files, &rule, budget, Path::new("out.root"), &unwatched)
    }

    #[test]
    fn two_of_one_key_are_named() {
        let right = [vec![vec![1, 7], vec![7]]];
        let Err(error) = matched(&right, &[vec![1]], How::Left, false, 1 << 20) else { panic!("two partners") };
        let said = error.to_string();
        assert!(said.contains("7 is the key of entry 1 of 0.root and of entry 0 of 1.root"), "{said}");
        assert!(said.contains("--first"), "{said}");
        let found = matched(&right, &[vec![7, 8]], How::Left, true, 1 << 20).unwrap();
        let told = &found.right[0];
        assert_eq!((told.entries, told.matched, told.missing, told.unused, told.repeated), (3, 1, 1, 1, 1));
        assert_eq!(told.missing_entries[0].key, ["8"]);
        assert_eq!(told.unused_entries[0].entry, EntryOfKey { file: "0.root".into(), entry: 0 });
        let mut partners = Partners::new(found.pairs);
        assert_eq!(partners.next(0).unwrap(), Some(Some((0, 1))));
        assert_eq!(partners.next(0).unwrap(), Some(None));
        assert_eq!(partners.next(0).unwrap(), None);
    }

    proptest! {
        #[test]
        fn partners_are_those_of_a_dictionary(
            right in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..30, 0..12), 1..3), 1..3),
            left in prop::collection::vec(prop::collection::vec(0u32..30, 0..40), 1..4),
            inner in any::<bool>(),
            memory in 1u64..100_000,
        ) {
            let how = if inner { How::Inner } else { How::Left };
            let found = matched(&right, &left, how, true, memory).unwrap();

            let tables: Vec<BTreeMap<u32, (usize, u64)>> = right.iter().map(|files| {
                let mut known = BTreeMap::new();
                for (file, keys) in files.iter().enumerate() {
                    keys.iter().zip(0..).for_each(|(key, entry)| _ = known.entry(*key).or_insert((file, entry)));
                }
                known
            }).collect();
            let keys: Vec<u32> = left.iter().flatten().copied().collect();
            let mut partners = Partners::new(found.pairs);
            for (number, (known, told)) in tables.iter().zip(&found.right).enumerate() {
                for key in &keys {
                    prop_assert_eq!(partners.next(number).unwrap(), Some(known.get(key).copied()));
                }
                prop_assert_eq!(partners.next(number).unwrap(), None);
                let entries = right[number].iter().flatten().count() as u64;
                let matched = keys.iter().filter(|key| known.contains_key(key)).count() as u64;
                let unused = right[number].iter().flatten().filter(|key| !keys.contains(key)).count() as u64;
                prop_assert_eq!((told.entries, told.repeated), (entries, entries - known.len() as u64));
                prop_assert_eq!((told.matched, told.missing), (matched, keys.len() as u64 - matched));
                prop_assert_eq!(told.unused, unused);
            }
            let all: Vec<u64> = (0..keys.len() as u64).collect();
            let is_kept = |entry: &&u64| !inner || tables.iter().all(|known| known.contains_key(&keys[**entry as usize]));
            let kept: Vec<u64> = all.iter().filter(is_kept).copied().collect();
            let chosen = found.chosen.map_or(all.clone(), |chosen| chosen.all_runs().flatten().collect());
            prop_assert_eq!(chosen, kept);
        }
    }
}
