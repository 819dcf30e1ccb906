//! Columns in memory, as Arrow arrays: read from trees, written to trees, converted from and to Parquet.

pub mod convert;
pub mod read;
pub mod write;
