//! One Parquet file: its metadata, which are checked before use, and the columns of its row groups, which are decoded from their bytes.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{FieldRef, Schema, SchemaRef};
use bytes::{Buf, Bytes};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, FileMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type};
use rootfile::{Error, Hint, Result, Source};

use super::error::wrong;
use super::types::{read_schema, width};
use crate::table::one_array;

/// The end of a file: the length of its metadata, and four letters.
const TAIL: u64 = 8;
/// Approximate size of metadata in memory, relative to their size in the file.
const UNPACKED: u64 = 8;
/// Of a memory budget, the part that metadata may take.
const METADATA_SHARE: u64 = 4;
/// Least bytes of a page in a file, which are those of its header, and most values of a page and bytes of its content, which the header
/// counts in numbers of 31 bits.
const LEAST_PAGE: u64 = 8;
const MOST_OF_PAGE: u64 = i32::MAX as u64;

/// The metadata of a Parquet file.
pub(super) struct ParquetFile {
    metadata: ArrowReaderMetadata,
    /// The Parquet columns of each column.
    leaves: Vec<Vec<usize>>,
    /// Bytes of the metadata in the file.
    pub metadata_len: u64,
    /// Approximate memory of the metadata, in bytes.
    pub held: u64,
    size: u64,
}

/// The sizes of a column in a row group: in the file, and in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkSizes {
    pub packed: u64,
    pub unpacked: u64,
}

impl ParquetFile {
    /// Reads and checks the metadata, which have so many bytes in the file.
    fn open(source: &Arc<dyn Source>, metadata_len: u64) -> Result<Self> {
        let named = |e: Error| e.file(source.name());
        let bytewise = Bytewise(Arc::clone(source));
        let load = |options: ArrowReaderOptions| ArrowReaderMetadata::load(&bytewise, options);
        let own = guarded(|| load(ArrowReaderOptions::new())).map_err(named)?;
        let with = |schema: Schema| {
            let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
            guarded(|| ArrowReaderMetadata::try_new(Arc::clone(own.metadata()), options))
        };
        // Where the library has no such form of a column, that column stays as it is.
        let metadata = with(read_schema(own.schema())).or_else(|_| with(possible_schema(&own)));
        let metadata = metadata.unwrap_or(own);
        for group in metadata.metadata().row_groups() {
            check(group, source.size()).map_err(named)?;
        }
        let parquet = metadata.parquet_schema();
        let mut leaves = vec![Vec::new(); metadata.schema().fields().len()];
        for leaf in 0..parquet.num_columns() {
            if let Some(found) = leaves.get_mut(parquet.get_column_root_idx(leaf)) {
                found.push(leaf);
            }
        }
        Ok(Self { leaves, metadata, metadata_len, held: held(metadata_len), size: source.size() })
    }

    pub fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    /// What the metadata say of the file as a whole.
    pub fn facts(&self) -> &FileMetaData {
        self.metadata.metadata().file_metadata()
    }

    /// The Parquet columns of a column, as the schema has them.
    pub fn leaves(&self, column: usize) -> impl Iterator<Item = &ColumnDescriptor> {
        let schema = self.metadata.parquet_schema();
        self.leaves.get(column).into_iter().flatten().filter_map(move |leaf| Some(&**schema.columns().get(*leaf)?))
    }

    /// The value of a key in its metadata.
    pub fn value(&self, key: &str) -> Option<&str> {
        let pairs = self.facts().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Whether the statistics of all row groups say that a column of single values misses none of them.
    pub fn is_complete(&self, column: usize) -> bool {
        let groups = self.metadata.metadata().row_groups();
        let is_nested = self.field(column).is_none_or(|field| field.data_type().is_nested());
        let misses_none =
            |chunk: &ColumnChunkMetaData| chunk.statistics().and_then(|found| found.null_count_opt()) == Some(0);
        !is_nested && (0..groups.len()).all(|group| self.chunks(group, column).all(misses_none))
    }

    /// Entries of each row group.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.metadata.metadata().row_groups().iter().map(|group| positive(group.num_rows()))
    }

    /// The sizes of a column in a row group.
    pub fn sizes(&self, group: usize, column: usize) -> ChunkSizes {
        let mut found = ChunkSizes::default();
        for chunk in self.chunks(group, column) {
            // Repeated values take few bytes in the file.
            let each = width_of(chunk);
            let texts = chunk.unencoded_byte_array_data_bytes().map_or(0, positive);
            let values = positive(chunk.num_values()).saturating_mul(each).saturating_add(texts);
            found.packed = found.packed.saturating_add(positive(chunk.compressed_size()));
            found.unpacked = found.unpacked.saturating_add(positive(chunk.uncompressed_size()).max(values));
        }
        let rows = self.metadata.metadata().row_groups().get(group).map_or(0, |group| positive(group.num_rows()));
        let least = self.field(column).map_or(0, |field| width(field.data_type()));
        ChunkSizes { unpacked: found.unpacked.max(rows.saturating_mul(least)), ..found }
    }

