//! The Parquet file that is written: row groups whose columns are encoded on all threads, and appended in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow_array::{Array, ArrayRef};
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rootfile::{Error, OutputFile, Result};

use super::{ParquetCodec, TREE_KEY, lock, wrong};

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
}

/// A column of a row group: its field and entries, and what encodes them.
type Column = (FieldRef, ArrayRef, Vec<ArrowColumnWriter>);

impl Sink {
    pub fn new(file: OutputFile, schema: SchemaRef, codec: ParquetCodec, tree: &str) -> Result<Self> {
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
        Ok(Self { writer, factory, schema, leaves, groups: 0 })
    }

    /// Writes a row group.
    pub fn write(&mut self, arrays: Vec<ArrayRef>, threads: usize) -> Result<()> {
        let mut writers = self.factory.create_column_writers(self.groups).map_err(wrong)?.into_iter();
        let columns = self.schema.fields().iter().zip(arrays).zip(&self.leaves);
        let columns: Vec<Mutex<Option<Column>>> = columns
            .map(|((field, array), &leaves)| {
                let writers = writers.by_ref().take(leaves).collect();
                Mutex::new(Some((Arc::clone(field), array, writers)))
            })
            .collect();
        let mut group = self.writer.next_row_group().map_err(wrong)?;
        for chunks in encode(&columns, threads) {
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

/// Encodes columns, each by one thread.
fn encode(columns: &[Mutex<Option<Column>>], threads: usize) -> Vec<Result<Vec<ArrowColumnChunk>>> {
    let done: Vec<Mutex<Result<Vec<ArrowColumnChunk>>>> =
        columns.iter().map(|_| Mutex::new(Err(Error::request("a column that nobody encoded")))).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let (Some(column), Some(done)) = (columns.get(number), done.get(number)) else { return };
            // Its entries are dropped as soon as they are encoded.
            if let Some((field, array, writers)) = lock(column).take() {
                let encoded = encode_column(&field, &array, writers);
                *lock(done) = encoded.map_err(|e| e.object(format!("column {}", field.name())));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(columns.len()) {
            scope.spawn(work);
        }
        work();
    });
    done.into_iter().map(|one| one.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)).collect()
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
