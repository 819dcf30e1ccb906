//! Tables whose entries are decoded and encoded again in a rewrite: trees that become RNTuples, RNTuples that become trees,
//! RNTuples with new clusters, pages or encodings, and tables of other containers. Tables that stay what they are, in their clusters,
//! are moved by `execute::engine` instead.
//!
//! `model` is the plan; `tree`, `ntuple` and `from_arrays` make it; `run` divides the memory, and `work` reads the next step while one
//! `TableWriter` encodes and appends the one before.

mod arrow_types;
mod forecast;
mod from_arrays;
mod model;
mod ntuple;
mod run;
mod tree;
mod work;

pub(crate) use from_arrays::arrays_to_table;
pub(crate) use model::{BatchColumn, ConvertPlan, DefinedColumns, FurtherColumns};
pub(crate) use ntuple::beside::BesideColumns;
pub(crate) use ntuple::{ntuple_to_tree, recluster};
pub(crate) use tree::tree_to_ntuple;
