//! The joined trees of one or more files as a table: the columns of their plan, which know where the baskets of all files are and how
//! their entries become those of the column.

use std::sync::Arc;

use dataset::codecs::Codecs;
use dataset::decode::ColumnPlan;
use dataset::table::piece::Piece;
use dataset::table::{ColumnPieces, FileRange, Loaded, Runs, StoredTable, TableColumn, TableSchema};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, RangeBytes, Result, Source};

use super::planned_columns::PlannedColumns;
use crate::execute::fetch::read_ahead::place;
use crate::execute::fetch::tree::fetcher::open_basket;
use crate::execute::fetch::tree::learn::learn;
use crate::table::tree::column::Column;

/// Trees of several files, one behind the other.
pub(super) struct TreeTable {
    pub schema: TableSchema,
    pub columns: PlannedColumns,
    /// The descriptions of the classes in the entries.
    pub infos: Arc<StreamerInfos>,
    /// The files of the plan, and which of them may be read to plan columns.
    pub files: Vec<Arc<dyn Source>>,
    pub may_learn: Vec<bool>,
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
        // They are planned by their own numbers.
        let of_friend = |column: &TableColumn| match column {
            TableColumn::Branch(plan) => TableColumn::Branch(plan.of_friend(name, nodes)),
            other => other.clone(),
        };
        self.columns = PlannedColumns::made(self.columns().iter().map(of_friend).collect());
        self.nodes_before += nodes;
        self.sources.iter_mut().for_each(|column| column.join(nodes, files));
    }

    /// Plans the column of a branch, from its first baskets where the metadata do not say all.
    fn plan(&self, branch: usize) -> Option<TableColumn> {
        let tree = self.schema.tree()?;
        let plan = ColumnPlan::new(tree, branch, &self.infos);
        let may_learn = |file: u32| self.may_learn.get(file as usize).copied().unwrap_or(false);
        let is_near = |column: &&Column| column.source.pieces.iter().filter_map(Piece::file_read).all(may_learn);
        let source = self.source(branch).filter(|column| plan.needs_learning() && is_near(column));
        Some(TableColumn::Branch(learn(plan, tree, &self.infos, &self.files, source)))
    }

    /// The source of a branch.
    pub fn source(&self, branch: usize) -> Option<&Column> {
        self.sources.get((*self.places.get(branch)?)?)
    }

    fn source_of(&self, column: usize) -> Result<&Column> {
        let branch = self.node_of(column).and_then(|node| node.checked_sub(self.nodes_before));
        branch.and_then(|branch| self.source(branch)).ok_or_else(|| Error::request("a column without pieces"))
    }
}

impl StoredTable for TreeTable {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        self.columns.all(|branch| self.plan(branch))
    }

    fn column(&self, column: usize) -> Option<&TableColumn> {
        self.columns.get(column, |branch| self.plan(branch))
    }

    fn number_of_columns(&self) -> usize {
        self.columns.nodes().len()
    }

    fn number_planned(&self) -> usize {
        self.columns.number_planned()
    }

    fn node_of(&self, column: usize) -> Option<usize> {
        self.columns.nodes().get(column).copied()
    }

    fn column_of(&self, node: usize) -> Option<usize> {
        self.columns.nodes().binary_search(&node).ok()
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
