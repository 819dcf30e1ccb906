//! RNTuples whose entries become a tree, or an RNTuple in other clusters, pages or encodings. `put_back` makes the tree
//! again from which one was made, `beside` has fields that come from other RNTuples.

pub(super) mod beside;
pub(super) mod from_ntuple;
mod kept_fields;
mod put_back;

pub(crate) use from_ntuple::{ntuple_to_tree, recluster};
