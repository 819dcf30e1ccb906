//! Data sets: the tables of one or more files as one table, and friends beside them. The module `open` opens them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use dataset::layout::Container;
use dataset::table::piece::Piece;
use dataset::table::{FileRange, Loaded, StoredTable, TableColumn, TableSchema, ValueBuilder};
use dataset::tree::Tree;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, Follow, Holder, Result, Source, Traffic};

use super::remembered::Remembered;
use super::request::RequestedEntries;
use super::trees::TreeTable;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::plan::inputs::Input;
use crate::plan::tree::attached::AliasConflicts;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// Where the entries of the columns are.
pub(super) enum Sources {
    /// In trees, whose columns a plan has joined.
    Trees(Box<TreeTable>),
    /// In a table of any container. Its columns are made when they are first needed: most requests need few of them.
    Stored { table: Box<dyn StoredTable>, columns: Vec<OnceLock<Column>>, parts: Vec<OnceLock<Vec<Column>>> },
}

impl Sources {
    /// Those of a table.
    pub fn of(table: Box<dyn StoredTable>) -> Self {
        let columns = (0..table.number_of_columns()).map(|_| OnceLock::new()).collect();
        let parts = (0..table.number_of_columns()).map(|_| OnceLock::new()).collect();
        Self::Stored { columns, parts, table }
    }

    pub fn table(&self) -> &dyn StoredTable {
        match self {
            Self::Trees(trees) => &**trees,
            Self::Stored { table, .. } => &**table,
        }
    }

    /// Bytes of the pieces of the columns that were asked for. A plan of trees counts those of all.
    fn pieces_memory(&self) -> u64 {
        let Self::Stored { columns, parts, .. } = self else { return 0 };
        let parts = parts.iter().filter_map(OnceLock::get).flatten();
        let asked = columns.iter().filter_map(OnceLock::get).chain(parts);
        let pieces: usize = asked.map(|column| column.source.pieces.len()).sum();
        (pieces * size_of::<Piece>()) as u64
    }
}

/// A column that is read: its pieces, and the table that opens them, where it has a number and a plan.
#[derive(Clone, Copy)]
pub(super) struct ReadColumn<'a> {
    pub column: &'a Column,
    pub table: &'a dyn StoredTable,
    pub number: usize,
    pub plan: &'a TableColumn,
}

impl ReadColumn<'_> {
    /// Where the bytes of the requested entries of a piece are. What cannot be located fails when it is read.
    pub fn ranges(&self, piece: &Piece, requested: &RequestedEntries<'_>) -> Vec<FileRange> {
        let mut runs = requested.runs(&(piece.first_entry..piece.end()));
        self.table.ranges(self.number, piece, &mut runs).unwrap_or_default()
    }

    /// Opens the requested entries of a piece.
    pub fn open(
        &self,
        piece: &Piece,
        requested: &RequestedEntries<'_>,
        files: &Files,
        fetcher: &mut Fetcher,
    ) -> Result<Loaded> {
        let mut runs = requested.runs(&(piece.first_entry..piece.end()));
        let (mut bytes, codecs) = fetcher.over(files);
        self.table.open(self.number, piece, &mut runs, &mut bytes, codecs)
    }

    /// Appends the requested entries of a piece to the values of the column.
    pub fn append(
        &self,
        piece: &Piece,
        requested: &RequestedEntries<'_>,
        files: &Files,
        fetcher: &mut Fetcher,
        values: &mut ValueBuilder,
    ) -> Result<()> {
        let mut runs = requested.runs(&(piece.first_entry..piece.end()));
        let (mut bytes, codecs) = fetcher.over(files);
        self.table.append(self.number, piece, &mut runs, &mut bytes, codecs, values)
    }

    /// The first of some pieces, with those behind it that are read with it in one go, about `most` bytes of them, and their number. None
    /// for pieces that are opened one by one: their entries are decoded when all before them are.
    pub fn in_one_go(&self, pieces: &[Piece], most: u64) -> Option<(Piece, usize)> {
        let (TableColumn::Field(plan), Some((first, rest))) = (self.plan, pieces.split_first()) else { return None };
        let (mut all, mut count) = (*first, 1);
        let mut bytes = self.column.unpacked(first);
        // What takes memory beside the values is as large as planned for a piece.
        for next in rest.iter().take_while(|_| plan.is_straight()) {
            bytes = bytes.saturating_add(self.column.unpacked(next));
            if bytes > most {
                break;
            }
            let Some(both) = all.with(next) else { break };
            (all, count) = (both, count + 1);
        }
        (!first.is_default()).then_some((all, count))
    }
}

