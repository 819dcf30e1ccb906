//! Trees to Parquet and back, within a [`Budget`](crate::Budget): the same columns and entries, one row group for each
//! cluster.
//!
//! To Parquet, [`read`](crate::arrow::read) decodes the entries of a row group on all threads, and `sink` encodes its columns
//! on all threads and appends them in order. From Parquet, each thread reads row groups and fills them as a task of a
//! [`ParallelWriter`](crate::arrow::write::ParallelWriter). So the bytes of an output do not depend on the number of threads.

mod codec;
mod columns;
mod filler;
mod format;
mod from_parquet;
mod groups;
mod memory;
mod opened;
mod options;
mod parquet_error;
mod read_memory;
mod report;
mod sink;
mod tasks;
mod to_parquet;
mod types;
mod values;

pub use codec::ParquetCodec;
pub use format::Format;
pub use from_parquet::{FromParquet, from_parquet};
pub use options::Conversion;
pub use report::{Converted, ConvertedColumn, LeftOut};
pub use to_parquet::{ToParquet, to_parquet};
