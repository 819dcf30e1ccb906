//! Bytes of the inputs: read ahead, and what is made of those of each container.

pub(crate) mod read_ahead;
pub(crate) mod tree;
