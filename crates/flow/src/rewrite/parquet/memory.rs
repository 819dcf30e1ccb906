//! The memory that a conversion to Parquet needs, and the row groups that fit into it.

use std::ops::Range;

use arrow_schema::DataType;

use super::columns::Chosen;
use super::groups::join;
use super::sink::{DESCRIPTION, ENCODER, FOOTER};
use crate::arrow::read::{Dataset, least_memory};
use crate::execute::budget::Budget;

/// Bytes of an entry of a list or text besides its items.
const OFFSET: u64 = size_of::<i64>() as u64;

/// Memory that a conversion needs.
pub(super) struct MemoryNeeds<'a> {
    /// The data set and its converted columns.
    columns: (&'a Dataset, &'a [usize]),
    /// Approximate bytes of an entry.
    pub entry: u64,
    /// Approximate bytes of the largest entry.
    largest: u64,
    /// Bytes of the largest entry while it is encoded, with the positions of its items.
    expansion: u64,
    /// Parquet columns of the file.
    leaves: u64,
    /// Most Parquet columns of one column of the tree.
    most_leaves: u64,
}

const MEGABYTE: u64 = 1_000_000;

impl<'a> MemoryNeeds<'a> {
    pub fn of((dataset, numbers): (&'a Dataset, &'a [usize]), columns: &[Chosen]) -> Self {
        let all = dataset.bytes_of(numbers);
        let varies =
            |chosen: &&Chosen| matches!(chosen.field.data_type(), DataType::LargeList(_) | DataType::LargeUtf8);
        let offsets = columns.iter().filter(varies).count() as u64 * OFFSET;
        let of_column = |column| dataset.source(column).map_or(0, |column| column.source.largest_entry());
        let leaves = |chosen: &Chosen| leaves(chosen.field.data_type());
        Self {
            columns: (dataset, numbers),
            entry: (all / dataset.entries().max(1)).saturating_add(offsets).max(1),
            expansion: sum(columns.iter().map(|c| of_column(c.column).saturating_mul(expansion(c.field.data_type())))),
            largest: sum(numbers.iter().map(|&column| of_column(column))),
            leaves: columns.iter().map(leaves).sum(),
            most_leaves: columns.iter().map(leaves).max().unwrap_or(1),
        }
    }

    /// Bytes of the file's footer, which describes the row groups.
    fn record(&self, groups: usize) -> u64 {
        self.leaves.saturating_mul(DESCRIPTION + FOOTER.saturating_mul(groups as u64))
    }

    /// Least memory to encode a row group.
    fn encoding(&self) -> u64 {
        (self.most_leaves * ENCODER).max(self.expansion)
    }

    /// Memory that any row groups need: a quarter holds the arrays, and a quarter the encoded columns and the footer.
    fn writing(&self, groups: usize) -> u64 {
        let writing = self.encoding().saturating_add(self.record(groups));
        self.largest.saturating_mul(4).max(writing.saturating_mul(4))
    }

    /// Memory that these row groups need, with or without their part of the footer: one half is for reading. And the share
    /// of reading for baskets that several row groups use.
    fn memory(&self, groups: &[Range<u64>], described: bool) -> (u64, u64) {
        let (reading, kept) = least_memory(self.columns.0, self.columns.1, &bounds(groups));
        (reading.saturating_mul(2).max(self.writing(if described { groups.len() } else { 0 })), kept)
    }

    /// The row groups in a budget of `memory`, and the memory that they need. Row groups are joined if the footer would not
    /// fit into its share.
    pub fn groups(&self, memory: u64, cut: &dyn Fn(u64) -> Vec<Range<u64>>) -> (Vec<Range<u64>>, u64, u64) {
        let most = (memory / 4 / self.entry).max(1);
        let groups = cut(most);
        let room = (memory / 4).saturating_sub(self.encoding()).max(memory / 8);
        if self.record(groups.len()) <= room {
            let (least, kept) = self.memory(&groups, false);
            return (groups, least, kept);
        }
        let fitting = room.saturating_sub(self.record(0)) / (self.leaves * FOOTER).max(1);
        let fewer = join(&groups, usize::try_from(fitting).unwrap_or(usize::MAX).max(1), most);
        let (least, kept) = self.memory(&fewer, true);
        (fewer, least, kept)
    }

    /// The least sufficient memory, in whole megabytes as messages name it: some more may not be enough again.
    pub fn least(&self, cut: &dyn Fn(u64) -> Vec<Range<u64>>) -> u64 {
        let all = bounds(&cut(u64::MAX));
        let whole = all.first().zip(all.last()).map(|(start, end)| *start..*end);
        let in_whole = |memory: u64| memory.div_ceil(MEGABYTE).saturating_mul(MEGABYTE);
        let mut memory = in_whole(self.memory(whole.as_slice(), true).0);
        // More memory makes row groups fewer and larger.
        while self.groups(memory, cut).1 > memory {
            memory = in_whole(memory.saturating_add(memory / 64).saturating_add(1 << 16));
        }
        memory
    }

    /// Memory for encoders, with this number of row groups.
    pub fn encoders(&self, budget: Budget, groups: usize) -> u64 {
        (budget.memory / 4).saturating_sub(self.record(groups)).max(budget.memory / 8).max(self.encoding())
    }
}

/// The sum of sizes: a file may claim any.
fn sum(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// The starts of row groups, and the end of the last.
pub(super) fn bounds(groups: &[Range<u64>]) -> Vec<u64> {
    let end = groups.last().map(|group| group.end);
    groups.iter().map(|group| group.start).chain(end).collect()
}

/// Approximate bytes of memory for each byte of a type while it is encoded: each item of a list has a position and two
/// levels.
fn expansion(of: &DataType) -> u64 {
    const ITEM: u64 = 12;
    match of {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => match item.data_type().primitive_width() {
            Some(width) => ITEM.div_ceil(width.max(1) as u64),
            None => expansion(item.data_type()),
        },
        DataType::Struct(parts) => parts.iter().map(|part| expansion(part.data_type())).max().unwrap_or(1),
        DataType::Boolean => 8 * ITEM,
        _ => 1,
    }
}

/// Number of Parquet columns of a type.
fn leaves(of: &DataType) -> u64 {
    match of {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => leaves(item.data_type()),
        DataType::Struct(parts) => parts.iter().map(|part| leaves(part.data_type())).sum::<u64>(),
        _ => 1,
    }
}