/// The tables of one or more files, as one table.
pub struct Dataset {
    pub(super) inputs: Vec<Input>,
    pub(super) paths: Vec<PathBuf>,
    pub(super) path: String,
    /// The UUIDs of the files.
    pub(super) uuids: Vec<String>,
    /// Aliases that not all of its files have alike.
    pub(super) alias_conflicts: AliasConflicts,
    /// What became of trees that differ when they were joined.
    pub(super) joining_notes: Vec<String>,
    /// The descriptions of the classes in the entries of trees.
    pub(super) infos: Arc<StreamerInfos>,
    pub(super) sources: Sources,
    pub(super) files: Vec<Arc<dyn Source>>,
    /// Entries of each file.
    pub(super) input_entries: Vec<u64>,
    /// First entry of each cluster, and at the end the number of entries.
    pub(super) bounds: Vec<u64>,
    /// Memory of metadata while entries are read, in bytes.
    pub(super) metadata: u64,
    /// Its files, as those in which friends are named.
    pub(super) holders: Vec<Holder>,
    /// Friends that the user gave, by name, until friends are opened.
    pub(super) given: Mutex<Vec<(String, Self)>>,
    /// All friends, once they are opened.
    pub(super) friends: OnceLock<Friends>,
    /// What is known of values that were read.
    pub(super) remembered: Remembered,
}

impl Dataset {
    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The UUIDs of the files, as their headers have them; empty for files without one.
    pub fn uuids(&self) -> &[String] {
        &self.uuids
    }

    /// Replaces the files by other sources, including those of open friends: slower sources, or sources that count reads.
    /// Metadata are not read again.
    pub fn map_files(&mut self, other: impl Fn(Arc<dyn Source>) -> Arc<dyn Source>) {
        let friends = self.friends.get_mut().map(|friends| &mut friends.files);
        for file in self.files.iter_mut().chain(friends.into_iter().flatten()) {
            *file = other(Arc::clone(file));
        }
    }

    /// What its files have asked other machines for so far, if any is on another one.
    pub fn traffic(&self) -> Option<Traffic> {
        let mut all: Option<Traffic> = None;
        for traffic in self.files().iter().filter_map(|file| file.traffic()) {
            *all.get_or_insert_default() += traffic;
        }
        all
    }

    /// Path of the table in the first file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Name and title of the table; an RNTuple calls its title a description.
    pub fn names(&self) -> (&str, &str) {
        self.schema().names()
    }

    /// The schema of the first file.
    pub fn schema(&self) -> &TableSchema {
        self.sources.table().schema()
    }

    /// Its columns. Those of an RNTuple are all its fields, by their IDs. This plans all; [`column`](Self::column) plans one.
    pub fn columns(&self) -> &[TableColumn] {
        self.sources.table().columns()
    }

    /// The number of its columns.
    pub fn number_of_columns(&self) -> usize {
        self.sources.table().number_of_columns()
    }

    /// The number of columns that have a plan. A column gets one when it is first asked for.
    pub fn number_planned(&self) -> usize {
        self.sources.table().number_planned()
    }

    /// The descriptions of the classes in the entries of trees.
    pub(crate) fn infos(&self) -> &StreamerInfos {
        &self.infos
    }

    /// The columns that have all values once: all columns of a tree, the fields at the top of an RNTuple.
    pub fn default_columns(&self) -> Vec<usize> {
        let is_default = |column: &usize| self.node_of(*column).is_some_and(|node| self.schema().is_default(node));
        (0..self.number_of_columns()).filter(is_default).collect()
    }

    /// The default columns without projected fields, whose values are those of other columns: what a full read has to decompress.
    pub fn stored_columns(&self) -> Vec<usize> {
        let is_stored = |column: &usize| self.node_of(*column).is_some_and(|node| !self.schema().is_projected(node));
        self.default_columns().into_iter().filter(is_stored).collect()
    }

    /// The column of a number: first its own columns, then those of friends.
    pub fn column(&self, column: usize) -> Option<&TableColumn> {
        // Behind its own columns a table may number parts of them.
        let own = (column < self.number_of_columns()).then(|| self.sources.table().column(column));
        own.unwrap_or_else(|| self.friends.get()?.column(column))
    }

    /// The node of one of its own columns.
    fn node_of(&self, column: usize) -> Option<usize> {
        self.sources.table().node_of(column)
    }

    /// What an alias is in the files, if it is not the same in all.
    pub fn alias_conflict(&self, name: &str) -> Option<&str> {
        self.alias_conflicts.get(name).map(String::as_str)
    }

    /// The tree of the first file, if the table is a tree.
    pub fn tree(&self) -> Option<&Tree> {
        self.schema().tree()
    }

