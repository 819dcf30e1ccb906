//! Reads entries of columns in steps, where the arrays of a step are part of the budget, as is what the caller needs. Columns that
//! do not fit side by side are read one group after the other. It does not know what is done with the arrays.

use std::ops::Range;

use arrow_schema::DataType;
use dataset::EntrySet;
use rootfile::Result;

use super::batches::batches_with;
use super::dataset::Dataset;
use super::request::Request;
use super::run::{Read, least_memory};
use super::steps::steps;
use crate::execute::budget::Budget;
use crate::execute::fetch::tree::basket_cache::BasketCache;
use crate::execute::progress::unwatched;

/// The arrays of a step take at most this share of the memory, and if that does not fit, as little as this.
const STEP_SHARE: u64 = 16;
const LEAST_STEP: u64 = 1 << 20;
/// Baskets that two steps use take at most this share of the memory, and of what is free.
const CACHE_SHARE: u64 = 8;
const OF_FREE: u64 = 2;
/// Bytes of an entry of a list besides its items.
const OFFSET: u64 = size_of::<i64>() as u64;

/// A column that is read with its arrays counted.
#[derive(Clone, Copy, Debug)]
pub struct CountedColumn {
    /// Its index in the data set.
    pub column: usize,
    /// How many times its bytes before compression its arrays take: more than once, where numbers are stored in fewer bits.
    pub growth: f64,
    /// Bytes that the caller needs for it while it is read.
    pub beside: u64,
}

/// What gives way where columns do not fit side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivesWay {
    /// The size of steps, and then the number of columns. Small steps open the baskets that they share again.
    Steps,
    /// The number of columns that are read side by side.
    Columns,
}

/// Columns that are read side by side, and the steps in which their entries are read.
pub struct ColumnGroup<'a> {
    /// Their places among all columns that were asked for.
    pub places: Range<usize>,
    dataset: &'a Dataset,
    columns: Vec<usize>,
    steps: Vec<u64>,
    /// Bytes of baskets that several steps use.
    kept: u64,
    /// Bytes for reading on one thread, metadata included.
    reading: u64,
    /// Bytes of the arrays of the largest step.
    arrays: u64,
    /// Bytes that the caller needs.
    beside: u64,
    budget: Budget,
}

/// Groups of columns, in their order, each of which can be read within the budget. `beside` bytes are the caller's all the time. Columns
/// are read side by side as far as they fit.
///
/// # Errors
///
/// The budget is too small for one of the columns alone; the error names the smallest that would do for all.
pub fn column_groups<'a>(
    dataset: &'a Dataset,
    columns: &[CountedColumn],
    budget: Budget,
    beside: u64,
    gives_way: GivesWay,
) -> Result<Vec<ColumnGroup<'a>>> {
    ask_for(dataset, columns);
    let group = |places: Range<usize>, room: u64| ColumnGroup::new(dataset, columns, places, room, budget, beside);
    let mut groups = Vec::new();
    // The next one is at the end.
    let mut open: Vec<Range<usize>> = std::iter::once(0..columns.len()).collect();
    while let Some(places) = open.pop() {
        if places.is_empty() {
            continue;
        }
        let rooms = [(budget.memory / STEP_SHARE).max(LEAST_STEP), LEAST_STEP];
        let rooms = rooms.into_iter().take(if gives_way == GivesWay::Columns && places.len() > 1 { 1 } else { 2 });
        let fitting = rooms.map(|room| group(places.clone(), room)).find(|group| group.needs() <= budget.memory);
        let middle = places.start + places.len() / 2;
        match fitting {
            Some(group) => groups.push(group),
            None if places.len() > 1 => open.extend([middle..places.end, places.start..middle]),
            None => {
                // One column alone needs more.
                LeastMemory::of(dataset, columns, beside).check(budget)?;
                return Err(budget.too_small(budget.memory.saturating_add(1), ""));
            }
        }
    }
    Ok(groups)
}

/// Asks for the pieces of all columns: from then on they are among the metadata.
fn ask_for(dataset: &Dataset, columns: &[CountedColumn]) {
    for one in columns {
        let _ = dataset.source(one.column);
    }
}

