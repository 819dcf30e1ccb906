//! Trees whose entries become an RNTuple, and what is kept of them beside it.

mod from_tree;
mod keep;

pub(crate) use from_tree::tree_to_ntuple;
