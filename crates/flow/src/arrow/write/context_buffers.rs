//! Buffers that one fill context leaves to the next.

use super::table_fill::TableFill;

/// Buffers that one context leaves to the next.
pub(crate) struct ContextBuffers {
    pub fill: TableFill,
    /// Bytes reserved for them.
    pub kept: u64,
}
