//! Makes one file of one or more: [`prepare`] opens and plans, [`execute`] writes what is planned. A table of the output is an
//! [`output_table`]: `tree` and `ntuple` move records and pages, `convert` encodes entries anew. [`parquet`] is the way to Parquet files.

mod begin;
mod convert;
mod cut_flow;
pub(crate) mod execute;
mod file_version;
pub(crate) mod forecast;
pub(crate) mod from_parquet;
mod in_place;
pub(crate) mod ntuple;
pub(crate) mod options;
pub(crate) mod output_table;
pub mod parquet;
pub(crate) mod prepare;
pub(crate) mod prepared;
pub mod recover;
// A file of the benchmarks, which tests make as well.
#[cfg(test)]
#[path = "../../../lab/src/synthetic/sample.rs"]
mod sample;
pub(crate) mod summary;
pub(crate) mod tree;
