//! The joined trees of one or more files as a table: the columns of their plan, which know where the baskets of all files are and how
//! their entries become those of the column.

use dataset::codecs::Codecs;
use dataset::table::piece::Piece;
use dataset::table::{ColumnPieces, FileRange, Loaded, Runs, StoredTable, TableColumn, TableSchema};
use rootfile::{Error, RangeBytes, Result};

use crate::execute::fetch::read_ahead::place;
use crate::execute::fetch::tree::fetcher::open_basket;
use crate::table::tree::column::Column;

/// Trees of several files, one behind the other.
pub(super) struct TreeTable {
    pub schema: TableSchema,
    pub columns: Vec<TableColumn>,
    /// The columns of the plan, and for each branch the index of its column.
    pub sources: Vec<Column>,
    pub places: Vec<Option<usize>>,
    /// First entry of each cluster, and at the end the number of entries.
    pub bounds: Vec<u64>,
    pub memory: u64,
    /// Nodes before its own, if it is a friend.
    pub nodes_before: usize,
}

impl TreeTable {
    /// Makes it a friend of that name, whose nodes and files are numbered behind `nodes` and `files` others.
    pub fn join(&mut self, name: &str, nodes: usize, files: u32) {
        self.nodes_before += nodes;
        self.sources.iter_mut().for_each(|column| column.join(nodes, files));
        for column in &mut self.columns {
            if let TableColumn::Branch(plan) = column {
                *plan = plan.of_friend(name, nodes);
            }
        }
    }

    /// The source of a branch.
    pub fn source(&self, branch: usize) -> Option<&Column> {
        self.sources.get((*self.places.get(branch)?)?)
    }

    fn source_of(&self, column: usize) -> Result<&Column> {
        let branch = self.columns.get(column).and_then(|column| column.node().checked_sub(self.nodes_before));
        branch.and_then(|branch| self.source(branch)).ok_or_else(|| Error::request("a column without pieces"))
    }
}

impl StoredTable for TreeTable {
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
        self.memory
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let Ok(column) = self.source_of(column) else { return ColumnPieces::default() };
        let pieces = column.source.pieces.clone();
        let packed_len = pieces.iter().map(|piece| u64::from(piece.packed_len())).sum();
        ColumnPieces { pieces, packed_len, raw_len: column.source.tot_bytes }
    }

    fn ranges(&self, _column: usize, piece: &Piece, _entries: &mut Runs<'_>) -> Result<Vec<FileRange>> {
        Ok(piece.record().iter().map(place).collect())
    }

    fn open(
        &self,
        column: usize,
        piece: &Piece,
        _entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
    ) -> Result<Loaded> {
        let column = self.source_of(column)?;
        let index = column.source.pieces.partition_point(|other| other.first_entry < piece.first_entry);
        let data = open_basket(column, index, bytes, codecs)?;
        codecs.cost.blocks += 1;
        codecs.cost.compressed += u64::from(piece.packed_len());
        codecs.cost.uncompressed += data.data.len() as u64;
        Ok(Loaded::Basket(data))
    }
}
