//! The form that columns of arrays take in a tree, or in an RNTuple that is made as one: which columns they become, and their values in
//! them. A rewrite writes what is in this form, and a comparison with a tree or an RNTuple takes it as well.

mod plain_values;
mod shape;

pub(crate) use shape::{Flat, Shape, Shapes, shapes};
