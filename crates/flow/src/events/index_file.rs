//! The file of an index: Parquet, sorted by the key. Its columns are those of the key in their own types, then `file`, the number of the file
//! in the record, and `entry`, the number of the entry in the table of the file. docs/index-format.md describes it for others.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use dataset::parquet::ParquetTable;
use dataset::table::Join;
use rootfile::{Error, ErrorKind, OutputFile, Result, open_source};

use super::index_record::{ENTRY, FILE, IndexRecord, RECORD, VERSION};
use crate::arrow::read::Dataset;
use crate::execute::budget::Budget;
use crate::keys::key_type::{KeyPart, KeyType};
use crate::keys::{KeyedFile, Row};
use crate::rewrite::parquet::ParquetCodec;
use crate::rewrite::parquet::sink::Sink;

/// Rows of a row group: few enough for small budgets, and for a search that reads a few of them.
const GROUP: usize = 1 << 18;
/// The codec: keys are not worth more.
const CODEC: &str = "zstd:1";

/// An index in the making.
pub(super) struct IndexWriter<'a> {
    sink: Sink,
    of: &'a KeyType,
    rows: Vec<Row>,
    firsts: Vec<String>,
}

impl<'a> IndexWriter<'a> {
    pub fn create(path: &Path, overwrite: bool, of: &'a KeyType, budget: Budget) -> Result<Self> {
        let mut fields: Vec<Field> =
            of.parts().iter().map(|part| Field::new(&part.name, part.data_type.clone(), false)).collect();
        fields.extend([Field::new(FILE, DataType::UInt32, false), Field::new(ENTRY, DataType::UInt64, false)]);
        let schema = Arc::new(Schema::new(fields));
        let file = OutputFile::create(path, overwrite)?;
        let codec: ParquetCodec = CODEC.parse()?;
        let sink = Sink::new(file, &schema, (codec, budget, budget.memory / 8), "")?;
        Ok(Self { sink, of, rows: Vec::new(), firsts: Vec::new() })
    }

    /// Adds rows, which follow those before.
    pub fn add(&mut self, rows: &[Row]) -> Result<()> {
        let mut left = rows;
        while !left.is_empty() {
            let (now, later) = left.split_at(left.len().min(GROUP - self.rows.len()));
            self.rows.extend_from_slice(now);
            left = later;
            if self.rows.len() == GROUP {
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        let Some(first) = self.rows.first() else { return Ok(()) };
        self.firsts.push(format!("{:032x}", first.key()));
        let mut arrays = self.of.unpack(self.rows.iter().map(|row| row.key()));
        let files = self.rows.iter().map(|row| u32::try_from(row.file()).unwrap_or(u32::MAX));
        arrays.push(Arc::new(UInt32Array::from_iter_values(files)));
        arrays.push(Arc::new(UInt64Array::from_iter_values(self.rows.iter().map(|row| row.entry()))));
        self.rows.clear();
        self.sink.write(arrays)
    }

    /// Writes the record, and closes the file. Returns its size.
    pub fn finish(mut self, files: Vec<KeyedFile>) -> Result<u64> {
        self.write()?;
        let key = self.of.parts().iter().map(|part| part.name.clone()).collect();
        let (spans, firsts) = (IndexRecord::spans_of(self.of), self.firsts);
        self.sink.tell(RECORD, IndexRecord { version: VERSION, key, files, spans, firsts }.to_text()?);
        self.sink.finish()
    }
}

/// An index that is read.
pub(super) struct IndexFile {
    pub record: IndexRecord,
    pub dataset: Dataset,
    pub of: KeyType,
    parts: usize,
}

/// Rows of an index as they are stored.
pub(super) struct IndexRows<'a> {
    pub keys: &'a [ArrayRef],
    pub files: &'a [u32],
    pub entries: &'a [u64],
}

impl IndexFile {
    /// Opens an index.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no index.
    pub fn open(path: &Path, budget: Budget) -> Result<Self> {
        Self::opened(path, budget).map_err(|e| if e.path().is_some() { e } else { e.file(path) })
    }

    fn opened(path: &Path, budget: Budget) -> Result<Self> {
        let source = open_source(path)?;
        let table = ParquetTable::open(std::slice::from_ref(&source), &|_, _| true, Join::Strict, budget.memory / 4);
        // What the library says of damage is for its authors.
        let table = table.map_err(|e| match e.kind() {
            ErrorKind::Corrupt(_) => Error::corrupt("is no whole index: its metadata cannot be read; make it anew"),
            _ => e,
        })?;
        let record = table.value(RECORD).ok_or_else(|| {
            Error::request("is a Parquet file, and no index: `basketry index` makes one of files and their keys")
        })?;
        let record = IndexRecord::of(record)?;
        let dataset = Dataset::of_table(Box::new(table), vec![source]);
        let broken = || Error::corrupt("its columns are not those that its record names");
        let columns = dataset.columns();
        let (of_key, others) = columns.split_at_checked(record.key.len()).ok_or_else(broken)?;
        let is = |place: usize, name: &str, of: &DataType| {
            others.get(place).is_some_and(|column| column.field().name() == name && column.field().data_type() == of)
        };
        if others.len() != 2 || !is(0, FILE, &DataType::UInt32) || !is(1, ENTRY, &DataType::UInt64) {
            return Err(broken());
        }
        let part = |(name, column): (&String, &dataset::table::TableColumn)| {
            KeyPart::new(name, column.field().data_type()).filter(|_| column.field().name() == name)
        };
        let parts = record.key.iter().zip(of_key).map(part).collect::<Option<Vec<_>>>().ok_or_else(broken)?;
        if record.spans.len() != parts.len() || record.firsts.len() != dataset.clusters().len().saturating_sub(1) {
            return Err(broken());
        }
        let of = record.key_type(&parts).map_err(|_| broken())?;
        Ok(Self { parts: parts.len(), record, dataset, of })
    }

    /// The columns that are read: all.
    pub fn columns(&self) -> Vec<usize> {
        (0..self.parts + 2).collect()
    }

    /// The arrays of these columns as rows.
    ///
    /// # Errors
    ///
    /// A row names a file or an entry that the record does not have.
    pub fn rows<'r>(&self, arrays: &'r [ArrayRef]) -> Result<IndexRows<'r>> {
        let broken = || Error::corrupt("has an entry that its files do not have");
        let (keys, others) = arrays.split_at_checked(self.parts).ok_or_else(broken)?;
        let [files, entries] = others else { return Err(broken()) };
        if arrays.iter().any(|array| array.null_count() > 0) {
            return Err(broken());
        }
        let files: &[u32] = files.as_primitive_opt::<UInt32Type>().ok_or_else(broken)?.values();
        let entries: &[u64] = entries.as_primitive_opt::<UInt64Type>().ok_or_else(broken)?.values();
        let is_there = |(file, entry): (&u32, &u64)| {
            self.record.files.get(*file as usize).is_some_and(|file| *entry < file.entries)
        };
        match files.iter().zip(entries).all(is_there) {
            true => Ok(IndexRows { keys, files, entries }),
            false => Err(broken()),
        }
    }
}
