//! The Parquet file that is written: row groups whose columns are encoded on all threads, and appended in order.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::{OutputFile, Result};

use super::{ParquetCodec, TREE_KEY, wrong};
use crate::budget::Budget;

/// Entries of a column that are encoded in one go: each value takes several words meanwhile.
const PORTION: usize = 1 << 16;

/// A Parquet file that is written.
pub(super) struct Sink {
    writer: SerializedFileWriter<OutputFile>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// Columns of the file, in its own sense, by column of the schema.
    leaves: Vec<usize>,
    groups: usize,
    /// Threads that encode.
    team: ThreadPool,
}

/// A column of a row group: its field and entries, and what encodes them.
type Column = (FieldRef, ArrayRef, Vec<ArrowColumnWriter>);

impl Sink {
    pub fn new(
        file: OutputFile,
        schema: SchemaRef,
        (codec, budget): (ParquetCodec, Budget),
        tree: &str,
    ) -> Result<Self> {
        let parquet = ArrowSchemaConverter::new().convert(&schema).map_err(wrong)?;
        let mut properties = WriterProperties::builder()
            .set_compression(codec.0)
            .set_created_by(format!("basketry version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![KeyValue::new(TREE_KEY.to_owned(), tree.to_owned())]))
            .build();
        add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
        let mut leaves = vec![0; schema.fields().len()];
        for leaf in 0..parquet.num_columns() {
            if let Some(count) = leaves.get_mut(parquet.get_column_root_idx(leaf)) {
                *count += 1;
            }
        }
        let writer = SerializedFileWriter::new(file, parquet.root_schema_ptr(), Arc::new(properties)).map_err(wrong)?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&schema));
        Ok(Self { writer, factory, schema, leaves, groups: 0, team: budget.team()? })
    }

    /// Writes a row group.
    pub fn write(&mut self, arrays: Vec<ArrayRef>) -> Result<()> {
        let mut writers = self.factory.create_column_writers(self.groups).map_err(wrong)?.into_iter();
        let columns = self.schema.fields().iter().zip(arrays).zip(&self.leaves);
        let columns: Vec<Column> = columns
            .map(|((field, array), &leaves)| (Arc::clone(field), array, writers.by_ref().take(leaves).collect()))
            .collect();
        // The entries of a column are dropped as soon as they are encoded.
        let encode = |(field, array, writers): Column| {
            encode_column(&field, &array, writers).map_err(|e| e.object(format!("column {}", field.name())))
        };
        let encoded: Vec<Result<_>> = self.team.install(|| columns.into_par_iter().map(encode).collect());
        let mut group = self.writer.next_row_group().map_err(wrong)?;
        for chunks in encoded {
            for chunk in chunks? {
                chunk.append_to_row_group(&mut group).map_err(wrong)?;
            }
        }
        group.close().map_err(wrong)?;
        self.groups += 1;
        Ok(())
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Ends the file. Says how many bytes it has.
    pub fn finish(self) -> Result<u64> {
        self.writer.into_inner().map_err(wrong)?.finish()
    }
}

fn encode_column(
    field: &FieldRef,
    array: &ArrayRef,
    mut writers: Vec<ArrowColumnWriter>,
) -> Result<Vec<ArrowColumnChunk>> {
    for start in (0..array.len()).step_by(PORTION) {
        let portion = array.slice(start, PORTION.min(array.len() - start));
        for (leaf, writer) in compute_leaves(field, &portion).map_err(wrong)?.iter().zip(&mut writers) {
            writer.write(leaf).map_err(wrong)?;
        }
    }
    writers.into_iter().map(|writer| writer.close().map_err(wrong)).collect()
}
