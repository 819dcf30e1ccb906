//! Parquet files to a tree.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use dataset::EntrySet;
use dataset::layout::Layout;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result, check_output};

use super::opened::{Group, Opened};
use super::tasks::{Part, tasks};
use super::types::{Shapes, shapes};
use super::values::plainly;
use super::{Conversion, Converted, ConvertedColumn};
use crate::arrow::write::FillContext;
use crate::arrow::write::WritePool;
use crate::arrow::write::fill_tasks;
use crate::arrow::write::{Order, WriteOptions};
use crate::arrow::write::{ParallelWriter, TreeId};
use crate::arrow::write::{TreeColumn, TreeSpec};
use crate::execute::budget::Budget;
use crate::execute::progress::tell;

/// Parquet files as one, and the tree to be made of them.
#[derive(Clone, Debug)]
pub struct FromParquet<'a> {
    /// The files.
    pub inputs: &'a [PathBuf],
    /// The ROOT file.
    pub output: &'a Path,
    /// Path of the tree; if absent, that which the first input was made of, or `Events`.
    pub tree: Option<&'a str>,
    /// How the tree is to lie.
    pub layout: &'a Layout,
    /// What numbers that are missing become; if absent, they are refused.
    pub fill_null: Option<f64>,
}

/// Name of a tree that has none.
const TREE: &str = "Events";
/// Bytes of a batch, about: few enough to stay in a core's own cache on their way.
const BATCH: u64 = 2 << 20;
/// Batches that there are at once, of one thread: as read, as plain types, and taken apart.
const COPIES: u64 = 3;
/// Threads that read at once, at most.
const READERS: u64 = 64;
/// What a writer needs at least, and for each column.
const WRITER: (u64, u64) = (8 << 20, 5000);

/// Makes a tree of Parquet files. Each row group is filled as a task of its own; see `tasks` for what a layout with a
/// cluster size changes of that.
pub fn from_parquet(job: &FromParquet<'_>, how: &Conversion<'_>) -> Result<Converted> {
    let inputs = job.inputs.iter().map(PathBuf::as_path);
    check_output(job.output, how.overwrite, inputs.chain(how.entries.0.file()))?;
    let files = open(job.inputs, how.budget.memory / 4)?;
    let Some(first) = files.first() else { return Err(Error::request("no input")) };
    let tree = job.tree.or_else(|| first.tree()).unwrap_or(TREE).trim_matches('/').to_owned();
    let fields = choose(first, &tree, how)?;
    let shapes = shapes(&fields).map_err(|e| e.file(first.path()))?;
    let columns = files.iter().map(|file| places(file, &fields)).collect::<Result<Vec<_>>>()?;
    let groups: Vec<Vec<Group>> = files.iter().zip(&columns).map(|(file, columns)| file.groups(columns)).collect();
    let all = groups.iter().flatten().map(|group| group.rows).fold(0, u64::saturating_add);
    let (wanted, selection) = how.entries.0.choose(all, how.entries.1)?;
    let cluster = job.layout.resolve_tree(&tree).cluster;
    let tasks = tasks(&groups, &(wanted.start..wanted.end.min(all)), cluster);

    let row = row_bytes(&groups, &fields);
    let share = share(how.budget, &files, &columns, &groups, row, shapes.branches.len())?;
    let options = WriteOptions {
        layout: job.layout.clone(),
        overwrite: how.overwrite,
        order: Order::Tasks,
        date: newest(job.inputs),
        ..WriteOptions::default()
    };
    let budget = Budget { memory: share.clusters, threads: how.budget.threads };
    // A few large row groups are no work for many threads, unless these share it.
    let pool = match tasks.len() < share.threads {
        true => WritePool::with_team(budget)?,
        false => WritePool::new(budget),
    };
    let mut writer = ParallelWriter::create(job.output, &options, &pool)?;
    let branches = shapes.branches.iter().map(|b| TreeColumn { name: b.name.clone(), kind: b.kind.clone() }).collect();
    let spec = TreeSpec { path: tree.clone(), title: String::new(), columns: branches, classes: StreamerInfos::new() };
    let id = writer.tree(&spec)?;
    let schema = Arc::new(Schema::new(shapes.fields.clone()));
    let batch = usize::try_from((BATCH / row).clamp(1, 1 << 16)).unwrap_or(1);
    let work = Work {
        files: &files,
        columns: &columns,
        parts: &share.parts,
        portion: share.rows,
        shapes: &shapes,
        schema,
        selection,
        batch,
        fill: job.fill_null,
        how,
    };
    let bytes_read = work.run(&writer, id, &tasks, share.threads)?;
    let written = writer.finish()?;
    Ok(Converted {
        tree,
        entries: written.trees.iter().map(|tree| tree.entries).sum(),
        columns: shapes.fields.iter().map(|field| ConvertedColumn::of(field)).collect(),
        left_out: Vec::new(),
        notes: shapes.notes.clone(),
        row_groups: tasks.iter().flatten().count() as u64,
        bytes_read,
        bytes_written: written.bytes,
    })
}

