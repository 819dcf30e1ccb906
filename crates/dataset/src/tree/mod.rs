//! Trees: the `TTree` container of a dataset.

pub mod basket;
pub mod model;
pub mod read;
