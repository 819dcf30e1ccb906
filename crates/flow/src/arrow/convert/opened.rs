//! Reads a Parquet file: its metadata, which are checked before use, and the entries of its row groups.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use rootfile::{Error, Hint, Result, Source, open_source};

use super::parquet_error::wrong;

/// The key of a Parquet file's metadata that holds the path of its tree.
pub(super) const TREE_KEY: &str = "root.tree";
/// The end of a file: the length of its metadata, and four letters.
const TAIL: u64 = 8;
/// Approximate size of metadata in memory, relative to their size in the file.
const UNPACKED: u64 = 8;
/// Memory of a column while it is read: a page and a dictionary.
const PAGES: u64 = 2 << 20;
/// Memory of a column's decoder: the state of the codec, and buffers.
const READER: u64 = 192 << 10;

/// A Parquet file.
pub(super) struct Opened {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    /// Approximate memory of the metadata, in bytes.
    pub held: u64,
}

/// A row group: its entries, its bytes on disk, and before compression.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub rows: u64,
    pub bytes: u64,
    pub unpacked: u64,
    /// Bytes in memory while the row group is read.
    pub held: u64,
}

impl Opened {
    /// Opens a file. Its metadata may take `most` bytes of memory.
    pub fn open(path: &Path, most: u64) -> Result<Self> {
        let source = open_source(path)?;
        let held = metadata_len(&*source)?.saturating_mul(UNPACKED);
        if held > most {
            let memory = Hint::text("memory", format!("{}MB", (4 * held).div_ceil(1_000_000)));
            let held = held.div_ceil(1_000_000);
            let message = format!("its metadata take about {held} MB of memory; give {memory} or more");
            return Err(Error::request(message).hint(memory).file(path));
        }
        let load = || ArrowReaderMetadata::load(&Bytewise(Arc::clone(&source)), ArrowReaderOptions::new());
        let metadata = guarded(load).map_err(|e| e.file(path))?;
        let opened = Self { source, metadata, held };
        for group in opened.metadata.metadata().row_groups() {
            check(group, opened.source.size()).map_err(|e| e.file(path))?;
        }
        Ok(opened)
    }

    pub fn path(&self) -> &Path {
        self.source.name()
    }

    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// The path of the tree that the file was made of, if its metadata have it.
    pub fn tree(&self) -> Option<&str> {
        let pairs = self.metadata.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == TREE_KEY)?.value.as_deref().filter(|tree| !tree.is_empty())
    }

    /// The row groups. Their bytes count only these columns.
    pub fn groups(&self, columns: &[usize]) -> Vec<Group> {
        let schema = self.metadata.parquet_schema();
        let of = |group: &RowGroupMetaData| {
            let wanted = group.columns().iter().enumerate();
            let wanted = wanted.filter(|(leaf, _)| columns.contains(&schema.get_column_root_idx(*leaf)));
            let mut found = Group { rows: positive(group.num_rows()), bytes: 0, unpacked: 0, held: 0 };
            for (_, column) in wanted {
                found.bytes += positive(column.compressed_size());
                let unpacked = positive(column.uncompressed_size());
                found.unpacked = found.unpacked.saturating_add(unpacked);
                found.held += unpacked.min(PAGES) + READER;
            }
            found
        };
        self.metadata.metadata().row_groups().iter().map(of).collect()
    }

    /// Most bytes in memory for each of these columns while a row group is read.
    pub fn held(&self, columns: &[usize]) -> Vec<u64> {
        let schema = self.metadata.parquet_schema();
        let mut of_root: HashMap<usize, u64> = HashMap::new();
        for group in self.metadata.metadata().row_groups() {
            let mut here: HashMap<usize, u64> = HashMap::new();
            for (leaf, column) in group.columns().iter().enumerate() {
                let held = positive(column.uncompressed_size()).min(PAGES) + READER;
                *here.entry(schema.get_column_root_idx(leaf)).or_default() += held;
            }
            for (root, held) in here {
                let most = of_root.entry(root).or_default();
                *most = held.max(*most);
            }
        }
        columns.iter().map(|root| of_root.get(root).copied().unwrap_or(0)).collect()
    }

    /// Reads columns and entries of a row group, in batches of at most `batch` entries.
    pub fn read(
        &self,
        group: usize,
        columns: &[usize],
        entries: &[Range<usize>],
        rows: usize,
        batch: usize,
    ) -> Result<Batches> {
        let build = || {
            let input = Bytewise(Arc::clone(&self.source));
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(input, self.metadata.clone());
            let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
            let builder = builder.with_row_groups(vec![group]).with_projection(mask).with_batch_size(batch);
            match entries {
                [all] if *all == (0..rows) => builder.build(),
                some => builder
                    .with_row_selection(RowSelection::from_consecutive_ranges(some.iter().cloned(), rows))
                    .build(),
            }
        };
        Ok(Batches { reader: guarded(build).map_err(|e| e.file(self.path()))? })
    }
}

