//! Measures what a layout costs, and decides.
//!
//! [`inspect`] says what is in a file and how it lies there; [`diagnose`] says what is wrong with that, what it costs,
//! and which command mends it. [`tune`] measures what other layouts would cost ([`cost`]), chooses between them under
//! limits ([`solve`]) and proves the choice. [`readspeed`] measures how fast a file can be read, and what holds it back.
//! [`sweep`] measures copying and reading over a grid of layouts, each run a process of its own ([`child`]),
//! and [`report`] makes a page of it.
//! [`models`] makes the data that writing is measured with, [`generate`] writes it, and [`write_bench`] measures that.
//! [`monitor`] watches what any job uses over time.
#![warn(missing_docs)]

pub mod child;
pub mod cost;
pub mod diagnose;
pub mod generate;
pub mod inspect;
pub mod machine;
pub mod models;
pub mod monitor;
pub mod readspeed;
pub mod report;
pub mod solve;
pub mod stats;
pub mod sweep;
pub mod tune;
pub mod write_bench;
