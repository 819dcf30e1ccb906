//! A table to a Parquet file.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use dataset::layout::ClusterSize;
use rootfile::{Error, Hint, OutputFile, Result, check_output};

use super::codec::ParquetCodec;
use super::columns::{Chosen, choose, unfit};
use super::groups::{Rule, groups};
use super::memory::{MemoryNeeds, bounds};
use super::options::Conversion;
use super::report::{Converted, ConvertedColumn, LeftOut};
use super::sink::Sink;
use crate::arrow::read::BatchSize;
use crate::arrow::read::Dataset;
use crate::arrow::read::Request;
use crate::arrow::read::batches;
use crate::execute::budget::Budget;
use crate::execute::progress::{tell, unwatched};
use crate::plan::inputs::Input;

/// The trees of one or more files, taken as one, and the Parquet file to make of them.
#[derive(Clone, Copy, Debug)]
pub struct ToParquet<'a> {
    /// The trees.
    pub inputs: &'a [Input],
    /// The file.
    pub output: &'a Path,
    /// Its compression.
    pub codec: ParquetCodec,
    /// The size of its row groups, in entries or in bytes before compression. One row group for each cluster, if absent.
    pub row_group: Option<ClusterSize>,
}

/// Makes a Parquet file of a tree. Columns that are only bytes are left out and reported.
///
/// # Errors
///
/// An input cannot be read, the output cannot be written, no column can be converted, or the budget is too small.
pub fn to_parquet(job: &ToParquet<'_>, options: &Conversion<'_>) -> Result<Converted> {
    let inputs = job.inputs.iter().map(|input| input.path.as_path());
    check_output(job.output, options.overwrite, inputs.chain(options.entries.file()))?;
    let dataset = Dataset::open_following(job.inputs, options.follow)?;
    let mut done =
        Converted { tree: dataset.path().to_owned(), container: dataset.container(), ..Converted::default() };
    let in_first = |e: Error| job.inputs.iter().take(1).fold(e, |e, input| e.file(&input.path));
    let mut columns = choose(&dataset, &options.filter, &mut done.left_out).map_err(in_first)?;
    let (entries, selection) = options.entries.choose(dataset.entries(), options.seed)?;
    let numbers: Vec<usize> = columns.iter().map(|chosen| chosen.column).collect();
    done.notes.extend(dataset.remarks(&numbers));
    let needs = MemoryNeeds::of((&dataset, &numbers), &columns);
    let rule = match job.row_group {
        None => Rule::Clusters,
        Some(ClusterSize::Entries(n)) => Rule::Entries(n),
        Some(ClusterSize::Bytes(bytes)) => Rule::Entries((bytes / needs.entry).max(1)),
    };
    let cut = |most| groups(dataset.clusters(), &entries, selection.as_ref(), rule, most);
    let all = cut(u64::MAX).len();
    let (groups, least, kept) = needs.groups(options.budget.memory, &cut);
    if least > options.budget.memory {
        return Err(options.budget.too_small(needs.least(&cut), ""));
    }
    if groups.len() < all {
        done.notes.push(format!(
            "{} row groups instead of {all}: the memory budget has no room for the description of more",
            groups.len(),
        ));
    }
    done.notes.extend(dataset.notes_on_gaps(&numbers));
    let room = needs.encoders(options.budget, groups.len());
    // The other half holds the arrays and the encoded columns.
    let budget = Budget { memory: options.budget.memory / 2, ..options.budget };
    let request = Request { columns: numbers.clone(), entries, selection, budget, progress: &unwatched };
    let mut steps = batches(&dataset, request, BatchSize::Cluster).keeping(bounds(&groups), kept);
    let mut sink = None;
    for group in &groups {
        let Some(read) = steps.next_until(group.end) else { break };
        let read = read?;
        if sink.is_none() {
            leave_out(&mut columns, &read.batch, &mut done.left_out);
            sink = Some(start(job, options, (&columns, room), &dataset)?);
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
        tell(options.progress, bytes)?;
    }
    let sink = match sink {
        Some(sink) => sink,
        None => start(job, options, (&columns, room), &dataset)?,
    };
    done.row_groups = sink.groups() as u64;
    done.columns = columns.iter().map(|chosen| ConvertedColumn::of(&chosen.field)).collect();
    done.bytes_written = sink.finish().map_err(|e| e.file(job.output))?;
    Ok(done)
}

fn start(
    job: &ToParquet<'_>,
    options: &Conversion<'_>,
    (columns, room): (&[Chosen], u64),
    dataset: &Dataset,
) -> Result<Sink> {
    let fields: Vec<_> = columns.iter().map(|chosen| Arc::clone(&chosen.field)).collect();
    if fields.is_empty() {
        return Err(Error::request("no column to convert: none could be read").object(dataset.path()));
    }
    let file = OutputFile::create(job.output, options.overwrite)?;
    Sink::new(file, &Arc::new(Schema::new(fields)), (job.codec, options.budget, room), dataset.path())
        .map_err(|e| e.file(job.output))
}

/// Leaves out columns whose first entries do not match their plan.
fn leave_out(columns: &mut Vec<Chosen>, batch: &RecordBatch, left_out: &mut Vec<LeftOut>) {
    let read = batch.schema();
    columns.retain(|chosen| {
        let why = read.fields().get(chosen.place).and_then(|field| unfit(field));
        left_out.extend(why.iter().map(|why| LeftOut { name: chosen.field.name().clone(), why: why.clone() }));
        why.is_none()
    });
}

/// The arrays of the columns. A column that became bytes on the way is an error: its type in the file is fixed.
fn arrays(columns: &[Chosen], batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
    let of = |chosen: &Chosen| {
        let array = batch.columns().get(chosen.place);
        let array = array.filter(|array| array.data_type() == chosen.field.data_type());
        array.cloned().ok_or_else(|| {
            let why = "entries of another type than those before; leave the column out with --drop";
            Error::unsupported(why).hint(Hint::named("drop")).object(format!("column {}", chosen.field.name()))
        })
    };
    columns.iter().map(of).collect()
}
