//! What only trees have of a selection: friends and entry lists, which count entries, and the columns of an index.

mod friends;
mod index_lines;

pub(crate) use friends::{SelectedTree, drop_misaligned_friends};
pub(crate) use index_lines::index_lines;
