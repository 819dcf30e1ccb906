//! Parquet files, one behind the other, as a table. All files must have the columns that are read of the first one, with the same types.
//! Their order may differ. What a later file has beside them is in no column of the table.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{Field, FieldRef};
use bytes::Bytes;
use rootfile::{Error, Hint, RangeBytes, Result, Source};

use super::file::ParquetFile;
use crate::codecs::Codecs;
use crate::recast::reordered;
use crate::table::piece::{Piece, Stored};
use crate::table::{ColumnPieces, FileRange, Loaded, Node, Runs, StoredTable, TableColumn, TableSchema};

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
}

/// One file of the table.
struct FileTable {
    file: ParquetFile,
    /// The columns of the table, by their places in the file.
    places: Vec<usize>,
    /// The first entry of each row group, counted over all files, and the entry behind the last.
    bounds: Vec<u64>,
}

impl ParquetTable {
    /// Opens files with the columns that `keeps` names. Their metadata may take `most` bytes of memory together.
    ///
    /// # Errors
    ///
    /// If a file cannot be read or is damaged, if it lacks a column of the first file, or has it twice or with another type, or if there
    /// is no file.
    pub fn open(sources: &[Arc<dyn Source>], keeps: &dyn Fn(&str) -> bool, most: u64) -> Result<Self> {
        let mut left = most;
        let mut files: Vec<FileTable> = Vec::with_capacity(sources.len());
        let mut fields: Vec<Field> = Vec::new();
        let mut name = NAMELESS.to_owned();
        let mut first_entry = 0u64;
        for source in sources {
            let file = ParquetFile::open(source, left)?;
            left = left.saturating_sub(file.held);
            let places: Vec<usize> = if files.is_empty() {
                table_path(&file).clone_into(&mut name);
                let kept = file.schema().fields().iter().enumerate().filter(|(_, field)| keeps(field.name()));
                let places;
                (places, fields) = kept.map(|(place, field)| (place, Field::clone(field).with_nullable(false))).unzip();
                places
            } else {
                let places = fields.iter().map(|field| place(&file, field).map_err(|e| e.file(source.name())));
                places.collect::<Result<_>>()?
            };
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
        if files.is_empty() {
            return Err(Error::request("no input"));
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
        Ok(Self { files, schema, columns })
    }

    /// A file that has columns which the first one lacks, by its number, and the first of these columns.
    pub fn further_column(&self) -> Option<(usize, &str)> {
        let is_known = |name: &str| self.columns.iter().any(|column| column.field().name() == name);
        self.files.iter().enumerate().find_map(|(number, file)| {
            let mut names = file.file.schema().fields().iter().map(|field| field.name().as_str());
            Some((number, names.find(|name| !is_known(name))?))
        })
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

/// Where a file has a column of the first file.
fn place(file: &ParquetFile, field: &Field) -> Result<usize> {
    let named = |e: Error| e.object(format!("column {}", field.name()));
    let mut found = file.schema().fields().iter().enumerate().filter(|(_, other)| other.name() == field.name());
    let (place, other) = found.next().ok_or_else(|| named(Error::differs("is in the first file, but not here")))?;
    if found.next().is_some() {
        return Err(named(Error::request("appears twice; leave it out with --drop").hint(Hint::named("drop"))));
    }
    match other.data_type().equals_datatype(field.data_type()) {
        true => Ok(place),
        false => {
            let what = format!("is {}, where the first file has {}", other.data_type(), field.data_type());
            Err(named(Error::differs(what)))
        }
    }
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
