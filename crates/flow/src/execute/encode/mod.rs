//! Baskets and pages of the output: entries encoded or moved, cut into baskets or pages and compressed.

pub(crate) mod basket_builder;
pub(crate) mod branch_fill;
pub(crate) mod branch_plan;
mod class_tags;
pub(crate) mod clocks;
pub(crate) mod compressors;
mod maximum;
mod offset_array;
pub(crate) mod page_fill;
pub(crate) mod parallel_encode;
pub(crate) mod scratch;
mod stored_fill;
pub(crate) mod stream_fill;
