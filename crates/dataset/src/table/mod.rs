//! Tables, whichever container they are in: the schema, and columns that become Arrow arrays. A column is a branch of a tree,
//! a field of an RNTuple, or arrays of another container, and a piece is what is loaded of it at once. What is a basket's or a page's own stays in
//! [`tree`](crate::tree), [`decode`](crate::decode) and [`ntuple`](crate::ntuple).

mod builder;
pub mod catalog;
mod column;
mod container;
mod difference;
mod join;
mod outline;
pub mod piece;
mod schema;
mod stated;

pub use builder::{Loaded, ValueBuilder, one_array};
pub use column::TableColumn;
pub use container::{ColumnPieces, FileRange, Runs, StoredTable};
pub use difference::{Difference, refusal};
pub use join::{Conflict, Join, JoinInput, JoinedNode, JoinedNodes, joined_path};
pub use outline::Outline;
pub use schema::{Node, TableSchema};
pub use stated::{Bounds, Stated};

/// Most parts of a column.
pub use crate::ntuple::decode::MOST_PARTS;
