//! The memory for reading Parquet files: which columns are read together, and on how many threads.

use std::ops::Range;

use arrow_schema::{DataType, FieldRef};
use rootfile::Result;

use super::opened::{Group, Opened};
use crate::execute::budget::Budget;

/// Approximate bytes of a batch: few enough to stay in a core's own cache.
pub(super) const BATCH: u64 = 2 << 20;
/// Batches in memory at once, for each thread: as read, as plain types, and flattened.
const COPIES: u64 = 3;
/// Most threads that read at once.
const READERS: u64 = 64;
/// Least memory of a writer, and memory for each column.
const WRITER: (u64, u64) = (8 << 20, 5000);

/// Approximate bytes of an entry.
pub(super) fn row_bytes(groups: &[Vec<Group>], fields: &[FieldRef]) -> u64 {
    let largest = groups.iter().flatten().map(|group| group.unpacked / group.rows.max(1)).max().unwrap_or(0);
    let fixed = fields.iter().map(|field| width(field.data_type())).fold(0, u64::saturating_add);
    largest.max(fixed).max(1)
}

/// Least bytes of a value of a type.
fn width(of: &DataType) -> u64 {
    match of {
        DataType::FixedSizeList(item, size) => {
            width(item.data_type()).saturating_mul(u64::try_from(*size).unwrap_or(0))
        }
        DataType::FixedSizeBinary(size) => u64::try_from(*size).unwrap_or(0),
        DataType::Struct(fields) => fields.iter().map(|field| width(field.data_type())).fold(0, u64::saturating_add),
        other => other.primitive_width().unwrap_or(8) as u64,
    }
}

/// The memory for reading, and the rest for clusters. The rest does not depend on the requested threads: it decides where a
/// cluster ends that does not fit.
pub(super) struct ReadShare {
    /// Threads that read.
    pub threads: usize,
    /// Memory for clusters.
    pub clusters: u64,
    /// Columns that are read together: one part if memory allows to read all columns side by side.
    pub parts: Vec<Range<usize>>,
    /// Entries that are read of all parts before any is written.
    pub rows: usize,
}

/// The files to read, and the sizes that their memory depends on.
pub(super) struct Demand<'a> {
    /// The files.
    pub files: &'a [Opened],
    /// Of each file, the indices of the columns to read.
    pub columns: &'a [Vec<usize>],
    /// Of each file, its row groups.
    pub groups: &'a [Vec<Group>],
    /// Approximate bytes of an entry.
    pub row: u64,
    /// Number of branches to write.
    pub branches: usize,
}

impl Demand<'_> {
    /// Shares out the memory.
    ///
    /// # Errors
    ///
    /// The budget is too small.
    pub fn share(&self, budget: Budget) -> Result<ReadShare> {
        // More memory reads more columns at a time, so the needed memory grows with the budget until it fits.
        let mut enough = budget;
        loop {
            match self.share_of(enough) {
                Ok(share) if enough.memory == budget.memory => return Ok(share),
                Ok(_) => return Err(budget.too_small(enough.memory, "")),
                Err(least) => enough.memory = least.div_ceil(1_000_000).saturating_mul(1_000_000),
            }
        }
    }

    /// Shares out one budget, or returns the least memory for the columns that this budget reads at a time.
    fn share_of(&self, budget: Budget) -> std::result::Result<ReadShare, u64> {
        let Self { files, columns, groups, row, branches } = *self;
        let metadata: u64 = files.iter().map(|file| file.held).sum();
        let writing = WRITER.0 + WRITER.1 * branches as u64;
        let batches = row.max(BATCH).saturating_mul(COPIES);
        let free = budget.memory.saturating_sub(metadata);
        let all = groups.iter().flatten().map(|group| group.held).max().unwrap_or(0);
        let mut reading = all.saturating_add(batches);
        let count = columns.first().map_or(0, Vec::len);
        let (mut parts, mut rows) = (std::iter::once(0..count).collect(), u64::MAX);
        if reading > free / 4 && count > 1 {
            let mut held = vec![0; count];
            for (file, columns) in files.iter().zip(columns) {
                held.iter_mut().zip(file.held(columns)).for_each(|(most, held)| *most = held.max(*most));
            }
            let largest;
            (parts, largest) = cut(&held, free / 8);
            rows = (free / 16 / row).max(1);
            // The portion itself, and its joined copy.
            reading = largest.saturating_add(batches).saturating_add(rows.saturating_mul(row).saturating_mul(2));
        }
        let least = metadata.saturating_add(reading).saturating_add(writing.max(reading));
        if budget.memory < least {
            return Err(least);
        }
        let readers = (free / 4).min(READERS.saturating_mul(reading)).clamp(reading, free - writing.max(reading));
        let fitting = usize::try_from(readers / reading).unwrap_or(usize::MAX);
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        Ok(ReadShare { threads: fitting.clamp(1, budget.threads), clusters: free - readers, parts, rows })
    }
}

/// Parts of neighbouring columns that hold at most `most` bytes together, but at least one column, and the bytes of the
/// largest part.
fn cut(held: &[u64], most: u64) -> (Vec<Range<usize>>, u64) {
    let (mut parts, mut largest) = (Vec::new(), 0);
    let (mut start, mut sum) = (0, 0u64);
    for (index, &held) in held.iter().enumerate() {
        if index > start && sum.saturating_add(held) > most {
            parts.push(start..index);
            (start, sum) = (index, 0);
        }
        sum = sum.saturating_add(held);
        largest = sum.max(largest);
    }
    parts.push(start..held.len());
    (parts, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_cut_into_parts_that_fit() {
        assert_eq!(cut(&[3, 3, 9, 1, 1], 6), (vec![0..2, 2..3, 3..5], 9));
    }
}
