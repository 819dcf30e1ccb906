//! Merges the entries of a table whose sources have theirs in the order of the output, in one pass and step by step: of each source some
//! entries are in memory, in arrays that are read one behind the other, and the rows of a step are taken from these.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use arrow_select::interleave::interleave;
use dataset::EntrySet;
use dataset::table::one_array;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rootfile::{Error, Result};

use crate::execute::order::Order;
use crate::select::DefinedValues;

/// Bytes of a row while its step is merged: its entry, and its place in a source.
pub(crate) const ROW: u64 = (size_of::<Option<u64>>() + size_of::<(usize, usize)>()) as u64;

/// The steps in which sources are read.
pub(crate) struct MergeSteps {
    order: Arc<Order>,
    /// The bounds of the steps, in rows.
    rows: Vec<u64>,
    /// For each source where it is read to in each step, behind its first entry.
    sources: Vec<Vec<u64>>,
}

impl MergeSteps {
    /// The steps between these rows. None if the sources are not in this order.
    pub fn new(order: &Arc<Order>, rows: Vec<u64>) -> Result<Option<Self>> {
        let Some(ends) = order.merged() else { return Ok(None) };
        let mut at: Vec<u64> = std::iter::once(0).chain(ends.iter().copied()).take(ends.len()).collect();
        let mut sources: Vec<Vec<u64>> = at.iter().map(|start| vec![*start]).collect();
        for (start, end) in rows.iter().zip(rows.iter().skip(1)) {
            order.each_block_of(*start..*end, |_, entries| {
                for entry in entries.iter().flatten() {
                    if let Some(at) = at.get_mut(source_of(ends, *entry)) {
                        *at = entry + 1;
                    }
                }
                Ok(())
            })?;
            sources.iter_mut().zip(&at).for_each(|(bounds, at)| bounds.push(*at));
        }
        Ok(Some(Self { order: Arc::clone(order), rows, sources }))
    }

    /// A step that begins with this row.
    pub fn step(&self, first: u64) -> Result<MergeStep> {
        let number = self.rows.partition_point(|row| *row < first);
        let end = self.rows.get(number + 1).copied().unwrap_or(first);
        let (mut entries, mut used, mut slots) = (Vec::new(), Vec::new(), vec![None; self.sources.len()]);
        self.order.read(first..end, &mut entries)?;
        let ends = self.order.merged().unwrap_or_default();
        let mut places = Vec::with_capacity(entries.len());
        for entry in entries {
            let source = entry.map_or(usize::MAX, |entry| source_of(ends, entry));
            let slot = slots.get_mut(source).ok_or_else(lost)?;
            let (number, taken) = slot.get_or_insert_with(|| {
                let until = self.sources.get(source).and_then(|bounds| bounds.get(number + 1)).copied();
                used.push((source, until.unwrap_or(0)));
                (used.len() - 1, 0usize)
            });
            places.push((*number, *taken));
            *taken += 1;
        }
        Ok(MergeStep { used, places })
    }
}

/// The rows of a step.
pub(crate) struct MergeStep {
    /// The sources that have some, and the entry up to which each is read.
    used: Vec<(usize, u64)>,
    /// The source of each row among these, and its place among what is read of it.
    places: Vec<(usize, usize)>,
}

/// Reads a source from its first entry to its last.
pub(crate) trait SourceValues {
    /// The arrays of the next entries, up to this one.
    fn until(&mut self, entry: u64) -> Result<Vec<ArrayRef>>;
}

impl SourceValues for DefinedValues<'_> {
    fn until(&mut self, entry: u64) -> Result<Vec<ArrayRef>> {
        self.next(entry)
    }
}

/// A source of which some entries are in memory.
pub(crate) struct SourceWindow<'a, S> {
    values: S,
    /// The bounds of what is read at a time, of entries among which these are selected.
    bounds: &'a [u64],
    selected: Option<&'a EntrySet>,
    /// What was read last, the entry behind it, and the rows and entries of it that were taken.
    held: Vec<ArrayRef>,
    end: u64,
    taken: usize,
    at: u64,
}

impl<'a, S: SourceValues> SourceWindow<'a, S> {
    /// A source that is read between these bounds, with the entries that are selected.
    pub fn new(values: S, bounds: &'a [u64], selected: Option<&'a EntrySet>) -> Self {
        let at = bounds.first().copied().unwrap_or(0);
        Self { values, bounds, selected, held: Vec::new(), end: at, taken: 0, at }
    }

    /// The arrays of the next entries, up to this one.
    fn until(&mut self, entry: u64) -> Result<Vec<ArrayRef>> {
        let mut parts: Vec<Vec<ArrayRef>> = Vec::new();
        while self.at < entry {
            if self.at == self.end {
                let next = self.bounds.partition_point(|bound| *bound <= self.at);
                self.end = self.bounds.get(next).copied().ok_or_else(lost)?;
                (self.held, self.taken) = (self.values.until(self.end)?, 0);
            }
            let here = self.at..entry.min(self.end);
            let rows = self.selected.map_or(here.end - here.start, |selected| selected.count(&here));
            let rows = usize::try_from(rows).map_err(|_| lost())?;
            if self.held.iter().any(|array| array.len() < self.taken + rows) {
                return Err(lost());
            }
            parts.push(self.held.iter().map(|array| array.slice(self.taken, rows)).collect());
            (self.at, self.taken) = (here.end, self.taken + rows);
        }
        if let [only] = parts.as_mut_slice() {
            return Ok(std::mem::take(only));
        }
        let columns = parts.first().map_or(0, Vec::len);
        let column = |number: usize| {
            let arrays: Vec<ArrayRef> = parts.iter().filter_map(|part| part.get(number).cloned()).collect();
            let data_type = arrays.first().map_or(DataType::Null, |array| array.data_type().clone());
            one_array(&arrays, &data_type)
        };
        (0..columns).map(column).collect()
    }
}

