//! A tree to a Parquet file.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use dataset::layout::ClusterSize;
use rootfile::{Error, OutputFile, Result, check_output};

use super::columns::{Chosen, choose, unfit};
use super::groups::{Rule, groups, together};
use super::sink::{DESCRIPTION, ENCODER, FOOTER, Sink};
use super::{Conversion, Converted, ConvertedColumn, LeftOut, ParquetCodec};
use crate::arrow::read::Dataset;
use crate::arrow::read::Request;
use crate::arrow::read::Step;
use crate::arrow::read::batches;
use crate::arrow::read::least_memory;
use crate::execute::budget::Budget;
use crate::execute::progress::tell;
use crate::plan::inputs::Input;

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
    let inputs = job.inputs.iter().map(|input| input.path.as_path());
    check_output(job.output, how.overwrite, inputs.chain(how.entries.0.file()))?;
    let dataset = Dataset::open(job.inputs)?;
    let mut done = Converted { tree: dataset.path().to_owned(), ..Converted::default() };
    let mut columns = choose(&dataset, &how.filter, &mut done.left_out)?;
    let (entries, selection) = how.entries.0.choose(dataset.entries(), how.entries.1)?;
    let numbers: Vec<usize> = columns.iter().map(|chosen| chosen.column).collect();
    let needs = Needs::of((&dataset, &numbers), &columns);
    let rule = match job.row_group {
        None => Rule::Clusters,
        Some(ClusterSize::Entries(n)) => Rule::Entries(n),
        Some(ClusterSize::Bytes(bytes)) => Rule::Entries((bytes / needs.entry).max(1)),
    };
    let cut = |most| groups(dataset.clusters(), &entries, selection.as_ref(), rule, most);
    let all = cut(u64::MAX).len();
    let (groups, least, kept) = needs.groups(how.budget.memory, &cut);
    if least > how.budget.memory {
        return Err(how.budget.too_small(needs.least(&cut), ""));
    }
    if groups.len() < all {
        done.notes.push(format!(
            "{} row groups instead of {all}: the memory budget has no room to describe more",
            groups.len(),
        ));
    }
    let room = needs.encoders(how.budget, groups.len());
    // The other half has the arrays, and what they are encoded to.
    let budget = Budget { memory: how.budget.memory / 2, ..how.budget };
    let request = Request { columns: numbers.clone(), entries, selection, budget, cancelled: None };
    let mut steps = batches(&dataset, request, Step::Cluster).keeping(bounds(&groups), kept);
    let mut sink = None;
    for group in &groups {
        let Some(read) = steps.next_until(group.end) else { break };
        let read = read?;
        if sink.is_none() {
            leave_out(&mut columns, &read.batch, &mut done.left_out);
            sink = Some(start(job, how, (&columns, room), &dataset)?);
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
        None => start(job, how, (&columns, room), &dataset)?,
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

fn start(
    job: &ToParquet<'_>,
    how: &Conversion<'_>,
    (columns, room): (&[Chosen], u64),
    dataset: &Dataset,
) -> Result<Sink> {
    let fields: Vec<_> = columns.iter().map(|chosen| Arc::clone(&chosen.field)).collect();
    if fields.is_empty() {
        return Err(Error::request("no column to convert: none could be read").object(dataset.path()));
    }
    let file = OutputFile::create(job.output, how.overwrite)?;
    Sink::new(file, &Arc::new(Schema::new(fields)), (job.codec, how.budget, room), dataset.path())
        .map_err(|e| e.file(job.output))
}

/// What a conversion needs of memory.
struct Needs<'a> {
    /// Of which columns of what.
    columns: (&'a Dataset, &'a [usize]),
    /// Bytes that an entry takes about, and about the largest.
    entry: u64,
    largest: u64,
    /// What the largest takes while it is encoded, with where its items lie.
    spread: u64,
    /// Columns of the file, in its own sense, and the most that a column of the tree becomes.
    leaves: u64,
    most_leaves: u64,
}

impl<'a> Needs<'a> {
    fn of((dataset, numbers): (&'a Dataset, &'a [usize]), columns: &[Chosen]) -> Self {
        let all: u64 = numbers.iter().map(|&column| dataset.bytes(column)).sum();
        let varies =
            |chosen: &&Chosen| matches!(chosen.field.data_type(), DataType::LargeList(_) | DataType::LargeUtf8);
        let offsets = columns.iter().filter(varies).count() as u64 * OFFSET;
        let of_column = |column| dataset.source(column).map_or(0, |column| column.source.largest_entry());
        let leaves = |chosen: &Chosen| leaves(chosen.field.data_type());
        Self {
            columns: (dataset, numbers),
            entry: (all / dataset.entries().max(1) + offsets).max(1),
            spread: columns.iter().map(|c| of_column(c.column).saturating_mul(spread(c.field.data_type()))).sum(),
            largest: numbers.iter().map(|&column| of_column(column)).sum(),
            leaves: columns.iter().map(leaves).sum(),
            most_leaves: columns.iter().map(leaves).max().unwrap_or(1),
        }
    }

    /// What the file's last record takes that describes so many row groups.
    fn record(&self, groups: usize) -> u64 {
        self.leaves.saturating_mul(DESCRIPTION + FOOTER.saturating_mul(groups as u64))
    }

    /// What a row group is encoded in, at least: of an entry also where its items lie.
    fn encoding(&self) -> u64 {
        (self.most_leaves * ENCODER).max(self.spread)
    }

    /// What row groups need, whatever they are: a quarter has the arrays, and a quarter what they are encoded to and the
    /// file's last record, which describes so many of them.
    fn writing(&self, groups: usize) -> u64 {
        let writing = self.encoding().saturating_add(self.record(groups));
        (4 * self.largest).max(writing.saturating_mul(4))
    }

    /// What these row groups need, which the file's last record is to describe or not: one half is that of reading. And
    /// what of that is for baskets that several use.
    fn memory(&self, groups: &[Range<u64>], described: bool) -> (u64, u64) {
        let (reading, kept) = least_memory(self.columns.0, self.columns.1, &bounds(groups));
        ((2 * reading).max(self.writing(if described { groups.len() } else { 0 })), kept)
    }

    /// The row groups with so much memory, and what these really need. They are put together where the file's last
    /// record, which describes all of them, would not fit into its share.
    fn groups(&self, memory: u64, cut: &dyn Fn(u64) -> Vec<Range<u64>>) -> (Vec<Range<u64>>, u64, u64) {
        let most = (memory / 4 / self.entry).max(1);
        let groups = cut(most);
        let room = (memory / 4).saturating_sub(self.encoding()).max(memory / 8);
        if self.record(groups.len()) <= room {
            let (least, kept) = self.memory(&groups, false);
            return (groups, least, kept);
        }
        let fitting = room.saturating_sub(self.record(0)) / (self.leaves * FOOTER).max(1);
        let fewer = together(&groups, usize::try_from(fitting).unwrap_or(usize::MAX).max(1), most);
        let (least, kept) = self.memory(&fewer, true);
        (fewer, least, kept)
    }

    /// The least memory that would do.
    fn least(&self, cut: &dyn Fn(u64) -> Vec<Range<u64>>) -> u64 {
        let all = bounds(&cut(u64::MAX));
        let whole = all.first().zip(all.last()).map(|(start, end)| *start..*end);
        let (mut memory, _) = self.memory(whole.as_slice(), true);
        // More memory makes row groups fewer and larger.
        while self.groups(memory, cut).1 > memory {
            memory = memory.saturating_add(memory / 64).saturating_add(1 << 16);
        }
        memory
    }

    /// Memory to encode in, where there are so many row groups.
    fn encoders(&self, budget: Budget, groups: usize) -> u64 {
        (budget.memory / 4).saturating_sub(self.record(groups)).max(budget.memory / 8).max(self.encoding())
    }
}

/// Where row groups begin, and the last one ends.
fn bounds(groups: &[Range<u64>]) -> Vec<u64> {
    let end = groups.last().map(|group| group.end);
    groups.iter().map(|group| group.start).chain(end).collect()
}

/// Bytes of memory that a byte of a type takes while it is encoded, about: each item of a list has its place and two
/// levels besides.
fn spread(of: &DataType) -> u64 {
    const ITEM: u64 = 12;
    match of {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => match item.data_type().primitive_width() {
            Some(width) => ITEM.div_ceil(width.max(1) as u64),
            None => spread(item.data_type()),
        },
        DataType::Struct(parts) => parts.iter().map(|part| spread(part.data_type())).max().unwrap_or(1),
        DataType::Boolean => 8 * ITEM,
        _ => 1,
    }
}

/// Columns of a Parquet file that a type becomes.
fn leaves(of: &DataType) -> u64 {
    match of {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => leaves(item.data_type()),
        DataType::Struct(parts) => parts.iter().map(|part| leaves(part.data_type())).sum::<u64>(),
        _ => 1,
    }
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
