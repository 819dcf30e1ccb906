//! Decode programs: how the values of a branch lie in bytes, as data. The planner ([`plan`](super::plan)) makes them; the
//! interpreter ([`run`](super::run)) and the encoder ([`encode`](crate::encode)) run them.

pub(crate) mod class_reader;
pub(crate) mod classes;
pub(crate) mod learned;
pub(crate) mod model;
pub(crate) mod op;
pub(crate) mod types;
