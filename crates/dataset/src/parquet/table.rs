//! Parquet files, one behind the other, as a table. Which columns it has where those of the files differ is told by `columns`; how a
//! file is read by `file`.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::FieldRef;
use bytes::Bytes;
use rootfile::{Error, RangeBytes, Result, Source};

use super::columns::Columns;
use super::file::{ParquetFile, open_files};
use super::statistics::stated;
use crate::codecs::Codecs;
use crate::recast::reordered;
use crate::table::piece::{Piece, Stored};
use crate::table::{ColumnPieces, FileRange, Join, Loaded, Node, Runs, Stated, StoredTable, TableColumn, TableSchema};

/// The key of a Parquet file's metadata that holds the path of the tree of which it was made.
pub const TREE_KEY: &str = "root.tree";
/// The name of a table that has none.
const NAMELESS: &str = "Events";
/// Approximate memory of a column, and of a piece of it, in bytes.
const COLUMN: u64 = 500;
const PIECE: u64 = 40;

/// Parquet files, one behind the other.
pub struct ParquetTable {
    files: Vec<FileTable>,
    schema: TableSchema,
    columns: Vec<TableColumn>,
    left_out: Vec<String>,
}

/// One file of the table.
struct FileTable {
    file: ParquetFile,
    /// The columns of the table, by their places in the file. None in a file without entries.
    places: Vec<usize>,
    /// The first entry of each row group, counted over all files, and the entry behind the last.
    bounds: Vec<u64>,
}

impl ParquetTable {
    /// Opens files with the columns that `keeps` names, given the path of the table and the name of a column. `join` says what becomes
    /// of columns that not all files have. A file without entries has no say in that, unless none has any. Of `memory` bytes the
    /// metadata of all files take a part.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is damaged; if the files have other columns, unless these are left out; if one of several has a column
    /// twice; if the metadata need more memory; or if there is no file.
    pub fn open(
        sources: &[Arc<dyn Source>],
        keeps: &dyn Fn(&str, &str) -> bool,
        join: Join,
        memory: u64,
    ) -> Result<Self> {
        let opened = open_files(sources, memory)?;
        let Some(first) = opened.first() else { return Err(Error::request("no input")) };
        let name = table_path(first).to_owned();
        let Columns { mut fields, places, left_out } =
            Columns::of(sources, &opened, &|column| keeps(&name, column), join)?;
        let mut files: Vec<FileTable> = Vec::with_capacity(sources.len());
        let mut first_entry = 0u64;
        for ((file, places), source) in opened.into_iter().zip(places).zip(sources) {
            // Most writers say of all columns that values may be missing.
            for (field, place) in fields.iter_mut().zip(&places) {
                let may_miss = file.schema().fields().get(*place).is_some_and(|field| field.is_nullable());
                field.set_nullable(field.is_nullable() || (may_miss && !file.is_complete(*place)));
            }
            let mut bounds = vec![first_entry];
            for rows in file.rows() {
                first_entry = first_entry
                    .checked_add(rows)
                    .ok_or_else(|| Error::corrupt("has more entries than can be counted").file(source.name()))?;
                bounds.push(first_entry);
            }
            files.push(FileTable { file, places, bounds });
        }
        let fields: Vec<FieldRef> = fields.into_iter().map(Arc::new).collect();
        let node = |field: &FieldRef| Node {
            name: field.name().clone(),
            title: String::new(),
            parent: None,
            type_name: field.metadata().get("typename").cloned().unwrap_or_default(),
            groups: false,
        };
        let schema = TableSchema::Plain { name, title: String::new(), nodes: fields.iter().map(node).collect() };
        let columns = fields.into_iter().enumerate().map(|(node, field)| TableColumn::Array { field, node }).collect();
        Ok(Self { files, schema, columns, left_out })
    }

    /// The columns that are left out because not all files have them alike, in the order of the files.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// The value of a key in the metadata of the first file.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.files.first()?.file.value(key)
    }

    /// Entries of each file.
    pub fn entries(&self) -> Vec<u64> {
        self.files.iter().map(FileTable::entries).collect()
    }

    /// The file, the row group and the entries of a piece, and the place of its column there.
    fn place(&self, column: usize, piece: &Piece) -> Result<(u32, &FileTable, usize, usize)> {
        let unknown = || Error::request("no such piece");
        let Stored::Pages { file: number, cluster, .. } = piece.stored else { return Err(unknown()) };
        let file = self.files.get(number as usize).ok_or_else(unknown)?;
        let place = file.places.get(column).ok_or_else(unknown)?;
        Ok((number, file, cluster as usize, *place))
    }
}

