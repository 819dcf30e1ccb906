//! Compares trees: entries by their bytes, columns that are split differently by value, and metadata.

mod branch_values;
pub(super) mod column_bytes;
pub(super) mod entry_bytes;
pub(super) mod metadata;
pub(super) mod reshaped;
mod tolerated;
pub(super) mod trees;
