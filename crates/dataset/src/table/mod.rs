//! Tables, whichever container they are in: the schema, and columns that become Arrow arrays. A column is a branch of a tree
//! or a field of an RNTuple, and a piece is what is loaded of it at once. What is a basket's or a page's own stays in
//! [`tree`](crate::tree), [`decode`](crate::decode) and [`ntuple`](crate::ntuple).

mod builder;
mod column;
mod schema;

use rootfile::RootFile;

pub use builder::{Loaded, ValueBuilder};
pub use column::TableColumn;
pub use schema::{Node, TableSchema};

/// Whether objects of a class in a file are trees or RNTuples.
pub fn is_table_class(file: &RootFile, class: &str) -> bool {
    crate::tree::is_tree_class(file, class) || crate::ntuple::is_ntuple(class)
}