impl FileTable {
    fn entries(&self) -> u64 {
        self.bounds.last().zip(self.bounds.first()).map_or(0, |(end, start)| end - start)
    }

    /// The row groups that have entries, with these.
    fn groups(&self) -> impl Iterator<Item = (usize, Range<u64>)> {
        let all = self.bounds.windows(2).enumerate();
        all.filter_map(|(group, bounds)| {
            let [start, end] = bounds else { return None };
            (start < end).then_some((group, *start..*end))
        })
    }
}

/// The path of a file's table: that of the tree of which it was made.
pub(super) fn table_path(file: &ParquetFile) -> &str {
    file.value(TREE_KEY).filter(|tree| !tree.is_empty()).unwrap_or(NAMELESS)
}

impl StoredTable for ParquetTable {
    fn schema(&self) -> &TableSchema {
        &self.schema
    }

    fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    fn clusters(&self) -> Vec<u64> {
        let starts = self.files.iter().flat_map(|file| file.groups().map(|(_, entries)| entries.start));
        starts.chain([self.entries().into_iter().sum()]).collect()
    }

    fn memory(&self) -> u64 {
        let of =
            |file: &FileTable| file.file.held.saturating_add(PIECE * (file.bounds.len() * file.places.len()) as u64);
        self.files.iter().map(of).fold(COLUMN * self.columns.len() as u64, u64::saturating_add)
    }

    fn pieces(&self, column: usize) -> ColumnPieces {
        let mut found = ColumnPieces::default();
        for (number, file) in (0u32..).zip(&self.files) {
            let Some(place) = file.places.get(column) else { continue };
            for (group, entries) in file.groups() {
                let sizes = file.file.sizes(group, *place);
                found.packed_len = found.packed_len.saturating_add(sizes.packed);
                found.raw_len = found.raw_len.saturating_add(sizes.unpacked);
                let (cluster, len) = (u32::try_from(group), u32::try_from(sizes.packed).unwrap_or(u32::MAX));
                let stored = Stored::Pages { file: number, cluster: cluster.unwrap_or(u32::MAX), len };
                found.pieces.push(Piece { first_entry: entries.start, entries: entries.end - entries.start, stored });
            }
        }
        found
    }

    fn stated(&self, column: usize, piece: &Piece) -> Option<Stated> {
        let (_, file, group, place) = self.place(column, piece).ok()?;
        let mut chunks = file.file.chunks(group, place);
        // Records have a chunk for each member.
        chunks.next().filter(|_| chunks.next().is_none()).and_then(stated)
    }

    fn ranges(&self, column: usize, piece: &Piece, _entries: &mut Runs<'_>) -> Result<Vec<FileRange>> {
        let (number, file, group, place) = self.place(column, piece)?;
        Ok(file.file.ranges(group, place).map(|range| (number, range)).collect())
    }

    fn open(
        &self,
        column: usize,
        piece: &Piece,
        entries: &mut Runs<'_>,
        bytes: &mut dyn RangeBytes,
        codecs: &mut Codecs,
    ) -> Result<Loaded> {
        let (number, file, group, place) = self.place(column, piece)?;
        let field = self.columns.get(column).ok_or_else(|| Error::request("no such piece"))?.field();
        let first = piece.first_entry;
        let local = |entry: u64| usize::try_from(entry.saturating_sub(first)).unwrap_or(usize::MAX);
        let entries: Vec<Range<usize>> = entries.map(|run| local(run.start)..local(run.end)).collect();
        let ranges = file.file.ranges(group, place);
        let chunks = ranges.map(|range| Ok((range.start, Bytes::from(bytes.read(number, range)?))));
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        codecs.cost.blocks += chunks.len() as u64;
        codecs.cost.compressed += chunks.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        let decoded = file.file.decode((group, local(piece.end())), place, &entries, chunks);
        // Writers name the items of a list "item", "element" or "array".
        let array = decoded.and_then(|array| reordered(&array, field.data_type()));
        let array = array.map_err(|e| e.object(format!("column {}", field.name())).file(bytes.name(number)))?;
        codecs.cost.uncompressed += array.get_array_memory_size() as u64;
        Ok(Loaded::Array(array))
    }
}
