//! Fills the row groups of Parquet files into a tree, on threads.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use dataset::EntrySet;
use rootfile::{Error, Result};

use super::opened::Opened;
use super::tasks::Part;
use super::types::Shapes;
use super::values::to_plain;
use crate::arrow::write::{FillContext, ParallelWriter, TableId, fill_tasks};
use crate::execute::progress::{Progress, tell};

/// Fills row groups into a tree. Shared by all threads.
pub(super) struct Filler<'a> {
    pub files: &'a [Opened],
    pub columns: &'a [Vec<usize>],
    /// Columns that are read together.
    pub parts: &'a [Range<usize>],
    /// Entries that are read of one part before those of the next.
    pub portion: usize,
    pub shapes: &'a Shapes,
    pub schema: SchemaRef,
    pub selection: Option<EntrySet>,
    pub batch: usize,
    pub fill: Option<f64>,
    pub progress: Progress<'a>,
}

impl Filler<'_> {
    /// Fills all tasks. Returns the bytes read.
    pub fn run(&self, writer: &ParallelWriter, tree: TableId, tasks: &[Vec<Part>], threads: usize) -> Result<u64> {
        let bytes = AtomicU64::new(0);
        fill_tasks(&[(writer, tree)], tasks.len() as u64, threads, |number, contexts| {
            let task = usize::try_from(number).ok().and_then(|number| tasks.get(number));
            let (Some(task), [context]) = (task, contexts) else { return Ok(()) };
            task.iter().try_for_each(|part| {
                self.fill(part, context).map_err(|e| self.named(e, part))?;
                bytes.fetch_add(part.bytes, Ordering::Relaxed);
                tell(self.progress, part.bytes)
            })
        })?;
        Ok(bytes.into_inner())
    }

    fn named(&self, error: Error, part: &Part) -> Error {
        match self.files.get(part.file) {
            Some(file) => error.file(file.path()),
            None => error,
        }
    }

    fn fill(&self, part: &Part, context: &mut FillContext) -> Result<()> {
        let (Some(file), Some(columns)) = (self.files.get(part.file), self.columns.get(part.file)) else {
            return Ok(());
        };
        let entries = self.entries(part);
        let wanted: usize = entries.iter().map(ExactSizeIterator::len).sum();
        if wanted == 0 {
            return Ok(());
        }
        let rows = usize::try_from(part.rows).unwrap_or(usize::MAX);
        let mut read = 0;
        if self.parts.len() > 1 {
            for portion in portions(&entries, self.portion) {
                let batch = self.read_in_parts(file, (part.group, rows), columns, &portion)?;
                read += batch.num_rows();
                for at in (0..batch.num_rows()).step_by(self.batch) {
                    let some = batch.slice(at, self.batch.min(batch.num_rows() - at));
                    context.fill(&self.shaped(&some)?)?;
                }
            }
            return complete(read, wanted);
        }
        let mut batches = file.read(part.group, columns, &entries, rows, self.batch)?;
        while let Some(batch) = batches.next()? {
            read += batch.num_rows();
            context.fill(&self.shaped(&batch)?)?;
        }
        complete(read, wanted)
    }

    /// All columns of some entries of a row group, read part by part.
    fn read_in_parts(
        &self,
        file: &Opened,
        (group, rows): (usize, usize),
        columns: &[usize],
        entries: &[Range<usize>],
    ) -> Result<RecordBatch> {
        let wanted: usize = entries.iter().map(ExactSizeIterator::len).sum();
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        for part in self.parts {
            let columns = columns.get(part.clone()).unwrap_or_default();
            let mut batches = file.read(group, columns, entries, rows, wanted)?;
            let batch = batches.next()?;
            complete(batch.as_ref().map_or(0, RecordBatch::num_rows), wanted)?;
            if let Some(batch) = batch {
                fields.extend(batch.schema_ref().fields().iter().cloned());
                arrays.extend(batch.columns().iter().cloned());
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(wanted));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|e| Error::corrupt(format!("columns do not fit together: {e}")))
    }

    /// The selected entries of a part, counted from the start of its row group.
    fn entries(&self, part: &Part) -> Vec<Range<usize>> {
        let local = |entry: u64| usize::try_from(entry).unwrap_or(usize::MAX);
        let Some(selection) = &self.selection else {
            return std::iter::once(local(part.from.start)..local(part.from.end)).collect();
        };
        let end = part.first + (part.from.end - part.from.start);
        let in_group = |entry: u64| local(part.from.start + (entry - part.first));
        let runs = selection.runs(selection.rank(part.first)..selection.rank(end));
        runs.map(|run| in_group(run.start)..in_group(run.end)).collect()
    }

    /// A batch in the columns of the tree.
    fn shaped(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        let schema = batch.schema_ref();
        let places: HashMap<&str, usize> =
            schema.fields().iter().enumerate().map(|(place, field)| (field.name().as_str(), place)).collect();
        for shape in &self.shapes.columns {
            let named = |e: Error| e.object(format!("column {}", shape.name));
            let missing = || Error::corrupt("is not among the columns that were read");
            let place = places.get(shape.name.as_str());
            let array = place.and_then(|&place| batch.columns().get(place)).ok_or_else(missing).map_err(named)?;
            let array = to_plain(array, &shape.plain, self.fill).map_err(named)?;
            arrays.extend(shape.flat(&array)?.into_iter().map(|flat| flat.array));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|e| Error::corrupt(format!("columns do not fit together: {e}")))
    }
}

/// Checks that all entries were read.
fn complete(read: usize, wanted: usize) -> Result<()> {
    match read == wanted {
        true => Ok(()),
        false => Err(Error::corrupt(format!("a row group with {read} entries where {wanted} are wanted"))),
    }
}

/// The entries in portions of at most `most`.
fn portions(entries: &[Range<usize>], most: usize) -> Vec<Vec<Range<usize>>> {
    let mut portions: Vec<Vec<Range<usize>>> = Vec::new();
    let mut room = 0;
    for range in entries {
        let mut at = range.start;
        while at < range.end {
            if room == 0 {
                portions.push(Vec::new());
                room = most.max(1);
            }
            let end = range.end.min(at.saturating_add(room));
            room -= end - at;
            portions.iter_mut().last().into_iter().for_each(|portion| portion.push(at..end));
            at = end;
        }
    }
    portions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_cut_into_portions() {
        let lengths = |most| portions(&[0..5, 8..10], most).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!((lengths(3), lengths(5), lengths(7)), (vec![1, 2, 1], vec![1, 1], vec![2]));
        assert_eq!(portions(&[0..5, 8..10], 3).concat(), [0..3, 3..5, 8..9, 9..10]);
        assert_eq!(portions(&[0..5, 8..10], usize::MAX), [vec![0..5, 8..10]]);
    }
}