/// The least memory in which groups of columns can be read, and what it is for.
#[derive(Clone, Debug, Default)]
pub struct LeastMemory {
    bytes: u64,
    /// Bytes of these for metadata, for reading the column that needs most, and for its values; and its name.
    parts: [u64; 3],
    column: String,
}

impl LeastMemory {
    /// That of some columns, as [`column_groups`] takes them.
    pub fn of(dataset: &Dataset, columns: &[CountedColumn], beside: u64) -> Self {
        ask_for(dataset, columns);
        let budget = Budget { memory: 0, threads: 1 };
        let alone = |place: usize| ColumnGroup::new(dataset, columns, place..place + 1, LEAST_STEP, budget, beside);
        let Some(most) = (0..columns.len()).map(alone).max_by_key(ColumnGroup::needs) else { return Self::default() };
        let column = most.columns.first().and_then(|column| dataset.column(*column));
        Self {
            bytes: most.needs(),
            parts: [
                dataset.metadata().saturating_add(most.beside),
                most.reading.saturating_sub(dataset.metadata()),
                most.arrays,
            ],
            column: column.map_or_else(String::new, |column| column.field().name().clone()),
        }
    }

    /// The larger one.
    #[must_use]
    pub fn or_more(self, other: Self) -> Self {
        if other.bytes > self.bytes { other } else { self }
    }

    /// With more bytes that the caller needs.
    #[must_use]
    pub fn beside(self, bytes: u64) -> Self {
        let [metadata, reading, values] = self.parts;
        Self {
            bytes: self.bytes.saturating_add(bytes),
            parts: [metadata.saturating_add(bytes), reading, values],
            ..self
        }
    }

    /// Refuses a budget that is smaller.
    ///
    /// # Errors
    ///
    /// It is; the error names the least memory.
    pub fn check(&self, budget: Budget) -> Result<()> {
        if self.bytes <= budget.memory {
            return Ok(());
        }
        let [metadata, reading, values] = self.parts.map(|bytes| bytes.div_ceil(1_000_000));
        let column = &self.column;
        let why = format!(" ({metadata} MB of metadata, {reading} MB to read {column}, {values} MB for its values)");
        Err(budget.too_small(self.bytes, &why))
    }
}

impl<'a> ColumnGroup<'a> {
    /// Some of the columns, in steps whose arrays take about `room` bytes, if an entry does not take more.
    fn new(
        dataset: &'a Dataset,
        all: &[CountedColumn],
        places: Range<usize>,
        room: u64,
        budget: Budget,
        beside: u64,
    ) -> Self {
        let columns = all.get(places.clone()).unwrap_or_default();
        let numbers: Vec<usize> = columns.iter().map(|one| one.column).collect();
        let sum = |of: &dyn Fn(&CountedColumn) -> u64| columns.iter().map(of).fold(0, u64::saturating_add);
        let offsets = |one: &CountedColumn| if varies(dataset, one) { OFFSET } else { 0 };
        let bytes = sum(&|one| grown(dataset.bytes(one.column), one.growth));
        let each = (bytes / dataset.entries().max(1)).saturating_add(sum(&offsets));
        let steps = steps(dataset.clusters(), each, room);
        let (reading, kept) = least_memory(dataset, &numbers, &steps);
        Self {
            places,
            dataset,
            columns: numbers,
            kept,
            reading,
            arrays: arrays(dataset, columns, &steps),
            beside: beside.saturating_add(sum(&|one| one.beside)),
            steps,
            budget,
        }
    }

    fn needs(&self) -> u64 {
        self.reading.saturating_add(self.arrays).saturating_add(self.beside)
    }

    /// Bytes of the budget that nothing needs while the columns are read on one thread.
    pub fn free(&self) -> u64 {
        self.budget.memory.saturating_sub(self.needs())
    }

    /// Bytes of the budget besides metadata and what the caller needs: they are free while nothing is read.
    pub fn free_after(&self) -> u64 {
        self.budget.memory.saturating_sub(self.dataset.metadata()).saturating_sub(self.beside)
    }

