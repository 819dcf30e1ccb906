//! Columns in memory, as Arrow arrays: read from tables, written to tables, converted to Parquet.

pub mod convert;
pub mod read;
pub(crate) mod shapes;
pub mod write;
