//! Parquet files to a tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{FieldRef, Schema};
use dataset::layout::Layout;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Hint, Result, check_output};

use super::filler::Filler;
use super::opened::{Group, Opened};
use super::options::Conversion;
use super::read_memory::{BATCH, Demand, row_bytes};
use super::report::{Converted, ConvertedColumn};
use super::tasks::tasks;
use super::types::shapes;
use crate::arrow::write::{Order, ParallelWriter, TreeColumn, TreeSpec, WriteOptions, WritePool};
use crate::execute::budget::Budget;

/// Parquet files, taken as one, and the tree to make of them.
#[derive(Clone, Debug)]
pub struct FromParquet<'a> {
    /// The files.
    pub inputs: &'a [PathBuf],
    /// The ROOT file.
    pub output: &'a Path,
    /// Path of the tree. If absent, the path in the metadata of the first input, or `Events`.
    pub tree: Option<&'a str>,
    /// The layout of the tree.
    pub layout: &'a Layout,
    /// Replaces missing numbers. If absent, missing numbers are an error.
    pub fill_null: Option<f64>,
}

/// Default name of the tree.
const TREE: &str = "Events";
/// Makes a tree of Parquet files. Each row group is one task, unless the layout has a cluster size.
///
/// # Errors
///
/// An input cannot be read, the output cannot be written, a column has a type that trees cannot hold, or the budget is too
/// small.
pub fn from_parquet(job: &FromParquet<'_>, options: &Conversion<'_>) -> Result<Converted> {
    let inputs = job.inputs.iter().map(PathBuf::as_path);
    check_output(job.output, options.overwrite, inputs.chain(options.entries.file()))?;
    let files = open(job.inputs, options.budget.memory / 4)?;
    let Some(first) = files.first() else { return Err(Error::request("no input")) };
    let tree = job.tree.or_else(|| first.tree()).unwrap_or(TREE).trim_matches('/').to_owned();
    let fields = choose(first, &tree, options)?;
    let shapes = shapes(&fields).map_err(|e| e.file(first.path()))?;
    let columns = files.iter().map(|file| places(file, &fields)).collect::<Result<Vec<_>>>()?;
    let groups: Vec<Vec<Group>> = files.iter().zip(&columns).map(|(file, columns)| file.groups(columns)).collect();
    let all = groups.iter().flatten().map(|group| group.rows).fold(0, u64::saturating_add);
    let (wanted, selection) = options.entries.choose(all, options.seed)?;
    let cluster = job.layout.resolve_tree(&tree).cluster;
    let tasks = tasks(&groups, &(wanted.start..wanted.end.min(all)), cluster);

    let row = row_bytes(&groups, &fields);
    let demand = Demand { files: &files, columns: &columns, groups: &groups, row, branches: shapes.branches.len() };
    let share = demand.share(options.budget)?;
    let write_options = WriteOptions {
        layout: job.layout.clone(),
        overwrite: options.overwrite,
        order: Order::Tasks,
        date: newest(job.inputs),
        ..WriteOptions::default()
    };
    let budget = Budget { memory: share.clusters, threads: options.budget.threads };
    // With few large row groups, all threads share the work on each.
    let pool = match tasks.len() < share.threads {
        true => WritePool::with_team(budget)?,
        false => WritePool::new(budget),
    };
    let mut writer = ParallelWriter::create(job.output, &write_options, &pool)?;
    let branches = shapes.branches.iter().map(|b| TreeColumn { name: b.name.clone(), kind: b.kind.clone() }).collect();
    let spec = TreeSpec { path: tree.clone(), title: String::new(), columns: branches, classes: StreamerInfos::new() };
    let (id, container) = (writer.tree(&spec)?, writer.container(&tree));
    let schema = Arc::new(Schema::new(shapes.fields.clone()));
    let batch = usize::try_from((BATCH / row).clamp(1, 1 << 16)).unwrap_or(1);
    let filler = Filler {
        files: &files,
        columns: &columns,
        parts: &share.parts,
        portion: share.rows,
        shapes: &shapes,
        schema,
        selection,
        batch,
        fill: job.fill_null,
        progress: options.progress,
    };
    let bytes_read = filler.run(&writer, id, &tasks, share.threads)?;
    let written = writer.finish()?;
    Ok(Converted {
        tree,
        container,
        entries: written.trees.iter().map(|tree| tree.entries).sum(),
        columns: shapes.fields.iter().map(|field| ConvertedColumn::of(field)).collect(),
        left_out: Vec::new(),
        notes: shapes.notes.clone(),
        row_groups: tasks.iter().flatten().count() as u64,
        bytes_read,
        bytes_written: written.bytes,
    })
}

/// Opens all files. Their metadata may take `most` bytes of memory together.
fn open(paths: &[PathBuf], most: u64) -> Result<Vec<Opened>> {
    let mut left = most;
    let open = |path: &PathBuf| {
        let file = Opened::open(path, left)?;
        left = left.saturating_sub(file.held);
        Ok(file)
    };
    paths.iter().map(open).collect()
}

/// The requested columns, as the first file has them.
fn choose(first: &Opened, tree: &str, options: &Conversion<'_>) -> Result<Vec<FieldRef>> {
    let fields = first.schema().fields();
    let names: Vec<_> = fields.iter().map(|field| (tree, field.name().as_str())).collect();
    if let Some(pattern) = options.filter.unmatched(&names).first() {
        return Err(Error::request(format!("no column matches {pattern}")).file(first.path()));
    }
    let kept: Vec<_> = fields.iter().filter(|field| options.filter.keeps(tree, &[field.name()])).cloned().collect();
    match kept.is_empty() {
        true => Err(Error::request("no column to convert").file(first.path())),
        false => Ok(kept),
    }
}

/// The indices of these columns in a file, where they must have the same types.
fn places(file: &Opened, fields: &[FieldRef]) -> Result<Vec<usize>> {
    let place = |field: &FieldRef| {
        let named = |e: Error| e.object(format!("column {}", field.name())).file(file.path());
        let mut found = file.schema().fields().iter().enumerate().filter(|(_, other)| other.name() == field.name());
        let (place, other) = found.next().ok_or_else(|| named(Error::request("is in the first file, but not here")))?;
        if found.next().is_some() {
            return Err(named(Error::request("appears twice; leave it out with --drop").hint(Hint::named("drop"))));
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

/// Time of the newest input, which becomes the date of the output.
fn newest(paths: &[PathBuf]) -> Option<i64> {
    let time = |path: &PathBuf| {
        let since = std::fs::metadata(path).ok()?.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    };
    paths.iter().filter_map(time).max()
}