/// The bounds of what is read at a time of each source of a table: its clusters with these bounds, in parts of so many entries at most.
pub(crate) fn windows(clusters: &[u64], ends: &[u64], most: u64) -> Vec<Vec<u64>> {
    let of_source = |(start, end): (u64, u64)| {
        let from = clusters.partition_point(|bound| *bound <= start);
        let to = clusters.partition_point(|bound| *bound < end);
        let inside = clusters.get(from..to).unwrap_or_default().iter().copied();
        let clusters: Vec<u64> = std::iter::once(start).chain(inside).chain(std::iter::once(end)).collect();
        parts(&clusters, most)
    };
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends.iter().copied()).map(of_source).collect()
}

/// Ranges with these bounds in parts of so many entries at most.
fn parts(bounds: &[u64], most: u64) -> Vec<u64> {
    let mut cut: Vec<u64> = bounds.iter().take(1).copied().collect();
    for (start, end) in bounds.iter().zip(bounds.iter().skip(1)) {
        let parts = (end - start).div_ceil(most.max(1));
        let size = (end - start).div_ceil(parts.max(1));
        cut.extend((1..=parts).map(|part| (start + part * size).min(*end)));
    }
    cut.dedup();
    cut
}

impl MergeStep {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// The arrays of the rows.
    pub fn values<S: SourceValues>(
        &self,
        sources: &mut [SourceWindow<'_, S>],
        team: Option<&ThreadPool>,
    ) -> Result<Vec<ArrayRef>> {
        let read = |(source, until): &(usize, u64)| sources.get_mut(*source).ok_or_else(lost)?.until(*until);
        let read = self.used.iter().map(read).collect::<Result<Vec<_>>>()?;
        if let [only] = read.as_slice() {
            return Ok(only.clone());
        }
        let columns = read.first().map_or(0, Vec::len);
        let column = |number: usize| {
            let parts = read.iter().map(|arrays| Some(&**arrays.get(number)?));
            let parts: Vec<&dyn Array> = parts.collect::<Option<_>>().ok_or_else(lost)?;
            interleave(&parts, &self.places).map_err(|e| Error::unsupported(format!("values in another order: {e}")))
        };
        match team {
            Some(team) => team.install(|| (0..columns).into_par_iter().map(column).collect()),
            None => (0..columns).map(column).collect(),
        }
    }
}

/// The source of an entry.
fn source_of(ends: &[u64], entry: u64) -> usize {
    ends.partition_point(|end| *end <= entry)
}

#[cold]
fn lost() -> Error {
    Error::corrupt("an entry is in no source")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use arrow_array::UInt64Array;

    use super::*;
    use crate::execute::order::OrderBuilder;

    /// The numbers of the entries.
    struct Numbers(u64, Option<EntrySet>);

    impl SourceValues for Numbers {
        fn until(&mut self, entry: u64) -> Result<Vec<ArrayRef>> {
            let all = self.0..entry;
            self.0 = entry;
            let some = all.filter(|entry| self.1.as_ref().is_none_or(|selected| selected.contains(*entry)));
            Ok(vec![Arc::new(some.collect::<UInt64Array>())])
        }
    }

    #[test]
    fn rows_are_those_of_the_order() {
        assert_eq!(windows(&[0, 3, 6, 10], &[6, 6, 10], 2), [vec![0, 2, 3, 5, 6], vec![6], vec![6, 8, 10]]);
        let rows = [6, 0, 1, 7, 3, 9, 4];
        for selected in [None, Some(EntrySet::sorted([0, 1, 3, 4, 6, 7, 9]).unwrap())] {
            // Entries that are not selected are no rows.
            let rows: Vec<u64> = if selected.is_some() { rows.to_vec() } else { vec![6, 0, 1, 7, 2, 3, 8, 9, 4, 5] };
            for (most, step) in [(1, 1), (2, 3), (100, 2), (3, 100)] {
                let mut order = OrderBuilder::new(&[10], 1000, None);
                rows.iter().for_each(|row| order.push_entry(*row).unwrap());
                let order = Arc::new(order.finish().unwrap().of_merged(&[6, 0, 4]));
                let bounds: Vec<u64> = (0..rows.len() as u64).step_by(step).chain([rows.len() as u64]).collect();
                let merge = MergeSteps::new(&order, bounds.clone()).unwrap().unwrap();
                let bounds_of = windows(&[0, 3, 6, 10], &[6, 6, 10], most);
                let sources = bounds_of
                    .iter()
                    .map(|bounds| SourceWindow::new(Numbers(bounds[0], selected.clone()), bounds, selected.as_ref()));
                let (mut sources, mut found) = (sources.collect::<Vec<_>>(), Vec::new());
                for first in bounds.iter().take(bounds.len() - 1) {
                    let arrays = merge.step(*first).unwrap().values(&mut sources, None).unwrap();
                    let numbers = arrays[0].as_any().downcast_ref::<UInt64Array>().unwrap();
                    found.extend(numbers.values().iter().copied());
                }
                assert_eq!(found, rows);
            }
        }
    }
}
