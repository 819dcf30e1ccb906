//! What only trees have of a selection: friends and entry lists, which count entries, the columns of an index, and branches for defined
//! columns.

mod defined;
mod friends;
mod index_lines;

pub(crate) use defined::{DefinedBranches, DefinedLayout, defined_branches};
pub(crate) use friends::{SelectedTree, drop_misaligned_friends};
pub(crate) use index_lines::index_lines;
