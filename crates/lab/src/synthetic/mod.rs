//! Synthetic data: the data sets of published benchmarks ([`models`]), written to files ([`generate`]), and the benchmark
//! of writing them in parallel ([`write_bench`]).

pub mod generate;
pub mod models;
pub mod write_bench;
