//! Synthetic data: the data sets of published benchmarks ([`models`]), written to files ([`generate`]) with a [`timeline`] of the threads;
//! and a `sample` file with a few values that a test can know.

pub mod generate;
pub mod models;
mod pace;
pub(crate) mod sample;
pub mod timeline;
