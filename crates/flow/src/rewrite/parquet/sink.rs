//! Writes a Parquet file: the columns of a row group are encoded on all threads and appended in order.

use std::io;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{FieldRef, Schema, SchemaRef};
use dataset::parquet::{TREE_KEY, wrong};
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::ThreadPool;
use rayon::prelude::*;
use rootfile::{OutputFile, Result};

use super::codec::ParquetCodec;
use crate::execute::budget::Budget;

/// Entries of a column that are encoded at once: each value takes several words of memory meanwhile.
const PORTION: usize = 1 << 16;

/// Approximate memory of the encoder of a column without entries: the table of its dictionary, and the codec.
pub(super) const ENCODER: u64 = 192 << 10;
/// Approximate memory of the description of a column.
pub(super) const DESCRIPTION: u64 = 6 << 10;
/// Approximate memory of a column of a row group until the file is closed: its position, its statistics, and its part of the
/// footer.
pub(super) const FOOTER: u64 = 1400;

/// A Parquet file in the making.
pub(crate) struct Sink {
    writer: SerializedFileWriter<OutputFile>,
    parts: Vec<Part>,
    groups: usize,
    /// Memory that a column's entries may take while they are encoded.
    portion: u64,
    /// The threads that encode.
    team: ThreadPool,
}

/// Neighbouring columns that are encoded together: as many as memory has encoders for.
struct Part {
    fields: Vec<FieldRef>,
    /// Number of Parquet columns of each column of the schema.
    leaves: Vec<usize>,
    factory: ArrowRowGroupWriterFactory,
}

/// A column of a row group: its field, its entries, and its encoders.
type Column = (FieldRef, ArrayRef, Vec<ArrowColumnWriter>);

impl Sink {
    /// Starts a file. Its columns are encoded in `room` bytes of memory.
    pub fn new(
        file: OutputFile,
        schema: &SchemaRef,
        (codec, budget, room): (ParquetCodec, Budget, u64),
        tree: &str,
    ) -> Result<Self> {
        let parquet = ArrowSchemaConverter::new().convert(schema).map_err(wrong)?;
        let mut properties = WriterProperties::builder()
            .set_compression(codec.0)
            .set_created_by(format!("basketry version {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![KeyValue::new(TREE_KEY.to_owned(), tree.to_owned())]))
            .build();
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let mut leaves = vec![0; schema.fields().len()];
        for leaf in 0..parquet.num_columns() {
            if let Some(count) = leaves.get_mut(parquet.get_column_root_idx(leaf)) {
                *count += 1;
            }
        }
        let properties = Arc::new(properties);
        let writer =
            SerializedFileWriter::new(file, parquet.root_schema_ptr(), Arc::clone(&properties)).map_err(wrong)?;
        let most = usize::try_from(room / 2 / ENCODER).unwrap_or(usize::MAX).max(1);
        let parts = cut(schema.fields(), &leaves, most)
            .map(|(fields, leaves)| {
                let schema = Arc::new(Schema::new(fields.to_vec()));
                let parquet = ArrowSchemaConverter::new().convert(&schema)?.root_schema_ptr();
                let alone = SerializedFileWriter::new(io::sink(), parquet, Arc::clone(&properties))?;
                let factory = ArrowRowGroupWriterFactory::new(&alone, schema);
                Ok(Part { fields: fields.to_vec(), leaves: leaves.to_vec(), factory })
            })
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(wrong)?;
        Ok(Self { writer, parts, groups: 0, portion: room / 4, team: budget.team()? })
    }

    /// Writes a row group.
    pub fn write(&mut self, arrays: Vec<ArrayRef>) -> Result<()> {
        let mut arrays = arrays.into_iter();
        let mut group = self.writer.next_row_group().map_err(wrong)?;
        for part in &self.parts {
            let mut writers = part.factory.create_column_writers(self.groups).map_err(wrong)?.into_iter();
            let columns = part.fields.iter().zip(arrays.by_ref()).zip(&part.leaves);
            let columns: Vec<Column> = columns
                .map(|((field, array), &leaves)| (Arc::clone(field), array, writers.by_ref().take(leaves).collect()))
                .collect();
            // The entries of a column are dropped as soon as they are encoded.
            let encode = |(field, array, writers): Column| {
                encode_column(&field, &array, writers, self.portion)
                    .map_err(|e| e.object(format!("column {}", field.name())))
            };
            let encoded: Vec<Result<_>> = self.team.install(|| columns.into_par_iter().map(encode).collect());
            for chunks in encoded {
                for chunk in chunks? {
                    chunk.append_to_row_group(&mut group).map_err(wrong)?;
                }
            }
        }
        group.close().map_err(wrong)?;
        self.groups += 1;
        Ok(())
    }

    /// Adds a key with its value to the metadata of the file.
    pub fn tell(&mut self, key: &str, value: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Closes the file. Returns its size.
    pub fn finish(self) -> Result<u64> {
        self.writer.into_inner().map_err(wrong)?.finish()
    }
}

/// Cuts columns into neighbours with at most `most` Parquet columns together, but at least one column.
fn cut<'a>(
    fields: &'a [FieldRef],
    leaves: &'a [usize],
    most: usize,
) -> impl Iterator<Item = (&'a [FieldRef], &'a [usize])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = leaves.get(at..).filter(|left| !left.is_empty())?;
        let mut sum = 0;
        let fitting = left.iter().take_while(|&&leaves| {
            sum += leaves;
            sum <= most
        });
        let range = at..at + fitting.count().max(1);
        at = range.end;
        Some((fields.get(range.clone())?, leaves.get(range)?))
    })
}

/// Encodes a column in portions of about `room` bytes.
fn encode_column(
    field: &FieldRef,
    array: &ArrayRef,
    mut writers: Vec<ArrowColumnWriter>,
    room: u64,
) -> Result<Vec<ArrowColumnChunk>> {
    let each = (array.get_buffer_memory_size() / array.len().max(1)).max(1);
    let portion = usize::try_from(room).unwrap_or(usize::MAX).div_euclid(each).clamp(1, PORTION);
    for start in (0..array.len()).step_by(portion) {
        let portion = array.slice(start, portion.min(array.len() - start));
        for (leaf, writer) in compute_leaves(field, &portion).map_err(wrong)?.iter().zip(&mut writers) {
            writer.write(leaf).map_err(wrong)?;
        }
    }
    writers.into_iter().map(|writer| writer.close().map_err(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field};

    #[test]
    fn columns_are_cut_by_their_number_of_parquet_columns() {
        let fields: Vec<FieldRef> =
            (0..5).map(|i| Arc::new(Field::new(format!("c{i}"), DataType::Int32, false))).collect();
        let sizes = |leaves: &[usize], most| cut(&fields, leaves, most).map(|(f, _)| f.len()).collect::<Vec<_>>();
        assert_eq!(sizes(&[1, 1, 1, 1, 1], 2), [2, 2, 1]);
        assert_eq!(sizes(&[1, 7, 1, 1, 1], 3), [1, 1, 3]);
        assert_eq!(sizes(&[1, 1, 1, 1, 1], 100), [5]);
    }
}
