//! Synthetic data: the data sets of published benchmarks ([`models`]), written to files ([`generate`]), and the benchmark
//! of writing them in parallel ([`write_bench`]), with a [`timeline`] of its threads.

pub mod generate;
pub mod models;
mod pace;
pub mod timeline;
pub mod write_bench;