    /// Whether the table is a tree or an RNTuple. None if it is neither: its columns are arrays, of another container or in memory.
    pub fn container(&self) -> Option<Container> {
        match self.schema() {
            TableSchema::Tree(_) => Some(Container::Ttree),
            TableSchema::Ntuple { .. } => Some(Container::Rntuple),
            TableSchema::Plain { .. } => None,
        }
    }

    /// For each node of the [schema](Self::schema) the number of its column, if it has one.
    pub fn column_of_each_node(&self) -> Vec<Option<usize>> {
        column_of_each(&(0..self.schema().len()), self, 0)
    }

    /// Entries of all files.
    pub fn entries(&self) -> u64 {
        self.input_entries.iter().sum()
    }

    /// First entry of each cluster, and at the end the number of entries.
    pub fn clusters(&self) -> &[u64] {
        &self.bounds
    }

    /// Bytes of a column before compression, by the metadata.
    pub fn bytes(&self, column: usize) -> u64 {
        self.source(column).map_or(0, |source| source.source.tot_bytes)
    }

    /// Average bytes of a column in an entry, at least 1.
    pub(crate) fn bytes_per_entry(&self, column: usize) -> u64 {
        self.bytes(column).div_ceil(self.entries().max(1)).max(1)
    }

    /// Bytes of some columns before compression, by the metadata: a file may claim any number.
    pub fn bytes_of(&self, columns: &[usize]) -> u64 {
        columns.iter().fold(0, |sum, column| sum.saturating_add(self.bytes(*column)))
    }

    /// Bytes on disk of a column's pieces with some of these entries, and their number.
    pub fn stored(&self, column: usize, entries: &Range<u64>) -> (u64, u64) {
        let Some(source) = self.source(column) else { return (0, 0) };
        let pieces = source.source.pieces_with(entries);
        (pieces.iter().map(|p| u64::from(p.packed_len())).sum(), pieces.len() as u64)
    }

    /// The same for their share of the pieces.
    pub(crate) fn share(&self, column: usize, entries: &Range<u64>) -> f64 {
        self.source(column).map_or(0.0, |source| source.source.share(source.source.overlapping(entries), entries))
    }

    /// The reason why a column cannot be read, if its baskets are in an absent file. Other columns can be read.
    pub fn absent(&self, column: usize) -> Option<String> {
        self.tree()?;
        let source = self.source(column)?;
        let files: BTreeSet<u32> = source.source.pieces.iter().filter_map(Piece::file_read).collect();
        let file =
            files.into_iter().filter_map(|file| self.files().get(file as usize)).find(|file| file.size() == 0)?;
        file.read_exact_at(0, &mut []).err().map(|e| e.to_string())
    }

    /// What the user is told when these columns are read: files outside of the folders of those that name them. This may open
    /// them.
    pub fn remarks(&self, columns: &[usize]) -> Vec<String> {
        let friends = self.friends.get().into_iter().flat_map(|friends| &friends.list);
        let friends = friends.filter(|friend| columns.iter().any(|column| friend.columns.contains(column)));
        let mut found: Vec<String> = friends.flat_map(|friend| friend.remarks.iter().cloned()).collect();
        if self.tree().is_some() {
            let pieces =
                columns.iter().filter_map(|&column| self.source(column)).flat_map(|column| &column.source.pieces);
            let files: BTreeSet<u32> = pieces.filter_map(Piece::file_read).collect();
            found.extend(files.into_iter().filter_map(|file| self.files().get(file as usize)?.remark()));
        }
        found.dedup();
        found
    }

    /// How far addresses in its files are followed.
    pub(super) fn follow(&self) -> Follow {
        self.holders.first().map_or_else(Follow::default, Holder::follow)
    }

    /// Whether a column has all entries of the data set.
    pub(crate) fn is_complete(&self, column: usize) -> bool {
        self.source(column).is_some_and(|source| source.source.covers(&(0..self.entries())))
    }

    /// What became of trees that differ when they were joined.
    pub(crate) fn joining_notes(&self) -> &[String] {
        &self.joining_notes
    }

    /// The files, with the table in each where one was named.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Entries of each file.
    pub fn entries_by_file(&self) -> &[u64] {
        &self.input_entries
    }

    pub(crate) fn files(&self) -> &[Arc<dyn Source>] {
        self.friends.get().map_or(&self.files, |friends| &friends.files)
    }

    /// Memory of its metadata, of the pieces of all columns that were asked for so far, and of what is remembered.
    pub(crate) fn metadata(&self) -> u64 {
        let of_tables = self.friends.get().map_or(self.metadata, |friends| friends.metadata);
        of_tables.saturating_add(self.sources.pieces_memory()).saturating_add(self.remembered.memory())
    }

    /// Makes it a friend of that name, whose nodes and files are numbered behind `nodes` and `files` others.
    pub(crate) fn join(&mut self, name: &str, nodes: usize, files: u32) {
        if let Sources::Trees(trees) = &mut self.sources {
            trees.join(name, nodes, files);
        }
    }

