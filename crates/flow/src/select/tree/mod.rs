//! What only trees have of a selection: friends and entry lists, which count entries, and branches for defined columns.

mod defined;
mod friends;

pub(crate) use defined::{DefinedBranches, DefinedLayout, defined_branches};
pub(crate) use friends::{SelectedTree, drop_misaligned_friends};
