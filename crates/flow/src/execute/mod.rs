//! Execution: fetching and decoding baskets, encoding them anew, and the engine that runs the tasks of a rewrite within a
//! budget. What is to be done is decided in [`plan`](crate::plan).

pub mod allocator;
pub(crate) mod budget;
pub(crate) mod encode;
pub(crate) mod engine;
pub(crate) mod fetch;
pub(crate) mod progress;
pub(crate) mod workers;