    /// The data set or friend of a node, and the node's index there.
    fn owner(&self, node: usize) -> Option<(&Self, usize)> {
        if node < self.schema().len() {
            return Some((self, node));
        }
        let friend = self.friends.get()?.list.iter().find(|friend| friend.nodes.contains(&node))?;
        Some((friend.dataset()?, node - friend.nodes.start))
    }

    /// The source of a column.
    pub(crate) fn source(&self, column: usize) -> Option<&Column> {
        Some(self.read_column(self.column(column)?.node())?.column)
    }

    /// The column of a node, with the table that opens its pieces.
    pub(super) fn read_column(&self, node: usize) -> Option<ReadColumn<'_>> {
        let (dataset, own) = self.owner(node)?;
        // Columns are in the order of their nodes.
        let table = dataset.sources.table();
        let number = table.column_of(node)?;
        let column = match &dataset.sources {
            Sources::Trees(trees) => trees.source(own)?,
            Sources::Stored { columns, .. } => columns.get(number)?.get_or_init(|| dataset.stored_column(own, number)),
        };
        Some(ReadColumn { column, table, number, plan: table.column(number)? })
    }

    /// The parts of a node's column, each with some members of its values. None where it is read as a whole.
    pub(super) fn read_parts(&self, node: usize) -> Option<Vec<ReadColumn<'_>>> {
        let (dataset, own) = self.owner(node)?;
        let Sources::Stored { parts, .. } = &dataset.sources else { return None };
        let table = dataset.sources.table();
        let number = table.column_of(node)?;
        let numbers = table.parts(number);
        let columns =
            parts.get(number)?.get_or_init(|| numbers.clone().map(|part| dataset.stored_column(own, part)).collect());
        let part = |(column, number)| Some(ReadColumn { column, table, number, plan: table.column(number)? });
        columns.iter().zip(numbers).map(part).collect::<Option<Vec<_>>>().filter(|parts| !parts.is_empty())
    }

    /// A column of a stored table, or a part of one.
    fn stored_column(&self, node: usize, number: usize) -> Column {
        let name = self.schema().lineage(node).first().copied().unwrap_or_default().to_owned();
        Column::stored(node, (name, self.path.clone()), self.sources.table().pieces(number))
    }
}

/// For each of these nodes the number of its column in a data set, if it has one. Columns are numbered from `first`.
fn column_of_each(nodes: &Range<usize>, dataset: &Dataset, first: usize) -> Vec<Option<usize>> {
    let mut columns = vec![None; nodes.len()];
    for column in 0..dataset.number_of_columns() {
        let slot = dataset.node_of(column).and_then(|node| node.checked_sub(nodes.start));
        if let Some(slot) = slot.and_then(|slot| columns.get_mut(slot)) {
            *slot = Some(first + column);
        }
    }
    columns
}

/// A friend of a data set.
pub struct Friend {
    pub(super) name: String,
    pub(super) dataset: Result<Dataset>,
    pub(super) columns: Range<usize>,
    pub(super) nodes: Range<usize>,
    /// What the user is told when it is read.
    pub(super) remarks: Vec<String>,
}

impl Friend {
    /// The name that precedes its columns, before a dot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its schema, or the error why it cannot be read with the data set.
    ///
    /// # Errors
    ///
    /// The friend's entries or columns do not fit the data set; the error says which.
    pub fn schema(&self) -> Result<&TableSchema> {
        match &self.dataset {
            Ok(dataset) => Ok(dataset.schema()),
            Err(why) => Err(Error::request(why.to_string()).hints_of(why)),
        }
    }

    /// What the user is told when it is read: that it is outside of the folders of the files that name it.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The numbers of its columns.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// For each node of its schema the number of its column, if it has one.
    pub fn column_of_each_node(&self) -> Vec<Option<usize>> {
        let Ok(dataset) = &self.dataset else { return Vec::new() };
        column_of_each(&self.nodes, dataset, self.columns.start)
    }

    pub(crate) fn dataset(&self) -> Option<&Dataset> {
        self.dataset.as_ref().ok()
    }
}

/// All friends of a data set.
pub(crate) struct Friends {
    pub list: Vec<Friend>,
    /// The files of the data set, then those of its friends.
    pub files: Vec<Arc<dyn Source>>,
    pub metadata: u64,
}

impl Friends {
    /// The column of a number.
    pub fn column(&self, column: usize) -> Option<&TableColumn> {
        let friend = self.list.iter().find(|friend| friend.columns.contains(&column))?;
        friend.dataset()?.sources.table().column(column - friend.columns.start)
    }
}
