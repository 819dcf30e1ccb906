//! Plans tables before any entry is touched: a folder for each container, the request and its options, what inputs and their formats
//! are, and what is said of a plan.

pub(crate) mod forecast;
pub mod format;
pub mod inputs;
pub(crate) mod ntuple;
pub(crate) mod options;
pub(crate) mod request;
pub(crate) mod skipped;
pub(crate) mod tree;
