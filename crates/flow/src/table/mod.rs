//! The data model of a table that is moved: columns, pieces of columns, finished records, depths, and what tables take in memory. It
//! reads and writes nothing.

pub(crate) mod depth;
pub(crate) mod memory;
pub(crate) mod ntuple;
pub(crate) mod object_values;
pub(crate) mod piece;
pub(crate) mod target;
pub(crate) mod text_list;
pub(crate) mod tree;
