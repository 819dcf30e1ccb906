//! Columns in memory, as Arrow arrays: read from tables, written to tables.

pub mod read;
pub(crate) mod shapes;
pub mod write;
