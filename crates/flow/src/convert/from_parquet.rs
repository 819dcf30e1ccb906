//! Parquet files to a tree.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
use dataset::layout::Layout;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Result, refuse_existing};

use super::opened::{Group, Opened};
use super::tasks::{Part, tasks};
use super::types::{Shapes, shapes};
use super::values::plainly;
use super::{Conversion, Converted, ConvertedColumn};
use crate::budget::Budget;
use crate::engine::tell;
use crate::read::Selection;
use crate::write::{
    FillContext, Order, ParallelWriter, TreeColumn, TreeId, TreeSpec, WriteOptions, WritePool, fill_tasks,
};

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
const WRITER: (u64, u64) = (8 << 20, 4000);

/// Makes a tree of Parquet files. Each row group is filled as a task of its own; see `tasks` for what a layout with a
/// cluster size changes of that.
pub fn from_parquet(job: &FromParquet<'_>, how: &Conversion<'_>) -> Result<Converted> {
    refuse_existing(job.output, how.overwrite)?;
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
    let share = share(how.budget, &files, &groups, row, shapes.branches.len())?;
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
    let work =
        Work { files: &files, columns: &columns, shapes: &shapes, schema, selection, batch, fill: job.fill_null, how };
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
}

fn share(budget: Budget, files: &[Opened], groups: &[Vec<Group>], row: u64, columns: usize) -> Result<Share> {
    let metadata: u64 = files.iter().map(|file| file.held).sum();
    let pages = groups.iter().flatten().map(|group| group.held).max().unwrap_or(0);
    let reading = pages.saturating_add(row.max(BATCH).saturating_mul(COPIES));
    let writing = WRITER.0 + WRITER.1 * columns as u64;
    let least = metadata.saturating_add(reading).saturating_add(writing.max(reading));
    if budget.memory < least {
        return Err(budget.too_small(least, ""));
    }
    let free = budget.memory - metadata;
    let readers = (free / 4).min(READERS.saturating_mul(reading)).clamp(reading, free - writing.max(reading));
    let fitting = usize::try_from(readers / reading).unwrap_or(usize::MAX);
    Ok(Share { threads: fitting.clamp(1, budget.threads), clusters: free - readers })
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
    shapes: &'a Shapes,
    schema: SchemaRef,
    selection: Option<Selection>,
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
        let mut batches = file.read(part.group, columns, &entries, rows, self.batch)?;
        let mut read = 0;
        while let Some(batch) = batches.next()? {
            read += batch.num_rows();
            context.fill(&self.shaped(&batch)?)?;
        }
        match read == wanted {
            true => Ok(()),
            false => Err(Error::corrupt(format!("a row group with {read} entries where {wanted} are wanted"))),
        }
    }

    /// The wanted entries of a part, from the start of its row group.
    fn entries(&self, part: &Part) -> Vec<Range<usize>> {
        let local = |entry: u64| usize::try_from(entry).unwrap_or(usize::MAX);
        let Some(selection) = &self.selection else {
            return std::iter::once(local(part.from.start)..local(part.from.end)).collect();
        };
        let end = part.first + (part.from.end - part.from.start);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let from = selection.entries().partition_point(|entry| *entry < part.first);
        for &entry in selection.entries().iter().skip(from).take_while(|entry| **entry < end) {
            let at = local(part.from.start + (entry - part.first));
            match ranges.last_mut() {
                Some(range) if range.end == at => range.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        ranges
    }

    /// A batch as the tree's columns.
    fn shaped(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays = Vec::with_capacity(self.schema.fields().len());
        for shape in &self.shapes.columns {
            let named = |e: Error| e.object(format!("column {}", shape.name));
            let missing = || Error::corrupt("is not among the columns that were read");
            let array = batch.column_by_name(&shape.name).ok_or_else(missing).map_err(named)?;
            let array = plainly(array, &shape.plain, self.fill).map_err(named)?;
            arrays.extend(shape.flat(&array)?.into_iter().map(|flat| flat.array));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|e| Error::corrupt(format!("columns do not fit together: {e}")))
    }
}
