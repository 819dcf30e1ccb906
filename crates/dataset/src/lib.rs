//! A table in a ROOT file: what it holds and how it lies there.
#![warn(missing_docs)]

pub mod assemble;
pub mod decode;
pub mod encode;
pub mod glob;
pub mod layout;
pub mod ntuple;
pub mod read;
pub mod tree;
mod type_name;
