//! The interpreter: runs decode programs over the bytes of baskets, straight into the buffers of Arrow arrays.

mod arrays;
pub(crate) mod column;
pub(crate) mod entries;
pub(super) mod interpreter;
mod join;
mod lists;
mod memberwise;
mod objects;
pub(super) mod pick;
mod pointers;
mod rows;
mod scalars;
mod spread;
pub(super) mod value;
pub(crate) mod walk;
pub(crate) mod words;