    /// Where the bytes of a column in a row group are.
    pub fn ranges(&self, group: usize, column: usize) -> impl Iterator<Item = Range<u64>> {
        self.chunks(group, column).map(|chunk| {
            let (start, len) = chunk.byte_range();
            start..start.saturating_add(len)
        })
    }

    fn field(&self, column: usize) -> Option<&FieldRef> {
        self.schema().fields().get(column)
    }

    /// The Parquet columns of a column in a row group.
    pub fn chunks(&self, group: usize, column: usize) -> impl Iterator<Item = &ColumnChunkMetaData> {
        let group = self.metadata.metadata().row_groups().get(group);
        let leaves = self.leaves.get(column).into_iter().flatten();
        leaves.filter_map(move |leaf| group?.columns().get(*leaf))
    }

    /// The metadata of one column in one row group: the library goes through all that it is given.
    fn alone(&self, group: usize, column: usize) -> parquet::errors::Result<ArrowReaderMetadata> {
        let no_such = || ParquetError::General("no such column in this row group".to_owned());
        let all = self.metadata.metadata();
        let schema = schema_alone(self.metadata.parquet_schema(), column)?;
        let rows = all.row_groups().get(group).ok_or_else(no_such)?.num_rows();
        let chunks = self.chunks(group, column).cloned().collect();
        let builder = RowGroupMetaData::builder(Arc::clone(&schema)).set_num_rows(rows);
        let row_group = builder.set_column_metadata(chunks).build()?;
        let file = FileMetaData::new(all.file_metadata().version(), rows, None, None, schema, None);
        let metadata = Arc::new(ParquetMetaData::new(file, vec![row_group]));
        let field = self.field(column).cloned().ok_or_else(no_such)?;
        let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(vec![field])));
        ArrowReaderMetadata::try_new(metadata, options)
    }

    /// Decodes entries of a column in a row group, which has so many `rows`, from the bytes of its [`ranges`](Self::ranges).
    pub fn decode(
        &self,
        (group, rows): (usize, usize),
        column: usize,
        entries: &[Range<usize>],
        chunks: Vec<(u64, Bytes)>,
    ) -> Result<ArrayRef> {
        let wanted: usize = entries.iter().map(ExactSizeIterator::len).sum();
        let field = self.field(column).ok_or_else(|| Error::request("no such column"))?;
        let decode = || {
            let chunks = Chunks { size: self.size, chunks };
            let alone = self.alone(group, column)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, alone);
            let builder = builder.with_batch_size(wanted.max(1));
            let reader = match entries {
                [all] if *all == (0..rows) => builder.build()?,
                some => builder
                    .with_row_selection(RowSelection::from_consecutive_ranges(some.iter().cloned(), rows))
                    .build()?,
            };
            let mut arrays: Vec<ArrayRef> = Vec::new();
            for batch in reader {
                arrays.extend(batch?.columns().first().cloned());
            }
            Ok::<_, ParquetError>(arrays)
        };
        let array = one_array(&guarded(decode)?, field.data_type())?;
        match array.len() == wanted {
            true => Ok(array),
            false => {
                let read = array.len();
                Err(Error::corrupt(format!("a row group with {read} entries where {wanted} are wanted")))
            }
        }
    }
}

/// Opens files. Of `memory` bytes their metadata may take a part, together.
pub(super) fn open_files(sources: &[Arc<dyn Source>], memory: u64) -> Result<Vec<ParquetFile>> {
    let lengths = sources.iter().map(|source| metadata_len(&**source)).collect::<Result<Vec<_>>>()?;
    let all = lengths.iter().map(|length| held(*length)).fold(0, u64::saturating_add);
    if all > memory / METADATA_SHARE {
        let least = all.saturating_mul(METADATA_SHARE).div_ceil(1_000_000);
        let memory = Hint::text("memory", format!("{least}MB")).that("would do");
        let whose = if sources.len() > 1 { "the metadata of all files" } else { "its metadata" };
        let message = format!("{whose} take about {} MB of memory; {}", all.div_ceil(1_000_000), memory.clause());
        let error = Error::request(message).hint(memory);
        return Err(sources.iter().take(1).fold(error, |e, source| e.file(source.name())));
    }
    sources.iter().zip(lengths).map(|(source, length)| ParquetFile::open(source, length)).collect()
}

/// Approximate memory of metadata of a length, in bytes.
fn held(metadata_len: u64) -> u64 {
    metadata_len.saturating_mul(UNPACKED)
}