/// Opens all files, whose metadata may take so much memory together.
fn open(paths: &[PathBuf], most: u64) -> Result<Vec<Opened>> {
    let mut left = most;
    let open = |path: &PathBuf| {
        let file = Opened::open(path, left)?;
        left = left.saturating_sub(file.held);
        Ok(file)
    };
    paths.iter().map(open).collect()
}

/// The columns that are asked for, as the first file has them.
fn choose(first: &Opened, tree: &str, how: &Conversion<'_>) -> Result<Vec<FieldRef>> {
    let fields = first.schema().fields();
    let names: Vec<_> = fields.iter().map(|field| (tree, field.name().as_str())).collect();
    if let Some(pattern) = how.filter.unmatched(&names).first() {
        return Err(Error::request(format!("no column matches {pattern}")).file(first.path()));
    }
    let kept: Vec<_> = fields.iter().filter(|field| how.filter.keeps(tree, &[field.name()])).cloned().collect();
    match kept.is_empty() {
        true => Err(Error::request("no column to convert").file(first.path())),
        false => Ok(kept),
    }
}

/// Where a file has these columns, which must be of the same types.
fn places(file: &Opened, fields: &[FieldRef]) -> Result<Vec<usize>> {
    let place = |field: &FieldRef| {
        let named = |e: Error| e.object(format!("column {}", field.name())).file(file.path());
        let mut found = file.schema().fields().iter().enumerate().filter(|(_, other)| other.name() == field.name());
        let (place, other) = found.next().ok_or_else(|| named(Error::request("is in the first file, but not here")))?;
        if found.next().is_some() {
            return Err(named(Error::request("is there twice; leave it out with --drop")));
        }
        match other.data_type().equals_datatype(field.data_type()) {
            true => Ok(place),
            false => Err(named(Error::request(format!(
                "is {}, where the first file has {}",
                other.data_type(),
                field.data_type()
            )))),
        }
    };
    fields.iter().map(place).collect()
}

/// Bytes that an entry takes about.
fn row_bytes(groups: &[Vec<Group>], fields: &[FieldRef]) -> u64 {
    let largest = groups.iter().flatten().map(|group| group.unpacked / group.rows.max(1)).max().unwrap_or(0);
    let fixed = fields.iter().map(|field| width(field.data_type())).fold(0, u64::saturating_add);
    largest.max(fixed).max(1)
}

/// Bytes that each value takes, whatever it is.
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

/// How the memory is shared out: what reading takes, and the rest for clusters. The threads that are asked for do not
/// change that rest: it decides where a cluster ends that does not fit.
struct Share {
    threads: usize,
    clusters: u64,
    /// Columns that are read together, and the entries that all of these are read of before any is written: one part
    /// if there is memory to read all columns side by side.
    parts: Vec<Range<usize>>,
    rows: usize,
}

fn share(
    budget: Budget,
    files: &[Opened],
    columns: &[Vec<usize>],
    groups: &[Vec<Group>],
    row: u64,
    branches: usize,
) -> Result<Share> {
    // More memory reads more columns at a time: what is needed grows with what there is, until it fits.
    let mut enough = budget;
    loop {
        match share_of(enough, files, columns, groups, row, branches) {
            Ok(share) if enough.memory == budget.memory => return Ok(share),
            Ok(_) => return Err(budget.too_small(enough.memory, "")),
            Err(least) => enough.memory = least.div_ceil(1_000_000).saturating_mul(1_000_000),
        }
    }
}

