//! The order of the rows of an output: numbers of entries, row after row, in memory or on disk. Nothing is read of a table here.

use std::ops::Range;
use std::path::Path;

use rootfile::{Error, Result, Source};

use super::scratch_file::ScratchFile;

/// Rows that are put away and read at once.
const BLOCK: usize = 1 << 15;
/// What waits in the scratch files of an order.
const WAITING: &str = "rows wait there on their way into another order where the memory budget has no room for all; make room, or give more \
                       memory";
/// What stands for the entry of a row that has none, in four bytes or in eight.
const NONE: [u64; 2] = [u32::MAX as u64, u64::MAX];

/// The order of the rows of an output.
#[derive(Debug)]
pub(crate) struct Order {
    rows: u64,
    entries: u64,
    has_missing: bool,
    is_wide: bool,
    stored: ScratchFile,
    /// The bounds of clusters of the output, if they are given.
    bounds: Option<Vec<u64>>,
    /// Behind the last entry of each source, if the rows have each entry once at most, and those of each source in their order.
    merged: Option<Vec<u64>>,
}

/// An order in the making.
#[derive(Debug)]
pub(crate) struct OrderBuilder {
    /// The first entry of each source, and at the end the number of all.
    bounds: Vec<u64>,
    order: Order,
    waiting: Vec<u8>,
}

impl OrderBuilder {
    /// An order of the entries of some sources: the numbers of entries of the inputs of a table, in their order. It may take so many bytes of
    /// memory; what has no room waits in the folder of the file `beside` which it is written, or among temporary files.
    pub fn new(sources: &[u64], memory: u64, beside: Option<&Path>) -> Self {
        let mut bounds = vec![0u64];
        bounds.extend(sources.iter().scan(0u64, |end, entries| {
            *end = end.saturating_add(*entries);
            Some(*end)
        }));
        let entries = bounds.last().copied().unwrap_or(0);
        let is_wide = entries >= NONE[0];
        let stored = ScratchFile::new(memory, beside, WAITING);
        Self {
            bounds,
            order: Order { rows: 0, entries, has_missing: false, is_wide, stored, bounds: None, merged: None },
            waiting: Vec::with_capacity(BLOCK * 8),
        }
    }

    /// The next row is this entry of a source.
    ///
    /// # Errors
    ///
    /// There is no such entry, or the order cannot be put away.
    pub fn push(&mut self, source: usize, entry: u64) -> Result<()> {
        let of = self.bounds.get(source).zip(self.bounds.get(source + 1));
        let number = of.and_then(|(start, end)| start.checked_add(entry).filter(|number| number < end));
        self.push_entry(number.ok_or_else(no_entry)?)
    }

    /// The next row is this entry, counted over all sources.
    ///
    /// # Errors
    ///
    /// As for [`push`](Self::push).
    pub fn push_entry(&mut self, entry: u64) -> Result<()> {
        if entry >= self.order.entries {
            return Err(no_entry());
        }
        self.put(entry)
    }

    /// The next row is no entry: it has the defaults of all columns.
    ///
    /// # Errors
    ///
    /// The order cannot be put away.
    pub fn push_missing(&mut self) -> Result<()> {
        self.order.has_missing = true;
        self.put(u64::MAX)
    }