/// The schema of one column.
fn schema_alone(all: &SchemaDescriptor, column: usize) -> parquet::errors::Result<Arc<SchemaDescriptor>> {
    let no_such = || ParquetError::General("no such column".to_owned());
    let field = all.root_schema().get_fields().get(column).cloned().ok_or_else(no_such)?;
    let root = Type::group_type_builder(all.name()).with_fields(vec![field]).build()?;
    Ok(Arc::new(SchemaDescriptor::new(Arc::new(root))))
}

/// The schema in which columns are read, but with those that the library does not read in that form as they are in the file.
fn possible_schema(own: &ArrowReaderMetadata) -> Schema {
    let version = own.metadata().file_metadata().version();
    let is_read = |column: usize, field: &FieldRef| {
        guarded(|| {
            let schema = schema_alone(own.parquet_schema(), column)?;
            let metadata = ParquetMetaData::new(FileMetaData::new(version, 0, None, None, schema, None), Vec::new());
            let options = ArrowReaderOptions::new().with_schema(Arc::new(Schema::new(vec![Arc::clone(field)])));
            ArrowReaderMetadata::try_new(Arc::new(metadata), options)
        })
    };
    let read = read_schema(own.schema());
    let fields = own.schema().fields().iter().zip(read.fields()).enumerate();
    let fields = fields.map(|(column, (own, read))| if is_read(column, read).is_ok() { read } else { own });
    Schema::new_with_metadata(fields.cloned().collect::<Vec<_>>(), read.metadata().clone())
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

/// A number of the metadata that is not negative, once these are checked.
pub(super) fn positive(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Bytes of a value of a Parquet column in memory.
fn width_of(chunk: &ColumnChunkMetaData) -> u64 {
    use parquet::basic::Type;
    match chunk.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT => 4,
        Type::INT64 | Type::DOUBLE | Type::INT96 | Type::BYTE_ARRAY => 8,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(chunk.column_descr().type_length()).unwrap_or(0),
    }
}

/// Checks facts that the library does not: no number is negative, all columns lie in the file, and none says that it has more content
/// than the pages that it has room for.
fn check(group: &RowGroupMetaData, size: u64) -> Result<()> {
    let whole = |number: i64, what: &str| {
        u64::try_from(number).map_err(|_| Error::corrupt(format!("a row group with {number} {what}")))
    };
    let rows = whole(group.num_rows(), "rows")?;
    usize::try_from(rows).map_err(|_| Error::corrupt(format!("a row group with {rows} rows")))?;
    let lies = |column: &ColumnChunkMetaData| {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let (start, data) = (whole(start, "as an offset")?, whole(column.data_page_offset(), "as an offset")?);
        let packed = whole(column.compressed_size(), "bytes")?;
        let (unpacked, values) = (whole(column.uncompressed_size(), "bytes")?, whole(column.num_values(), "values")?);
        let most = (packed / LEAST_PAGE).saturating_mul(MOST_OF_PAGE).saturating_add(packed);
        if unpacked > most || values > most {
            let what = format!("says that {packed} bytes hold {unpacked} bytes and {values} values");
            return Err(Error::corrupt(what).at(start));
        }
        if rows > values {
            return Err(Error::corrupt(format!("has {values} values in a row group with {rows} rows")).at(start));
        }
        let end = start.checked_add(packed);
        match end.is_some_and(|end| end <= size && data <= size) {
            true => Ok(()),
            false => Err(Error::corrupt("lies beyond the end of the file").at(start)),
        }
    };
    group.columns().iter().try_for_each(|column| lies(column).map_err(|e| e.object(column.column_path().string())))
}

/// The file for the library while it reads the metadata.
struct Bytewise(Arc<dyn Source>);

impl Length for Bytewise {
    fn len(&self) -> u64 {
        self.0.size()
    }
}

impl ChunkReader for Bytewise {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        let rest = usize::try_from(self.len().saturating_sub(start)).unwrap_or(usize::MAX);
        self.get_bytes(start, rest).map(Buf::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let read = self.0.read(start, length);
        read.map(Bytes::from).map_err(|e| ParquetError::External(Box::new(std::io::Error::other(e))))
    }
}

/// The bytes of some columns, each with its place in the file.
struct Chunks {
    size: u64,
    chunks: Vec<(u64, Bytes)>,
}

impl Chunks {
    /// The bytes from an offset to the end of their column.
    fn from(&self, start: u64) -> parquet::errors::Result<Bytes> {
        let found = self.chunks.iter().find_map(|(offset, bytes)| {
            let at = usize::try_from(start.checked_sub(*offset)?).ok().filter(|at| *at <= bytes.len())?;
            (at < bytes.len() || bytes.is_empty()).then(|| bytes.slice(at..))
        });
        found.ok_or_else(|| ParquetError::EOF(format!("no column has bytes at {start}")))
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Chunks {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.from(start).map(Buf::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let bytes = self.from(start)?;
        match length <= bytes.len() {
            true => Ok(bytes.slice(..length)),
            false => Err(ParquetError::EOF(format!("a page at {start} ends behind its column"))),
        }
    }
}
