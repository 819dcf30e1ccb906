//! Baskets and pages of the output: entries encoded or moved, cut into baskets or pages and compressed.

pub(crate) mod clocks;
pub(crate) mod compressors;
pub(crate) mod ntuple;
pub(crate) mod parallel_encode;
pub(crate) mod scratch;
pub(crate) mod shared_piece;
pub(crate) mod stream_fill;
pub(crate) mod tree;