    fn put(&mut self, entry: u64) -> Result<()> {
        match self.order.is_wide {
            true => self.waiting.extend(entry.to_le_bytes()),
            false => self.waiting.extend((entry as u32).to_le_bytes()),
        }
        self.order.rows += 1;
        match self.waiting.len() >= BLOCK * self.order.width() {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.order.stored.append(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    /// The order of the rows so far.
    ///
    /// # Errors
    ///
    /// The order cannot be put away.
    pub fn finish(mut self) -> Result<Order> {
        self.flush()?;
        Ok(self.order)
    }
}

impl Order {
    /// The same where clusters of the output end at these rows.
    #[must_use]
    pub fn ending_at(self, bounds: Vec<u64>) -> Self {
        Self { bounds: Some(bounds), ..self }
    }

    /// The bounds of clusters of the output, if they are given.
    pub fn bounds(&self) -> Option<&[u64]> {
        self.bounds.as_deref()
    }

    /// The same where rows have each entry once at most, and those of each of these sources in their order.
    #[must_use]
    pub fn of_merged(self, sources: &[u64]) -> Self {
        let ends = sources.iter().scan(0u64, |end, entries| {
            *end = end.saturating_add(*entries);
            Some(*end)
        });
        Self { merged: Some(ends.collect()), ..self }
    }

    /// Behind the last entry of each source, if the rows have each entry once at most, and those of each source in their order.
    pub fn merged(&self) -> Option<&[u64]> {
        self.merged.as_deref()
    }

    /// The number of rows of the output.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether there is a row that is no entry.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// A scratch file where this one is, with room for so many bytes in memory.
    pub fn scratch(&self, room: u64) -> ScratchFile {
        self.stored.another(room)
    }

    /// Bytes that it takes in memory.
    pub fn memory(&self) -> u64 {
        self.stored.held()
    }

    /// Reads the entries of some rows, in place of what `into` has; `None` for a row that is none.
    ///
    /// # Errors
    ///
    /// There are no such rows, or the file cannot be read.
    pub fn read(&self, rows: Range<u64>, into: &mut Vec<Option<u64>>) -> Result<()> {
        let width = self.width();
        let bytes = usize::try_from(rows.end.saturating_sub(rows.start)).unwrap_or(usize::MAX).saturating_mul(width);
        let bytes = self.stored.read(rows.start.saturating_mul(width as u64), bytes)?;
        into.clear();
        let none = NONE[usize::from(self.is_wide)];
        let entry = |number: u64| (number != none).then_some(number);
        match self.is_wide {
            true => into.extend(bytes.as_chunks::<8>().0.iter().map(|number| entry(u64::from_le_bytes(*number)))),
            false => {
                into.extend(bytes.as_chunks::<4>().0.iter().map(|number| entry(u32::from_le_bytes(*number).into())))
            }
        }
        Ok(())
    }

    /// The last row of each entry, if it has one.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn rows_of_entries(&self) -> Result<Vec<Option<u64>>> {
        let mut rows = vec![None; usize::try_from(self.entries).unwrap_or(usize::MAX)];
        self.each_block(|first, entries| {
            for (entry, row) in entries.iter().zip(first..) {
                let slot = entry.and_then(|entry| rows.get_mut(usize::try_from(entry).ok()?));
                slot.into_iter().for_each(|own| *own = Some(row));
            }
            Ok(())
        })?;
        Ok(rows)
    }

    /// Calls `take` with the entries of all rows, block by block, and the number of the first row of each.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or `take` fails.
    pub fn each_block(&self, take: impl FnMut(u64, &[Option<u64>]) -> Result<()>) -> Result<()> {
        self.each_block_of(0..self.rows, take)
    }

    /// The same for some rows.
    ///
    /// # Errors
    ///
    /// As for [`each_block`](Self::each_block).
    pub fn each_block_of(
        &self,
        rows: Range<u64>,
        mut take: impl FnMut(u64, &[Option<u64>]) -> Result<()>,
    ) -> Result<()> {
        let mut entries = Vec::with_capacity(BLOCK);
        let mut at = rows.start;
        while at < rows.end {
            let end = rows.end.min(at + BLOCK as u64);
            self.read(at..end, &mut entries)?;
            take(at, &entries)?;
            at = end;
        }
        Ok(())
    }

    /// Bytes of a row.
    fn width(&self) -> usize {
        if self.is_wide { 8 } else { 4 }
    }
}

#[cold]
fn no_entry() -> Error {
    Error::request("internal error: an order with an entry that is not there")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    fn all(order: &Order) -> Vec<Option<u64>> {
        let mut found = Vec::new();
        order
            .each_block(|first, entries| {
                assert_eq!(first, found.len() as u64);
                found.extend_from_slice(entries);
                Ok(())
            })
            .unwrap();
        found
    }

    #[test]
    fn rows_are_entries_of_all_sources() {
        let folder = tempfile::tempdir().unwrap();
        let beside = folder.path().join("out.root");
        for memory in [0, 100, 1 << 30] {
            for last in [1u64, 1 << 40] {
                let mut order = OrderBuilder::new(&[3, 0, 2, last], memory, Some(&beside));
                order.push(2, 1).unwrap();
                order.push(0, 0).unwrap();
                order.push(0, 0).unwrap();
                order.push_missing().unwrap();
                order.push(3, last - 1).unwrap();
                for (source, entry) in [(0, 3), (1, 0), (3, last), (4, 0), (3, u64::MAX)] {
                    assert!(order.push(source, entry).is_err());
                }
                let order = order.finish().unwrap();
                assert_eq!(all(&order), [Some(4), Some(0), Some(0), None, Some(4 + last)]);
                assert_eq!((order.rows(), order.entries, order.has_missing()), (5, 5 + last, true));
            }
        }
    }

    #[test]
    fn many_rows_come_back_in_blocks_whatever_the_memory() {
        let rows = 3 * BLOCK as u64 + 17;
        for memory in [0, BLOCK as u64 * 5, 1 << 30] {
            let mut order = OrderBuilder::new(&[rows], memory, None);
            for row in (0..rows).rev() {
                order.push_entry(row).unwrap();
            }
            let order = order.finish().unwrap();
            assert!(all(&order).into_iter().eq((0..rows).rev().map(Some)));
            assert!(!order.has_missing() && order.memory() <= memory);
            let mut some = Vec::new();
            order.read(rows - 3..rows, &mut some).unwrap();
            assert_eq!(some, [Some(2), Some(1), Some(0)]);
            assert!(order.read(rows..rows + 1, &mut some).is_err());
        }
    }
}
