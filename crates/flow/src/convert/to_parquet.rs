//! A tree to a Parquet file.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use dataset::layout::ClusterSize;
use rootfile::{Error, OutputFile, Result, refuse_existing};

use super::columns::{Chosen, choose, unfit};
use super::groups::{Rule, groups};
use super::sink::Sink;
use super::{Conversion, Converted, ConvertedColumn, LeftOut, ParquetCodec};
use crate::budget::Budget;
use crate::engine::tell;
use crate::inputs::Input;
use crate::read::{Dataset, Request, Step, batches, least_memory};

/// A tree, or those of several files as one, and the Parquet file to be made of it.
#[derive(Clone, Copy, Debug)]
pub struct ToParquet<'a> {
    /// The trees.
    pub inputs: &'a [Input],
    /// The file.
    pub output: &'a Path,
    /// What it is compressed with.
    pub codec: ParquetCodec,
    /// The size of its row groups, in entries or in bytes before compression; that of clusters, if absent.
    pub row_group: Option<ClusterSize>,
}

/// What an entry of a list or text takes in memory besides its items.
const OFFSET: u64 = size_of::<i64>() as u64;

/// Makes a Parquet file of a tree. Columns that are only bytes are left out, and the report says so.
pub fn to_parquet(job: &ToParquet<'_>, how: &Conversion<'_>) -> Result<Converted> {
    refuse_existing(job.output, how.overwrite)?;
    let dataset = Dataset::open(job.inputs)?;
    let mut done = Converted { tree: dataset.path().to_owned(), ..Converted::default() };
    let mut columns = choose(&dataset, &how.filter, &mut done.left_out)?;
    let (entries, selection) = how.entries.0.choose(dataset.entries(), how.entries.1)?;
    let numbers: Vec<usize> = columns.iter().map(|chosen| chosen.column).collect();
    let most = most_entries(&dataset, &columns, how.budget, least_memory(&dataset, &numbers, &entries))?;
    let rule = match job.row_group {
        None => Rule::Clusters,
        Some(ClusterSize::Entries(n)) => Rule::Entries(n),
        Some(ClusterSize::Bytes(bytes)) => Rule::Entries((bytes / entry_bytes(&dataset, &columns)).max(1)),
    };
    let groups = groups(dataset.clusters(), &entries, selection.as_ref(), rule, most);
    // One half of the memory is the arrays' and what they are encoded to, the other that of reading.
    let budget = Budget { memory: how.budget.memory / 2, ..how.budget };
    let request = Request { columns: numbers, entries, selection, budget, cancelled: None };
    let mut steps = batches(&dataset, request, Step::Cluster);
    let mut sink = None;
    for group in &groups {
        let Some(read) = steps.next_to(group.end) else { break };
        let read = read?;
        if sink.is_none() {
            leave_out(&mut columns, &read.batch, &mut done.left_out);
            sink = Some(start(job, how, &columns, &dataset)?);
        }
        let arrays = arrays(&columns, &read.batch)?;
        let bytes: u64 = read.spent.iter().map(|spent| spent.compressed).sum();
        let rows = read.batch.num_rows();
        drop(read);
        if let (Some(sink), 1..) = (&mut sink, rows) {
            sink.write(arrays).map_err(|e| e.file(job.output))?;
            done.entries += rows as u64;
        }
        done.bytes_read += bytes;
        tell(how.progress, bytes)?;
    }
    let sink = match sink {
        Some(sink) => sink,
        None => start(job, how, &columns, &dataset)?,
    };
    done.row_groups = sink.groups() as u64;
    done.columns = columns.iter().map(|chosen| ConvertedColumn::of(&chosen.field)).collect();
    done.bytes_written = sink.finish().map_err(|e| e.file(job.output))?;
    Ok(done)
}

impl ConvertedColumn {
    pub(super) fn of(field: &arrow_schema::Field) -> Self {
        Self { name: field.name().clone(), arrow: field.data_type().to_string() }
    }
}

fn start(job: &ToParquet<'_>, how: &Conversion<'_>, columns: &[Chosen], dataset: &Dataset) -> Result<Sink> {
    let fields: Vec<_> = columns.iter().map(|chosen| Arc::clone(&chosen.field)).collect();
    if fields.is_empty() {
        return Err(Error::request("no column to convert: none could be read").object(dataset.path()));
    }
    let file = OutputFile::create(job.output, how.overwrite)?;
    Sink::new(file, Arc::new(Schema::new(fields)), (job.codec, how.budget), dataset.path())
        .map_err(|e| e.file(job.output))
}

/// Bytes that an entry takes about.
fn entry_bytes(dataset: &Dataset, columns: &[Chosen]) -> u64 {
    let all: u64 = columns.iter().map(|chosen| dataset.bytes(chosen.column)).sum();
    let varies = |chosen: &&Chosen| matches!(chosen.field.data_type(), DataType::LargeList(_) | DataType::LargeUtf8);
    let offsets = columns.iter().filter(varies).count() as u64 * OFFSET;
    (all / dataset.entries().max(1) + offsets).max(1)
}

/// The most entries that a row group may have: its arrays get a quarter of the memory, and as much what they are encoded
/// to. Refuses where what is left to read in is too little.
fn most_entries(dataset: &Dataset, columns: &[Chosen], budget: Budget, least: u64) -> Result<u64> {
    if budget.memory / 2 < least {
        return Err(budget.too_small(2 * least, ""));
    }
    Ok((budget.memory / 4 / entry_bytes(dataset, columns)).max(1))
}

/// Leaves out columns whose first entries are not what their plan says.
fn leave_out(columns: &mut Vec<Chosen>, batch: &RecordBatch, left_out: &mut Vec<LeftOut>) {
    let read = batch.schema();
    columns.retain(|chosen| {
        let why = read.fields().get(chosen.place).and_then(|field| unfit(field));
        left_out.extend(why.iter().map(|why| LeftOut { name: chosen.field.name().clone(), why: why.clone() }));
        why.is_none()
    });
}

/// The arrays of the columns. What is read as bytes after all cannot be written any more.
fn arrays(columns: &[Chosen], batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
    let of = |chosen: &Chosen| {
        let array = batch.columns().get(chosen.place);
        let array = array.filter(|array| array.data_type() == chosen.field.data_type());
        array.cloned().ok_or_else(|| {
            let why = "entries that are not what those before were; leave the column out with --drop";
            Error::unsupported(why).object(format!("column {}", chosen.field.name()))
        })
    };
    columns.iter().map(of).collect()
}
