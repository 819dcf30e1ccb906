//! Puts the entries of a table of any container into the order of the output, as arrays, where they are converted. What comes out is a
//! table with the same columns, whose pieces are in the scratch file.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use dataset::codecs::Codecs;
use dataset::table::piece::{Piece, Record};
use dataset::table::{ColumnPieces, FileRange, Loaded, Node, Runs, StoredTable, TableColumn, TableSchema};
use rootfile::{Error, Hint, RangeBytes, Result, Source};

use super::array_column::{ArrayJob, StoredArrays};
use super::arrays;
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::select::Defined;

/// The part of the memory that the scratch file may take.
const SCRATCH: u64 = 4;
/// Least memory for the arrays of a column. With less, threads are left out.
const LEAST_ROOM: u64 = 8 << 20;

/// A table whose entries are in another order.
pub(crate) struct Reordered {
    /// Its columns have the numbers of their places among those that were asked for.
    pub dataset: Dataset,
    /// Bytes that it takes in memory.
    pub held: u64,
}

/// Some columns of a table with the rows of an order, in clusters with these bounds. Where none is asked for at a place, there are no values.
///
/// # Errors
///
/// The entries cannot be read, a row that is no entry has no default, or the scratch file cannot be written.
pub(crate) fn reorder_table(
    dataset: &Dataset,
    columns: &[Option<usize>],
    order: &Order,
    bounds: &[u64],
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Reordered> {
    let scratch = Arc::new(order.scratch(budget.memory / SCRATCH));
    let free = (budget.memory - budget.memory / SCRATCH).saturating_sub(dataset.metadata());
    let fitting = usize::try_from(free / LEAST_ROOM).unwrap_or(usize::MAX);
    let threads = budget.threads.min(columns.len()).min(fitting).max(1);
    let room = (free / threads as u64).max(1);
    let job = ArrayJob { dataset, order, bounds, scratch: &scratch, room, progress };
    let workers = Workers::new("the order of entries", threads, progress).in_order();
    let stored = workers.results(columns.len(), |place| match columns.get(place) {
        Some(Some(column)) => job.reorder(*column),
        Some(None) => Ok(StoredArrays::default()),
        None => Err(no_piece()),
    });
    let stored = stored.map_err(|e| budget.in_whole(e, threads as u64))?;
    let (name, title) = dataset.names();
    let nothing: FieldRef = Arc::new(Field::new("", DataType::Null, true));
    let field = |column: &Option<usize>| match column {
        Some(column) => Some(Arc::clone(dataset.column(*column)?.field())),
        None => Some(Arc::clone(&nothing)),
    };
    let fields: Vec<FieldRef> = columns.iter().filter_map(field).collect();
    let node = |field: &FieldRef| Node {
        name: field.name().clone(),
        title: String::new(),
        parent: None,
        type_name: String::new(),
        groups: false,
    };
    let nodes = fields.iter().map(node).collect();
    let held = scratch.held() + stored.iter().map(StoredArrays::memory).sum::<u64>();
    let table = ReorderedTable {
        schema: TableSchema::Plain { name: name.to_owned(), title: title.to_owned(), nodes },
        columns: fields.into_iter().enumerate().map(|(node, field)| TableColumn::Array { field, node }).collect(),
        bounds: bounds.to_vec(),
        stored,
    };
    let files: Vec<Arc<dyn Source>> = vec![scratch];
    Ok(Reordered { dataset: Dataset::of_table(Box::new(table), files), held })
}

/// The columns of a table that expressions need, with the numbers that they have there, and the rows of an order.
///
/// # Errors
///
/// As for [`reorder_table`], and if an expression counts entries: rows have other numbers.
pub(crate) fn reorder_needed(
    dataset: &Dataset,
    defined: &Defined,
    order: &Order,
    budget: Budget,
    progress: Progress<'_>,
) -> Result<Reordered> {
    if defined.counts_entries() {
        let define = Hint::named("define");
        let message = format!("{define} counts entries, which are in another order here; do one after the other");
        return Err(Error::unsupported(message).hint(define));
    }
    let needed = defined.columns();
    let columns: Vec<_> = (0..needed.last().map_or(0, |last| last + 1))
        .map(|column| needed.binary_search(&column).is_ok().then_some(column))
        .collect();
    reorder_table(dataset, &columns, order, &[0, order.rows()], budget, progress)
}

/// The table, whose only file is the scratch file.
struct ReorderedTable {
    schema: TableSchema,
    columns: Vec<TableColumn>,
    bounds: Vec<u64>,
    stored: Vec<StoredArrays>,
}

impl StoredTable for ReorderedTable {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn clusters(&self) -> Vec<u64> {
        self.bounds.clone()
    }

    fn memory(&self) -> u64 {
        self.stored.iter().map(StoredArrays::memory).sum()
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let Some(StoredArrays { pieces, raw_len }) = self.stored.get(column) else { return ColumnPieces::default() };
        let packed_len = pieces.iter().map(|piece| u64::from(piece.packed_len())).sum();
        ColumnPieces { pieces: pieces.clone(), packed_len, raw_len: *raw_len }
    }

    fn ranges(&self, _: usize, piece: &Piece, _: &mut Runs<'_>) -> Result<Vec<FileRange>> {
        let Record { file, offset, len } = piece.record().ok_or_else(no_piece)?;
        Ok(vec![(file, offset..offset + u64::from(len))])
    }

    fn open(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
    ) -> Result<Loaded> {
        let record = piece.record().ok_or_else(no_piece)?;
        let field = self.columns.get(column).ok_or_else(no_piece)?.field();
        let read = bytes.read(record.file, record.range())?;
        let array =
            arrays::of_bytes(&read, field.data_type()).map_err(|e| e.object(format!("column {}", field.name())))?;
        codecs.cost.blocks += 1;
        codecs.cost.compressed += read.len() as u64;
        codecs.cost.uncompressed += read.len() as u64;
        let local = |entry: u64| usize::try_from(entry.saturating_sub(piece.first_entry)).unwrap_or(usize::MAX);
        let slice = |run: Range<u64>| {
            let (start, end) = (local(run.start).min(array.len()), local(run.end).min(array.len()));
            array.slice(start, end.saturating_sub(start))
        };
        let parts: Vec<_> = entries.map(slice).collect();
        Ok(Loaded::Array(dataset::table::one_array(&parts, field.data_type())?))
    }
}

#[cold]
fn no_piece() -> Error {
    Error::request("no such piece")
}
