//! Measures what layouts cost, and decides.
//!
//! - [`inspect`] lists what a file holds and diagnoses faults of its layout.
//! - [`tune`] measures what other layouts would cost ([`cost`]), chooses under limits ([`math::solve`]), and proves the
//!   choice.
//! - [`readspeed`] measures how fast a file can be read and names the bottleneck.
//! - [`sweep`] measures copying and reading over a grid of layouts; [`report`] turns a sweep into a page.
//! - [`synthetic`] generates data sets and measures how fast they are written.
//! - [`jobs`] is one verb over many files as tasks for a batch system.
//! - [`monitor`] records the resources that any job uses over time.
//! - [`system`] and [`math`] hold what these share: subprocesses, host, clocks, statistics, the solver.
#![warn(missing_docs)]

mod addresses;
pub mod cost;
pub mod inspect;
pub mod jobs;
pub mod math;
pub mod monitor;
pub mod readspeed;
pub mod report;
pub mod sweep;
pub mod synthetic;
pub mod system;
pub mod tune;
