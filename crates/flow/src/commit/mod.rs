//! Commits output: finished records wait for their turn and get their positions in the file, and a tree's metadata get
//! what was written.

pub(crate) mod append;
pub(crate) mod date;
pub(crate) mod ntuple;
pub(crate) mod ordered_queue;
pub(crate) mod tree;
