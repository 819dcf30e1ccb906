//! Trees: the `TTree` container of a dataset.
//!
//! [`read`] decodes a tree's record into the typed [`model`], [`mod@write`] encodes the model as a record of ROOT 6,
//! [`basket`] reads and writes the records with the entries, and [`clusters`] finds the boundaries of clusters.

pub mod basket;
pub mod clusters;
mod friends;
mod graft;
mod held;
mod index;
mod inner;
mod kept;
pub mod make;
pub mod model;
mod places;
pub mod read;
mod rename;
mod replace;
mod select;
mod tags;
pub mod write;

pub use clusters::{ClusterSource, Clusters};
pub use friends::FriendName;
pub use held::UnequalBranch;
pub use index::{IndexLine, MOST_INDEX_LINES, TreeIndex};
pub use inner::{InnerBaskets, each_inner_branch};
pub use kept::{KEPT_CLASS, KEPT_TITLE, KeptTree, is_kept, kept_name, read_kept, write_kept};
pub use model::{BasketRef, Branch, BranchKind, Element, Leaf, Tree};
pub use places::Places;
pub use read::{is_tree_class, read_tree};
pub use replace::Replaced;
pub use tags::may_hold_tags;
pub use write::write_tree;
