//! Commits output: records get their positions in the file, and a tree's metadata get what was written.

pub(crate) mod date;
pub(crate) mod finalize;
pub(crate) mod leaf_maxima;
pub(crate) mod sink;
pub(crate) mod user_info;
