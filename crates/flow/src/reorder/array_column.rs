//! Reorders one column as arrays: those of as many entries as there is memory for are read, and their rows go into the scratch file in the
//! order of the output. If not all are read at once, the runs that this gives are merged.

use std::ops::Range;

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_schema::{DataType, Field};
use arrow_select::interleave::interleave;
use arrow_select::take::take;
use dataset::default_array;
use dataset::table::one_array;
use dataset::table::piece::Piece;
use rootfile::{Error, Result, Source};

use super::arrays;
use super::table::array_piece;
use crate::arrow::read::{Dataset, Request, read};
use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::execute::progress::{Progress, tell};
use crate::execute::scratch_file::ScratchFile;

/// Bytes of an array in the scratch file.
const ARRAY: u64 = 1 << 20;
/// Entries take up to so many times their bytes while they are read and put elsewhere.
const COPIES: u64 = 4;

/// What all columns are reordered by.
pub(super) struct ArrayJob<'a> {
    pub dataset: &'a Dataset,
    pub order: &'a Order,
    /// Bounds of the clusters of the output.
    pub bounds: &'a [u64],
    pub scratch: &'a ScratchFile,
    /// Memory for the entries of a column.
    pub room: u64,
    pub progress: Progress<'a>,
}

/// A column in the scratch file.
#[derive(Debug, Default)]
pub(super) struct StoredArrays {
    pub pieces: Vec<Piece>,
    /// Bytes of all values.
    pub raw_len: u64,
}

impl StoredArrays {
    pub fn memory(&self) -> u64 {
        (self.pieces.capacity() * size_of::<Piece>()) as u64
    }

    fn add(&mut self, rows: Range<u64>, array: &ArrayRef, scratch: &ScratchFile) -> Result<()> {
        let bytes = arrays::to_bytes(array)?;
        let len = u32::try_from(bytes.len()).map_err(|_| Error::unsupported("an array of more than 4 GB"))?;
        let at = scratch.append(&bytes)?;
        self.raw_len += bytes.len() as u64;
        self.pieces.push(array_piece(rows, at, len));
        Ok(())
    }
}

/// The entries of a column, in an order of the caller's.
trait Values {
    /// The values of some rows, one behind the other.
    fn rows(&mut self, entries: &[Option<u64>]) -> Result<ArrayRef>;
}

impl ArrayJob<'_> {
    /// Puts the rows of a column into the scratch file.
    pub fn reorder(&self, column: usize) -> Result<StoredArrays> {
        let field = self.dataset.column(column).ok_or_else(|| Error::request("no such column"))?.field();
        self.reordered(column, field).map_err(|e| match e.subject() {
            Some(_) => e,
            None => e.object(format!("column {}", field.name())),
        })
    }

    fn reordered(&self, column: usize, field: &Field) -> Result<StoredArrays> {
        let all = self.dataset.entries();
        let each = self.dataset.bytes_per_entry(column);
        let at_once = (self.room / COPIES / each).max(1);
        let rows = (ARRAY / each).max(1);
        let default = match self.order.has_missing() {
            true => Some(default_array(field, 1)?),
            false => None,
        };
        if at_once >= all {
            let mut run = self.load(column, 0..all)?;
            run.default = default;
            return self.clusters(rows, &mut run);
        }
        let mut runs = Vec::new();
        let mut at = 0;
        while at < all {
            let entries = at..all.min(at + at_once);
            let mut run = self.load(column, entries.clone())?;
            let stored = self.run(rows, &entries, &mut run)?;
            runs.push(RunCursor { end: entries.end, stored, next: 0, current: None });
            at = entries.end;
        }
        let mut merged = RunMerge { scratch: self.scratch, data_type: field.data_type(), runs, default };
        self.clusters(rows, &mut merged)
    }

    fn load(&self, column: usize, entries: Range<u64>) -> Result<LoadedRun> {
        let watched = |_: u64| (self.progress)(0);
        let request = Request {
            columns: vec![column],
            entries: entries.clone(),
            selection: None,
            budget: Budget { memory: self.dataset.metadata().saturating_add(self.room), threads: 1 },
            progress: &watched,
        };
        let read = read(self.dataset, &request)?.batch;
        let array = read.columns().first().cloned().ok_or_else(|| Error::request("a column was not read"))?;
        Ok(LoadedRun { first: entries.start, array, default: None })
    }

    /// Puts the rows of a run into the scratch file.
    fn run(&self, most: u64, entries: &Range<u64>, run: &mut LoadedRun) -> Result<StoredArrays> {
        let (mut stored, mut here) = (StoredArrays::default(), Vec::new());
        let mut put = |here: &mut Vec<Option<u64>>, at_least: u64| {
            while here.len() as u64 >= at_least.max(1) {
                let rows: Vec<_> = here.drain(..here.len().min(usize::try_from(most).unwrap_or(usize::MAX))).collect();
                let first = stored.pieces.last().map_or(0, Piece::end);
                stored.add(first..first + rows.len() as u64, &run.rows(&rows)?, self.scratch)?;
            }
            Ok(())
        };
        self.order.each_block(|_, rows| {
            tell(self.progress, 0)?;
            here.extend(rows.iter().copied().filter(|entry| entry.is_some_and(|entry| entries.contains(&entry))));
            put(&mut here, most)
        })?;
        put(&mut here, 1)?;
        Ok(stored)
    }

    /// Puts all rows into the scratch file, at most so many together, in arrays that end where clusters do.
    fn clusters(&self, most: u64, values: &mut dyn Values) -> Result<StoredArrays> {
        let (mut stored, mut rows) = (StoredArrays::default(), Vec::new());
        for cluster in self.bounds.windows(2) {
            let [start, end] = *cluster else { continue };
            let mut at = start;
            while at < end {
                let to = end.min(at.saturating_add(most));
                tell(self.progress, 0)?;
                self.order.read(at..to, &mut rows)?;
                stored.add(at..to, &values.rows(&rows)?, self.scratch)?;
                at = to;
            }
        }
        Ok(stored)
    }
}

