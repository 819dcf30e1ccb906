//! Tables whose entries are decoded and encoded again in a rewrite: trees that become RNTuples, RNTuples that become trees,
//! RNTuples with new clusters, pages or encodings, and tables of other containers. Tables that stay what they are, in their clusters, are moved by
//! `execute::engine` instead.
//!
//! `model` is the plan; `from_tree`, `from_ntuple` and `from_arrays` make it, the last with the `shapes` of columns and their `plain_values`; `run` divides the memory, and `work` reads the next step while one
//! `TableWriter` encodes and appends the one before. What an RNTuple has no place for goes beside it: `keep` decides what, `put_back` makes the tree again.

mod arrow_types;
mod forecast;
mod from_arrays;
mod from_ntuple;
mod from_tree;
mod keep;
mod model;
mod plain_values;
mod put_back;
mod run;
mod shapes;
mod steps;
mod work;

pub(crate) use from_arrays::arrays_to_table;
pub(crate) use from_ntuple::{ntuple_to_tree, recluster};
pub(crate) use from_tree::tree_to_ntuple;
pub(crate) use model::{BatchColumn, ConvertPlan, Source};
