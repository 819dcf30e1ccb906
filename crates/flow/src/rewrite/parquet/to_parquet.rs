//! A table to a Parquet file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use dataset::EntrySet;
use dataset::layout::ClusterSize;
use rayon::ThreadPool;
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
use crate::select::{Defined, EvaluatedRows};

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
    check_output(job.output, options.overwrite, inputs.chain(options.entries.entries.file()))?;
    let dataset = Dataset::open_following(job.inputs, options.follow)?;
    let mut done =
        Converted { tree: dataset.path().to_owned(), container: dataset.container(), ..Converted::default() };
    let in_first = |e: Error| job.inputs.iter().take(1).fold(e, |e, input| e.file(&input.path));
    let mut columns = choose(&dataset, &options.filter, &mut done.left_out).map_err(in_first)?;
    // What is read for cuts is no progress.
    let chosen = options.entries.of(&dataset, options.budget, &|_| (options.progress)(0))?;
    done.cuts = chosen.cuts;
    let (entries, selection) = (chosen.range, chosen.selection);
    let defined = Defined::bind(&dataset, dataset.path(), &options.entries.defines)?.all(dataset.path())?;
    let mut numbers: Vec<usize> = columns.iter().map(|chosen| chosen.column).collect();
    for column in defined.columns() {
        if !numbers.contains(column) {
            numbers.push(*column);
        }
    }
    let defining = Defining { defined: &defined, read: &numbers, selection: selection.clone() };
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
    let (mut at, team) = (entries.start, budget.helpers()?.filter(|_| !defined.is_empty()));
    let request = Request { columns: numbers.clone(), entries, selection, budget, progress: &unwatched };
    let mut steps = batches(&dataset, request, BatchSize::Cluster).keeping(bounds(&groups), kept);
    let mut sink = None;
    for group in &groups {
        let Some(read) = steps.next_until(group.end) else { break };
        let read = read?;
        if sink.is_none() {
            leave_out(&mut columns, &read.batch, &mut done.left_out);
            sink = Some(start(job, options, (&columns, &defined, room), &dataset)?);
        }
        let mut arrays = arrays(&columns, &read.batch)?;
        arrays.extend(defining.arrays(&read.batch, at..group.end, team.as_deref())?);
        at = group.end;
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
        None => start(job, options, (&columns, &defined, room), &dataset)?,
    };
    done.row_groups = sink.groups() as u64;
    let fields = columns.iter().map(|chosen| Arc::clone(&chosen.field)).chain(defined.fields());
    done.columns = fields.map(|field| ConvertedColumn::of(&field)).collect();
    done.bytes_written = sink.finish().map_err(|e| e.file(job.output))?;
    Ok(done)
}

fn start(
    job: &ToParquet<'_>,
    options: &Conversion<'_>,
    (columns, defined, room): (&[Chosen], &Defined, u64),
    dataset: &Dataset,
) -> Result<Sink> {
    let fields: Vec<_> = columns.iter().map(|chosen| Arc::clone(&chosen.field)).chain(defined.fields()).collect();
    if fields.is_empty() {
        return Err(Error::request("no column to convert: none could be read").object(dataset.path()));
    }
    let file = OutputFile::create(job.output, options.overwrite)?;
    Sink::new(file, &Arc::new(Schema::new(fields)), (job.codec, options.budget, room), dataset.path())
        .map_err(|e| e.file(job.output))
}

/// The columns that are defined.
struct Defining<'a> {
    defined: &'a Defined,
    /// The columns that are read.
    read: &'a [usize],
    selection: Option<EntrySet>,
}

impl Defining<'_> {
    /// Their values in a batch of these entries.
    fn arrays(&self, batch: &RecordBatch, entries: Range<u64>, team: Option<&ThreadPool>) -> Result<Vec<ArrayRef>> {
        if self.defined.is_empty() {
            return Ok(Vec::new());
        }
        let place = |column: &usize| self.read.iter().position(|read| read == column);
        let needed = self.defined.columns().iter().filter_map(|column| batch.columns().get(place(column)?).cloned());
        let needed: Vec<ArrayRef> = needed.collect();
        let numbers: Option<Vec<u64>> = self
            .selection
            .as_ref()
            .map(|set| set.runs(set.rank(entries.start)..set.rank(entries.end)).flatten().collect());
        let (count, first) = (batch.num_rows(), entries.start);
        let rows = EvaluatedRows { count, first, numbers: numbers.as_deref(), before: 0 };
        self.defined.arrays(&needed, &rows, team)
    }
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
            let drop = Hint::named("drop").that("leaves the column out");
            let why = format!("entries of another type than those before; {}", drop.clause());
            Error::unsupported(why).hint(drop).object(format!("column {}", chosen.field.name()))
        })
    };
    columns.iter().map(of).collect()
}