/// The same for one budget, or the least that is needed where so much is read at a time as this has room for.
fn share_of(
    budget: Budget,
    files: &[Opened],
    columns: &[Vec<usize>],
    groups: &[Vec<Group>],
    row: u64,
    branches: usize,
) -> std::result::Result<Share, u64> {
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
        // The portion itself, and what is put together of it.
        reading = largest.saturating_add(batches).saturating_add(rows.saturating_mul(row).saturating_mul(2));
    }
    let least = metadata.saturating_add(reading).saturating_add(writing.max(reading));
    if budget.memory < least {
        return Err(least);
    }
    let readers = (free / 4).min(READERS.saturating_mul(reading)).clamp(reading, free - writing.max(reading));
    let fitting = usize::try_from(readers / reading).unwrap_or(usize::MAX);
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    Ok(Share { threads: fitting.clamp(1, budget.threads), clusters: free - readers, parts, rows })
}

/// Neighbouring columns that hold no more than so much together, and what the part that holds most does. At least one.
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

/// When the newest of the inputs was written: the date of the output.
fn newest(paths: &[PathBuf]) -> Option<i64> {
    let time = |path: &PathBuf| {
        let since = std::fs::metadata(path).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    paths.iter().filter_map(time).max()
}

/// What all threads share.
struct Work<'a> {
    files: &'a [Opened],
    columns: &'a [Vec<usize>],
    /// Columns that are read together, and the most entries that are read of these before those of the others.
    parts: &'a [Range<usize>],
    portion: usize,
    shapes: &'a Shapes,
    schema: SchemaRef,
    selection: Option<EntrySet>,
    batch: usize,
    fill: Option<f64>,
    how: &'a Conversion<'a>,
}

impl Work<'_> {
    /// Fills all tasks. Says how many bytes were read.
    fn run(&self, writer: &ParallelWriter, tree: TreeId, tasks: &[Vec<Part>], threads: usize) -> Result<u64> {
        let bytes = AtomicU64::new(0);
        fill_tasks(&[(writer, tree)], tasks.len() as u64, threads, |number, contexts| {
            let task = usize::try_from(number).ok().and_then(|number| tasks.get(number));
            let (Some(task), [context]) = (task, contexts) else { return Ok(()) };
            task.iter().try_for_each(|part| {
                self.fill(part, context).map_err(|e| self.named(e, part))?;
                bytes.fetch_add(part.bytes, Ordering::Relaxed);
                tell(self.how.progress, part.bytes)
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

    /// All columns of some entries of a row group, read one part of them after the other.
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

    /// The wanted entries of a part, from the start of its row group.
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

    /// A batch as the tree's columns.
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
            let array = plainly(array, &shape.plain, self.fill).map_err(named)?;
            arrays.extend(shape.flat(&array)?.into_iter().map(|flat| flat.array));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|e| Error::corrupt(format!("columns do not fit together: {e}")))
    }
}

/// Checks that all entries were there.
fn complete(read: usize, wanted: usize) -> Result<()> {
    match read == wanted {
        true => Ok(()),
        false => Err(Error::corrupt(format!("a row group with {read} entries where {wanted} are wanted"))),
    }
}

/// The same entries, at most so many at a time.
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
    fn columns_and_entries_are_cut_into_parts_that_fit() {
        assert_eq!(cut(&[3, 3, 9, 1, 1], 6), (vec![0..2, 2..3, 3..5], 9));
        let lengths = |most| portions(&[0..5, 8..10], most).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!((lengths(3), lengths(5), lengths(7)), (vec![1, 2, 1], vec![1, 1], vec![2]));
        assert_eq!(portions(&[0..5, 8..10], 3).concat(), [0..3, 3..5, 8..9, 9..10]);
        assert_eq!(portions(&[0..5, 8..10], usize::MAX), [vec![0..5, 8..10]]);
    }
}
