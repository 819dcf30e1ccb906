//! Makes an index of the entries of a table: their values are sorted as keys are, within the budget, and its lines are counted in it.

use std::path::Path;

use dataset::EntrySet;
use dataset::tree::{IndexLine, MOST_INDEX_LINES, TreeIndex};
use rootfile::{Error, Result};

use super::index_values::IndexValues;
use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::keys::columns::KeyReading;
use crate::keys::{Row, Sorter};

/// The part of the memory that reading and sorting have at least, and that of it which is for reading.
const WORK: u64 = 4;
const READING: u64 = 2;
/// Bytes of the number of a row of each entry, where rows are in another order.
const ROW_NUMBER: u64 = size_of::<Option<u64>>() as u64;
/// The bit of the sign: with it, whole numbers compare as their bits do.
const SIGN: u64 = 1 << 63;

/// The rows of a table that gets an index.
pub(crate) struct IndexedRows<'a> {
    /// Entries of the table that is read, if not all.
    pub chosen: Option<&'a EntrySet>,
    /// Their order, if it is another one.
    pub order: Option<&'a Order>,
    pub budget: Budget,
    /// The output: what has no room in the budget waits beside it.
    pub beside: Option<&'a Path>,
}

/// An index of rows of a table.
///
/// # Errors
///
/// The columns cannot be read, a value is no whole number of 64 bits, or there are too many entries.
pub(crate) fn built_index(
    values: &IndexValues,
    expressions: &[String; 2],
    rows: &IndexedRows<'_>,
) -> Result<TreeIndex> {
    let IndexedRows { chosen, order, budget, beside } = *rows;
    let all = values.dataset().entries();
    let count = chosen.map_or(all, EntrySet::len);
    if count > MOST_INDEX_LINES {
        let message = format!(
            "an index of {count} entries has no room in the record of a tree, of which ROOT reads 1 GB: it has at most \
             {MOST_INDEX_LINES}"
        );
        return Err(Error::unsupported(message));
    }
    let room = TreeIndex::memory(count).saturating_add(order.map_or(0, |_| all.saturating_mul(ROW_NUMBER)));
    let left = budget.memory.saturating_sub(room);
    if left < budget.memory / WORK {
        let why = format!(" ({} MB for the index of {count} entries)", room.div_ceil(1_000_000));
        return Err(budget.too_small(room / (WORK - 1) * WORK + WORK, &why));
    }
    let own = Budget { memory: left, ..budget };
    let sorter = Sorter::new(own, 1, beside)?;
    let mut filling = sorter.filling();
    let selection = chosen.filter(|set| set.len() < all);
    let reading = Budget { memory: left / READING, ..own };
    let how = KeyReading { entries: 0..all, selection, budget: reading, team: sorter.team(), before: 0 };
    let mut next = 0;
    let read = values.each_step(&how, &mut |[majors, minors], step| {
        let keys = majors.iter().zip(minors).map(|(major, minor)| key_of(*major, *minor));
        match order {
            Some(_) => filling.add(keys.zip(step.entries()).map(|(key, entry)| Row::new(key, entry)))?,
            None => filling.add(keys.zip(next..).map(|(key, entry)| Row::new(key, entry)))?,
        }
        next += majors.len() as u64;
        Ok(())
    });
    read.map_err(|e| budget.in_whole(e, READING * WORK))?;
    drop(filling);
    let mut index = TreeIndex::new(expressions.clone());
    index.lines.reserve_exact(usize::try_from(count).unwrap_or(usize::MAX));
    sorter.finish()?.each_block(|rows| {
        index.lines.extend(rows.iter().map(|row| line_of(*row)));
        Ok(())
    })?;
    if let Some(order) = order {
        let numbers = order.rows_of_entries()?;
        let number = |entry: u64| usize::try_from(entry).ok().and_then(|entry| numbers.get(entry).copied()).flatten();
        index.keep(number);
    }
    Ok(index)
}

fn key_of(major: i64, minor: i64) -> u128 {
    let bits = |value: i64| u128::from(value.cast_unsigned() ^ SIGN);
    bits(major) << u64::BITS | bits(minor)
}

fn line_of(row: Row) -> IndexLine {
    let value = |bits: u64| (bits ^ SIGN).cast_signed();
    let (major, minor) = ((row.key() >> u64::BITS) as u64, row.key() as u64);
    IndexLine { major: value(major), minor: value(minor), entry: i64::try_from(row.place()).unwrap_or(i64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_compare_as_lines_do() {
        let lines = [(i64::MIN, 3), (-1, i64::MAX), (0, -1), (0, 0), (7, i64::MIN), (i64::MAX, 1)];
        let keys = lines.map(|(major, minor)| key_of(major, minor));
        assert!(keys.is_sorted());
        for ((major, minor), key) in lines.into_iter().zip(keys) {
            assert_eq!(line_of(Row::new(key, 5)), IndexLine { major, minor, entry: 5 });
        }
    }
}
