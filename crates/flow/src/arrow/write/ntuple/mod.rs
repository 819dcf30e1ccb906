//! How RNTuples are written: their plan, the arrays of their fields, and how their clusters and envelopes get into the file. The writer
//! knows them as a [`TableFormat`](super::format::TableFormat).

mod arrays;
mod first_pass;
pub(super) mod format;
mod output;
pub(crate) mod plan;
