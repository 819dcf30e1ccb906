//! RNTuples (`ROOT::RNTuple`) in ROOT files: metadata, pages, and the values of fields.
//!
//! | module | job |
//! |---|---|
//! | [`model`] | what an RNTuple is: fields, columns, cluster groups, clusters, pages |
//! | [`element`] | the column types, and how the elements of a page are encoded |
//! | [`page`] | verifies and decompresses pages |
//!
//! Terms are those of ROOT's specification (`tree/ntuple/doc/BinaryFormatSpecification.md`). A *field* has a C++ type. It has
//! columns, fields below it, or both. A *column* is a sequence of *elements* of one type. A *page* is a record with consecutive
//! elements of one column. All pages with the data of a range of entries form a *cluster*.

pub mod element;
pub mod model;
pub mod page;
mod recognise;

pub use recognise::{instead_of_tree, is_ntuple};