    /// Reads all entries, step by step. Of what is free the caller takes `taken` bytes; the rest is for more threads.
    ///
    /// Each item is an error where [`read`](super::read) would return one.
    pub fn read(&self, taken: u64) -> impl Iterator<Item = Result<Read>> + '_ {
        self.read_entries(0..self.dataset.entries(), None, taken)
    }

    /// The same for some entries, and of these only those of a selection, if there is one.
    pub fn read_entries(
        &self,
        entries: Range<u64>,
        selection: Option<EntrySet>,
        taken: u64,
    ) -> impl Iterator<Item = Result<Read>> + '_ {
        let cached = (self.free().saturating_sub(taken) / OF_FREE).min(self.budget.memory / CACHE_SHARE);
        let others = self.arrays.saturating_add(self.beside).saturating_add(taken).saturating_add(cached);
        let memory = self.budget.memory.saturating_sub(others).max(self.reading);
        let request = Request {
            columns: self.columns.clone(),
            entries,
            selection,
            budget: Budget { memory, ..self.budget },
            progress: &unwatched,
        };
        let cache = BasketCache::new(cached).between(self.steps.clone(), self.kept);
        let first = request.entries.start;
        let mut batches = batches_with(self.dataset, request, None, cache);
        let ends = self.steps.iter().copied().filter(move |end| *end > first).chain([u64::MAX]);
        ends.map_while(move |end| batches.next_until(end))
    }
}

/// Bytes of the arrays of the largest step. What is known of a basket is the size of all its entries: in each step the largest entries
/// of one basket may lie together.
fn arrays(dataset: &Dataset, columns: &[CountedColumn], steps: &[u64]) -> u64 {
    let mut sums = vec![(0u64, 0u64); steps.len()];
    for one in columns {
        let Some(column) = dataset.source(one.column) else { continue };
        let varies = varies(dataset, one);
        for piece in &column.source.pieces {
            let bytes = grown(column.source.loaded_bytes(piece), one.growth);
            let first = steps.partition_point(|&bound| bound <= piece.first_entry).saturating_sub(1);
            let bounds = steps.windows(2).zip(&mut sums).skip(first);
            for (bounds, (sum, more)) in bounds.take_while(|(bounds, _)| bounds[0] < piece.end()) {
                let entries = bounds[1].min(piece.end()).saturating_sub(bounds[0].max(piece.first_entry));
                let share = u128::from(bytes) * u128::from(entries) / u128::from(piece.entries.max(1));
                let share = u64::try_from(share).unwrap_or(u64::MAX);
                *sum = sum.saturating_add(share);
                if varies {
                    *sum = sum.saturating_add(entries.saturating_mul(OFFSET));
                    *more = bytes.saturating_sub(share).max(*more);
                }
            }
        }
    }
    sums.iter().map(|(sum, more)| sum.saturating_add(*more)).max().unwrap_or(0)
}

/// Whether entries of a column may have different sizes.
fn varies(dataset: &Dataset, one: &CountedColumn) -> bool {
    dataset.column(one.column).is_none_or(|column| has_lists(column.field().data_type()))
}

fn has_lists(of: &DataType) -> bool {
    match of {
        DataType::FixedSizeList(item, _) => has_lists(item.data_type()),
        DataType::Struct(parts) => parts.iter().any(|part| has_lists(part.data_type())),
        DataType::Boolean => false,
        other => other.primitive_width().is_none(),
    }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn grown(bytes: u64, growth: f64) -> u64 {
    if growth > 1.0 { (bytes as f64 * growth) as u64 } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_vary_and_numbers_do_not() {
        use std::sync::Arc;

        use arrow_schema::Field;

        let item = |of: DataType| Arc::new(Field::new("item", of, false));
        assert!(!has_lists(&DataType::Float32) && !has_lists(&DataType::FixedSizeList(item(DataType::Float64), 3)));
        let list = DataType::LargeList(item(DataType::Float32));
        assert!(has_lists(&list) && has_lists(&DataType::FixedSizeList(item(list), 2)) && has_lists(&DataType::Utf8));
    }

    #[test]
    fn arrays_grow_where_they_were_stored_in_fewer_bits() {
        assert_eq!(
            (grown(100, 0.0), grown(100, 1.0), grown(100, 2.5), grown(u64::MAX, 3.0)),
            (100, 100, 250, u64::MAX)
        );
    }
}
