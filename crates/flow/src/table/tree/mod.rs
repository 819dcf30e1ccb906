//! The data model of trees: columns of branches, their sources, and finished baskets.

pub(crate) mod added;
pub(crate) mod chunk;
pub(crate) mod column;
pub(crate) mod default_entry;
pub(crate) mod new_index;
pub(crate) mod source;