/// Values in memory.
struct LoadedRun {
    first: u64,
    array: ArrayRef,
    default: Option<ArrayRef>,
}

impl Values for LoadedRun {
    fn rows(&mut self, entries: &[Option<u64>]) -> Result<ArrayRef> {
        let places = || entries.iter().map(|entry| entry.map(|entry| entry.saturating_sub(self.first)));
        match &self.default {
            Some(default) if entries.iter().any(Option::is_none) => {
                let place = |place: Option<u64>| match place {
                    Some(place) => (0, usize::try_from(place).unwrap_or(usize::MAX)),
                    None => (1, 0),
                };
                interleave(&[&*self.array, &**default], &places().map(place).collect::<Vec<_>>())
                    .map_err(|e| failed(&e))
            }
            _ => take(&*self.array, &places().collect::<UInt64Array>(), None).map_err(|e| failed(&e)),
        }
    }
}

/// Runs in the scratch file.
struct RunMerge<'a> {
    scratch: &'a ScratchFile,
    data_type: &'a DataType,
    runs: Vec<RunCursor>,
    default: Option<ArrayRef>,
}

/// A run, and how much of it was taken.
struct RunCursor {
    /// The entry behind its last.
    end: u64,
    stored: StoredArrays,
    next: usize,
    /// The array that is taken from, and its next row.
    current: Option<(ArrayRef, usize)>,
}

impl Values for RunMerge<'_> {
    fn rows(&mut self, entries: &[Option<u64>]) -> Result<ArrayRef> {
        let lost = || Error::corrupt("an entry is in no run");
        // The arrays of these rows, and the place of each row in them. The number of a run's array is found by that of the run.
        let mut used: Vec<ArrayRef> = Vec::new();
        let mut numbers: Vec<Option<usize>> = vec![None; self.runs.len() + 1];
        let mut places = Vec::with_capacity(entries.len());
        let default = self.runs.len();
        for entry in entries {
            let number = entry.map_or(default, |entry| self.runs.partition_point(|run| run.end <= entry));
            let slot = numbers.get_mut(number).ok_or_else(lost)?;
            let Some(run) = self.runs.get_mut(number) else {
                let array = self.default.as_ref().ok_or_else(lost)?;
                let place = *slot.get_or_insert_with(|| {
                    used.push(array.clone());
                    used.len() - 1
                });
                places.push((place, 0));
                continue;
            };
            if run.current.as_ref().is_none_or(|(array, row)| *row >= array.len()) {
                let record = run.stored.pieces.get(run.next).and_then(Piece::record).ok_or_else(lost)?;
                let bytes = self.scratch.read(record.offset, record.len as usize)?;
                run.current = Some((arrays::of_bytes(&bytes, self.data_type)?, 0));
                run.next += 1;
                *slot = None;
            }
            let (array, row) = run.current.as_mut().ok_or_else(lost)?;
            let place = *slot.get_or_insert_with(|| {
                used.push(array.clone());
                used.len() - 1
            });
            places.push((place, *row));
            *row += 1;
        }
        if used.is_empty() {
            return one_array(&[], self.data_type);
        }
        let used: Vec<&dyn Array> = used.iter().map(|array| &**array).collect();
        interleave(&used, &places).map_err(|e| failed(&e))
    }
}

fn failed(why: &arrow_schema::ArrowError) -> Error {
    Error::unsupported(format!("values in another order: {why}"))
}
