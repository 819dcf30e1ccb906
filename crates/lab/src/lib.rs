//! Measures what layouts cost, and decides. Its rooms:
//!
//! - What decides: [`inspect`] lists what a file holds and diagnoses faults of its layout; [`tune`] measures what other layouts would
//!   cost ([`cost`]), chooses under limits ([`math::solve`]), and proves the choice; [`precision`] says what fewer bits for numbers save.
//! - What measures a job or a file: [`monitor`] records the resources that any job uses over time, and [`record`] shows and compares such records; [`readspeed`] measures how fast a file
//!   can be read and names the bottleneck; [`sweep`] measures copying and reading over a grid of layouts; [`report`] turns what was
//!   measured into a page.
//! - What measures basketry itself: [`write_bench`] compares how fast data sets are written with ROOT. `tune` and the benchmarks write
//!   data sets of [`synthetic`].
//! - [`look`] shows what is in a file: objects, entries, types, histograms.
//! - [`price`] turns bytes and CPU seconds into money over a file's life.
//! - [`jobs`] is one verb over many files as tasks for a batch system.
//! - [`system`] and [`math`] hold what these share: subprocesses, host, clocks, statistics, the solver.
#![warn(missing_docs, clippy::missing_errors_doc)]

mod addresses;
mod decide;
pub mod jobs;
pub mod look;
pub mod math;
mod measure;
pub mod price;
pub mod synthetic;
pub mod system;
pub mod write_bench;

pub use decide::{cost, inspect, precision, tune};
pub use measure::{monitor, readspeed, record, report, sweep};
