//! The entries of two tables that have the same keys: an order of each, in which they stand side by side. Of entries that share a key the
//! first of one table goes with the first of the other, and so on.

use std::sync::Arc;

use arrow_array::ArrayRef;
use dataset::EntrySet;
use rootfile::Result;
use serde::Serialize;

use super::columns::{KeyColumns, KeyReading};
use super::key_type::KeyType;
use super::merged::Merged;
use super::row::Row;
use super::sort_key::SortKey;
use super::sorted::{KeysInOrder, key_type};
use crate::execute::budget::Budget;
use crate::execute::order::{Order, OrderBuilder};

/// Most entries that are listed.
const MOST_LISTED: usize = 1000;
/// The part of the memory that sorting the keys of a table may take, and that an order may take.
const SORTING: u64 = 2;
const ORDER: u64 = 16;

/// What was found of the keys of two tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MatchedKeys {
    /// The path of the table.
    pub path: String,
    /// The columns of the key.
    pub key: Vec<String>,
    /// Pairs of entries with the same key.
    pub matched: u64,
    /// Entries of the first side whose keys the second does not have, or not so often.
    pub only_first: LoneKeys,
    /// Entries of the second side whose keys the first does not have, or not so often.
    pub only_second: LoneKeys,
}

/// Entries that have no partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoneKeys {
    /// Their number.
    pub entries: u64,
    /// The first 1000 of them, in the order of their keys.
    pub listed: Vec<LoneKey>,
}

/// An entry that has no partner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoneKey {
    /// The values of its key.
    pub key: Vec<String>,
    /// Its number in the table of all files.
    pub entry: u64,
}

/// The entries of two tables side by side.
pub(crate) struct Matching {
    pub found: MatchedKeys,
    pub orders: [Arc<Order>; 2],
    of: KeyType,
}

/// Matches some entries of the first of two tables with all of the second.
///
/// # Errors
///
/// The columns of a key cannot be read, or the values take more bits than a key has.
pub(crate) fn match_entries(
    tables: [&KeyColumns; 2],
    entries: &EntrySet,
    key: &SortKey,
    budget: Budget,
) -> Result<Matching> {
    let change = |arrays: &[ArrayRef]| key.ordered(arrays);
    let all = EntrySet::range(0..tables[1].dataset().entries());
    let own = Budget { memory: budget.memory / SORTING, ..budget };
    let reading = |side: usize, entries| KeysInOrder { columns: tables[side], entries, budget: own, beside: None };
    let readings = [reading(0, entries), reading(1, &all)];
    let of = key_type(&readings, &change).map_err(|e| budget.in_whole(e, SORTING))?;
    let sorted = |reading: &KeysInOrder<'_>| reading.sorted(&of, &change, &mut |_, _, _| ());
    let mut first = RowStream::new(sorted(&readings[0])?);
    let mut second = RowStream::new(sorted(&readings[1])?);
    let order = |side: usize| OrderBuilder::new(&[tables[side].dataset().entries()], budget.memory / ORDER, None);
    let mut orders = [order(0), order(1)];
    let mut found = MatchedKeys {
        path: tables[0].dataset().path().to_owned(),
        key: key.names().texts().to_vec(),
        ..MatchedKeys::default()
    };
    loop {
        let (one, other) = (first.peek()?, second.peek()?);
        let lone = |lone: &mut LoneKeys, row: Row| {
            lone.entries += 1;
            if lone.listed.len() < MOST_LISTED {
                lone.listed.push(LoneKey { key: key.texts(&of, row.key()), entry: row.place() });
            }
        };
        match (one, other) {
            (None, None) => break,
            (Some(row), other) if other.is_none_or(|other| row.key() < other.key()) => {
                lone(&mut found.only_first, row);
                first.next();
            }
            (one, Some(row)) if one.is_none_or(|one| row.key() < one.key()) => {
                lone(&mut found.only_second, row);
                second.next();
            }
            (Some(one), Some(other)) => {
                orders[0].push_entry(one.place())?;
                orders[1].push_entry(other.place())?;
                found.matched += 1;
                first.next();
                second.next();
            }
            // One of both is there, and has been taken.
            _ => break,
        }
    }
    let [one, other] = orders;
    Ok(Matching { found, orders: [Arc::new(one.finish()?), Arc::new(other.finish()?)], of })
}

impl Matching {
    /// The entry of the first table in a pair, and its key.
    ///
    /// # Errors
    ///
    /// There is no such pair, or the key cannot be read.
    pub fn pair(&self, number: u64, first: &KeyColumns, key: &SortKey, budget: Budget) -> Result<(u64, Vec<String>)> {
        let mut entry = Vec::new();
        self.orders[0].read(number..number + 1, &mut entry)?;
        let entry = entry.first().copied().flatten().unwrap_or(0);
        let mut texts = Vec::new();
        let reading = KeyReading { entries: entry..entry + 1, selection: None, budget, team: None, before: 0 };
        first.each_step(&reading, &mut |step| {
            let packed = self.of.pack(&key.ordered(&step.arrays), step.rows.count)?;
            texts = packed.first().map(|packed| key.texts(&self.of, *packed)).unwrap_or_default();
            Ok(())
        })?;
        Ok((entry, texts))
    }
}

/// Rows one by one.
struct RowStream {
    rows: Merged,
    block: Vec<Row>,
    at: usize,
}

impl RowStream {
    fn new(rows: Merged) -> Self {
        Self { rows, block: Vec::new(), at: 0 }
    }

    /// The next row, which stays.
    fn peek(&mut self) -> Result<Option<Row>> {
        if self.at >= self.block.len() {
            self.block = self.rows.next_block()?.to_vec();
            self.at = 0;
        }
        Ok(self.block.get(self.at).copied())
    }

    fn next(&mut self) {
        self.at += 1;
    }
}