/// Entries of a row group, batch by batch.
pub(super) struct Batches {
    reader: ParquetRecordBatchReader,
}

impl Batches {
    /// The next batch. `None` at the end.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        guarded(|| self.reader.next().transpose().map_err(ParquetError::from))
    }
}

/// Runs the library on untrusted bytes. A panic of one of its own checks becomes an error.
fn guarded<T>(work: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done.map_err(wrong),
        Err(_) => Err(Error::corrupt("its pages are not what its metadata say")),
    }
}

fn metadata_len(source: &dyn Source) -> Result<u64> {
    let short = || Error::corrupt("is too short for a Parquet file").file(source.name());
    let at = source.size().checked_sub(TAIL).ok_or_else(short)?;
    let tail = source.read(at, 8)?;
    let (len, letters) = tail.split_first_chunk::<4>().ok_or_else(short)?;
    match letters {
        b"PAR1" => Ok(u64::from(u32::from_le_bytes(*len))),
        b"PARE" => Err(Error::unsupported("is encrypted").file(source.name())),
        _ => Err(Error::corrupt("does not end as a Parquet file does; was it written to its end?").file(source.name())),
    }
}

fn positive(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Checks facts that the library does not: no number is negative, and all columns lie in the file.
fn check(group: &RowGroupMetaData, size: u64) -> Result<()> {
    let whole = |number: i64, what: &str| {
        u64::try_from(number).map_err(|_| Error::corrupt(format!("a row group with {number} {what}")))
    };
    let rows = whole(group.num_rows(), "rows")?;
    usize::try_from(rows).map_err(|_| Error::corrupt(format!("a row group with {rows} rows")))?;
    let lies = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let (start, data) = (whole(start, "as an offset")?, whole(column.data_page_offset(), "as an offset")?);
        whole(column.uncompressed_size(), "bytes")?;
        let end = start.checked_add(whole(column.compressed_size(), "bytes")?);
        match end.is_some_and(|end| end <= size && data <= size) {
            true => Ok(()),
            false => Err(Error::corrupt("lies beyond the end of the file").at(start)),
        }
    };
    group.columns().iter().try_for_each(|column| lies(column).map_err(|e| e.object(column.column_path().string())))
}

/// The file for the library. Each read has a position, so threads do not disturb each other.
struct Bytewise(Arc<dyn Source>);

impl Length for Bytewise {
    fn len(&self) -> u64 {
        self.0.size()
    }
}

impl ChunkReader for Bytewise {
    type T = BufReader<Behind>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(Behind { source: Arc::clone(&self.0), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let read = self.0.read(start, length).map_err(io::Error::other)?;
        Ok(read.into())
    }
}

/// The bytes of a file from a position on.
struct Behind {
    source: Arc<dyn Source>,
    at: u64,
}

impl Read for Behind {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.source.size().saturating_sub(self.at)).unwrap_or(usize::MAX);
        let len = buffer.len().min(left);
        let Some(buffer) = buffer.get_mut(..len) else { return Ok(0) };
        self.source.read_exact_at(self.at, buffer).map_err(io::Error::other)?;
        self.at += len as u64;
        Ok(len)
    }
}
