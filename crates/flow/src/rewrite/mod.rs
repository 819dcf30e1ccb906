//! Makes one file of one or more: [`prepare`] opens and plans, [`execute`] writes, [`finish_tree`] closes each tree, and
//! [`finish_ntuple`] writes each RNTuple.

mod convert;
pub(crate) mod execute;
mod file_version;
mod finish_kept;
mod finish_ntuple;
mod finish_tree;
pub(crate) mod forecast;
pub(crate) mod from_parquet;
pub(crate) mod options;
mod prepare;
pub(crate) mod prepared;
pub mod recover;
pub mod sample;
pub(crate) mod summary;
pub(crate) mod weigh;
