//! Buffers that one fill context leaves to the next.

use rootfile::codec::Compressor;

use crate::execute::encode::branch_fill::BranchFill;

/// Buffers that one context leaves to the next.
pub(crate) struct ContextBuffers {
    pub branches: Vec<BranchFill>,
    pub compressors: Vec<Compressor>,
    /// Bytes reserved for them.
    pub kept: u64,
}
