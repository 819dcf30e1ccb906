//! Execution: fetching and decoding baskets, encoding them anew, and the engine that runs the tasks of a rewrite within a
//! budget. [`plan`](crate::plan) decides what is done.

pub mod allocator;
pub(crate) mod budget;
pub(crate) mod encode;
pub(crate) mod engine;
pub(crate) mod fetch;
mod glibc;
pub(crate) mod order;
pub(crate) mod pipeline;
pub(crate) mod progress;
pub(crate) mod replaced;
pub(crate) mod scratch_file;
pub(crate) mod shared_work;
pub(crate) mod sync;
pub(crate) mod workers;
