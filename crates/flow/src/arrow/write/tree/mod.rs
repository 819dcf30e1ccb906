//! How trees are written: their plan, the arrays of their branches, and how their clusters and records get into the file. The writer
//! knows them as a [`TableFormat`](super::format::TableFormat).

mod arrays;
mod default_baskets;
pub(super) mod format;
mod output;
pub(crate) mod plan;
