//! Tables to Parquet, within a [`Budget`](crate::Budget): the same columns and entries, one row group for each
//! cluster.
//!
//! [`read`](crate::arrow::read) decodes the entries of a row group on all threads, and `sink` encodes its columns on all threads and
//! appends them in order. So the bytes of an output do not depend on the number of threads. The way back is a rewrite.

mod codec;
mod columns;
mod groups;
mod memory;
mod options;
mod report;
pub(crate) mod sink;
mod to_parquet;

pub use codec::ParquetCodec;
pub use options::Conversion;
pub use report::{Converted, ConvertedColumn, LeftOut};
pub use to_parquet::{ToParquet, to_parquet};
