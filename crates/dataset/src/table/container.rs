//! What a container is to those who read it: a table whose metadata are read. It says which pieces each column has, names the ranges
//! of files that hold them, and turns their bytes into values. It fetches nothing, and knows no threads and no budget.

use std::ops::Range;

use rootfile::{RangeBytes, Result};

use super::builder::{Loaded, ValueBuilder};
use super::column::TableColumn;
use super::piece::Piece;
use super::schema::TableSchema;
use super::stated::Stated;
use crate::codecs::Codecs;

/// Bytes of one file: the number of the file among those of the table, and where they are.
pub type FileRange = (u32, Range<u64>);

/// Ranges of entries in ascending order, counted from the first of the table.
pub type Runs<'a> = dyn Iterator<Item = Range<u64>> + 'a;

/// A table whose metadata are read. Columns are numbered as in [`columns`](Self::columns), which are in the order of their nodes.
pub trait StoredTable: Send + Sync {
    /// Its nodes.
    fn schema(&self) -> &TableSchema;

    /// Its columns, with their Arrow fields. Where each is planned when it is asked for, this plans all.
    fn columns(&self) -> &[TableColumn];

    /// A column.
    fn column(&self, column: usize) -> Option<&TableColumn> {
        self.columns().get(column)
    }

    /// The numbers of a column's parts, behind those of all columns, where several threads may read one each: they are columns of some
    /// members of its values, which [`FieldPlan::joined`](crate::ntuple::decode::FieldPlan::joined) puts together. Empty for others.
    fn parts(&self, _column: usize) -> Range<usize> {
        0..0
    }

    /// The number of columns.
    fn number_of_columns(&self) -> usize {
        self.columns().len()
    }

    /// How many of them are planned so far.
    fn number_planned(&self) -> usize {
        self.number_of_columns()
    }

    /// The node of a column.
    fn node_of(&self, column: usize) -> Option<usize> {
        self.columns().get(column).map(TableColumn::node)
    }

    /// The column of a node, if it has one.
    fn column_of(&self, node: usize) -> Option<usize> {
        self.columns().binary_search_by_key(&node, TableColumn::node).ok()
    }

    /// First entry of each cluster, and at the end the number of entries.
    fn clusters(&self) -> Vec<u64>;

    /// Bytes that its metadata take in memory.
    fn memory(&self) -> u64;

    /// The pieces of a column, in the order of entries. A piece that cannot be opened is listed too.
    fn pieces(&self, column: usize) -> ColumnPieces;

    /// What the metadata say of the values of a piece, if they do.
    fn stated(&self, _column: usize, _piece: &Piece) -> Option<Stated> {
        None
    }

    /// Where the bytes of some entries of a piece are, in the order in which they will be asked for. Where that is known only from the
    /// bytes themselves, it is a guess.
    ///
    /// # Errors
    ///
    /// If there is no such piece, or if its metadata are damaged.
    fn ranges(&self, column: usize, piece: &Piece, entries: &mut Runs<'_>) -> Result<Vec<FileRange>>;

    /// Opens some entries of a piece: asks for their bytes, and decompresses them.
    ///
    /// # Errors
    ///
    /// If there is no such piece, if its bytes cannot be had, or if they are damaged.
    fn open(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
    ) -> Result<Loaded>;

    /// Appends some entries of a piece to the values of its column. The piece may be several neighbours [as one](Piece::with). A container
    /// that decodes values puts them where they belong, without values of their own in between. After an error the values are unusable.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), or if the values are those of another column.
    fn append(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
        values: &mut ValueBuilder,
    ) -> Result<()> {
        values.append(self.open(column, piece, entries, bytes, codecs)?)
    }
}

/// The pieces of a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnPieces {
    /// In the order of entries.
    pub pieces: Vec<Piece>,
    /// Bytes of all of them in files.
    pub packed_len: u64,
    /// Bytes of all of them when decompressed.
    pub raw_len: u64,
}
