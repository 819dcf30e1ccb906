//! Buffers that one fill context leaves to the next.

use std::sync::Arc;

use super::table_fill::TableFill;
use super::table_plan::TablePlan;

/// Buffers that one context leaves to the next.
pub(crate) struct ContextBuffers {
    /// The plan that they fit.
    pub plan: Arc<TablePlan>,
    pub fill: TableFill,
    /// Bytes reserved for them.
    pub kept: u64,
}
