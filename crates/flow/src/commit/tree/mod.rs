//! The end of a tree: its baskets get positions, and its metadata what was written.

pub(crate) mod finalize;
pub(crate) mod leaf_maxima;
pub(crate) mod sink;
pub(crate) mod user_info;
