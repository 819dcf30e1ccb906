//! Parquet files as a container: one table in one or more files, whose row groups are its clusters. A piece is a column of a row group.
//! It is decoded by the `parquet` crate from bytes that the caller fetches; nothing here writes.

mod columns;
mod error;
mod facts;
mod file;
mod statistics;
mod table;
mod types;

pub use error::wrong;
pub use facts::{ParquetColumnFacts, ParquetFacts, ParquetLeafFacts, RowGroupFacts};
pub use table::{ParquetTable, TREE_KEY};
