//! A table in a ROOT file: what it holds and how it lies there.
#![warn(missing_docs)]

pub mod decode;
pub mod encode;
pub mod glob;
pub mod layout;
pub mod ntuple;
mod template;
pub mod tree;
pub mod whole;
