//! What the metadata of a Parquet file say of its table: row groups, columns with their types and codecs, and sizes. Plain values, for
//! those who describe a file. No column is read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parquet::file::metadata::ColumnChunkMetaData;
use rootfile::{Error, Result, Source};
use serde::{Deserialize, Serialize};

use super::file::{open_files, positive};
use super::table::table_path;

/// The table of a Parquet file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParquetFacts {
    /// Path of the tree of which it was made, else `Events`: that of the tree or RNTuple that a rewrite makes of it.
    pub path: String,
    /// The program that wrote it, if it says so.
    pub created_by: Option<String>,
    /// Version of the format.
    pub format_version: i32,
    /// Entries.
    pub entries: u64,
    /// Bytes of all columns before compression, encoded: repeated values may be stored once.
    pub tot_bytes: u64,
    /// Bytes of all columns in the file.
    pub zip_bytes: u64,
    /// Bytes of the metadata at the end of the file.
    pub metadata_bytes: u64,
    /// Its row groups.
    pub row_groups: Vec<RowGroupFacts>,
    /// Its columns, as they are selected and read.
    pub columns: Vec<ParquetColumnFacts>,
}

/// A row group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowGroupFacts {
    /// Its first entry.
    pub first_entry: u64,
    /// Its entries.
    pub entries: u64,
    /// Bytes before compression, encoded.
    pub tot_bytes: u64,
    /// Bytes in the file.
    pub zip_bytes: u64,
}

/// A column at the top of the schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParquetColumnFacts {
    /// Name.
    pub name: String,
    /// The Arrow type in which it is read.
    pub arrow_type: String,
    /// Whether values may be missing: the schema allows it, and the statistics do not say that none is.
    pub nullable: bool,
    /// Bytes before compression, encoded.
    pub tot_bytes: u64,
    /// Bytes in the file.
    pub zip_bytes: u64,
    /// What is stored for it: itself, or the innermost members of its lists and records.
    pub leaves: Vec<ParquetLeafFacts>,
}

/// A stored column, which Parquet calls a leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParquetLeafFacts {
    /// Its path in the schema, with dots.
    pub path: String,
    /// The type in which it is stored, as Parquet calls it: `DOUBLE`.
    pub physical_type: String,
    /// Stored values and missing ones, in all row groups.
    pub values: u64,
    /// Bytes before compression, encoded.
    pub tot_bytes: u64,
    /// Bytes in the file.
    pub zip_bytes: u64,
    /// Row groups by codec, as Parquet calls it: `SNAPPY`.
    pub codecs: BTreeMap<String, u64>,
    /// Its encodings, as Parquet calls them, in any row group.
    pub encodings: BTreeSet<String>,
}

impl ParquetFacts {
    /// Reads and checks the metadata of a file.
    ///
    /// # Errors
    ///
    /// It cannot be read, is damaged or cut short, or is encrypted.
    pub fn of(source: &Arc<dyn Source>) -> Result<Self> {
        let opened = open_files(std::slice::from_ref(source), u64::MAX)?;
        let Some(file) = opened.first() else { return Ok(Self::default()) };
        let mut facts = Self {
            path: table_path(file).to_owned(),
            created_by: file.facts().created_by().map(str::to_owned),
            format_version: file.facts().version(),
            metadata_bytes: file.metadata_len,
            ..Self::default()
        };
        let many = || Error::corrupt("has more entries than can be counted").file(source.name());
        for (number, entries) in file.rows().enumerate() {
            let mut group = RowGroupFacts { first_entry: facts.entries, entries, ..RowGroupFacts::default() };
            for chunk in (0..file.schema().fields().len()).flat_map(|column| file.chunks(number, column)) {
                add(&mut group.tot_bytes, chunk.uncompressed_size());
                add(&mut group.zip_bytes, chunk.compressed_size());
            }
            facts.entries = facts.entries.checked_add(entries).ok_or_else(many)?;
            facts.row_groups.push(group);
        }
        for (number, field) in file.schema().fields().iter().enumerate() {
            let mut column = ParquetColumnFacts {
                name: field.name().clone(),
                arrow_type: field.data_type().to_string(),
                nullable: field.is_nullable() && !file.is_complete(number),
                leaves: file.leaves(number).map(ParquetLeafFacts::of).collect(),
                ..ParquetColumnFacts::default()
            };
            for group in 0..facts.row_groups.len() {
                for (leaf, chunk) in column.leaves.iter_mut().zip(file.chunks(group, number)) {
                    leaf.take(chunk);
                }
            }
            column.tot_bytes = column.leaves.iter().map(|leaf| leaf.tot_bytes).fold(0, u64::saturating_add);
            column.zip_bytes = column.leaves.iter().map(|leaf| leaf.zip_bytes).fold(0, u64::saturating_add);
            facts.columns.push(column);
        }
        facts.tot_bytes = facts.columns.iter().map(|column| column.tot_bytes).fold(0, u64::saturating_add);
        facts.zip_bytes = facts.columns.iter().map(|column| column.zip_bytes).fold(0, u64::saturating_add);
        Ok(facts)
    }
}

impl ParquetLeafFacts {
    /// A leaf of the schema, of which no row group is counted yet.
    fn of(leaf: &parquet::schema::types::ColumnDescriptor) -> Self {
        Self { path: leaf.path().string(), physical_type: leaf.physical_type().to_string(), ..Self::default() }
    }

    /// Counts it in a row group.
    fn take(&mut self, chunk: &ColumnChunkMetaData) {
        add(&mut self.values, chunk.num_values());
        add(&mut self.tot_bytes, chunk.uncompressed_size());
        add(&mut self.zip_bytes, chunk.compressed_size());
        *self.codecs.entry(chunk.compression_codec().to_string()).or_default() += 1;
        self.encodings.extend(chunk.encodings().map(|encoding| encoding.to_string()));
    }
}

/// Adds a number of the metadata, none of which is negative in a file that opens.
fn add(sum: &mut u64, number: i64) {
    *sum = sum.saturating_add(positive(number));
}
