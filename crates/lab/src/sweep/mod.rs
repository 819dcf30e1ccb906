//! Sweeps: copying and reading measured over a grid of layouts, streams and threads.
//!
//! [`grid`] says which points there are, [`plan`] which jobs and in which order, a [`runner`] runs each in a process of
//! its own, and the [`journal`] keeps what they took, so that a sweep that was killed goes on where it was. [`analyse`]
//! makes figures of the runs and [`decide`] a choice of the figures; [`show`] puts both into the tables of the published
//! studies. [`run`] does all this in turn.

pub mod analyse;
pub mod decide;
mod estimate;
mod explain;
pub mod grid;
pub mod journal;
pub mod metric;
#[cfg(test)]
mod mock;
mod once;
pub mod plan;
mod record;
mod root;
pub mod run;
pub mod runner;
pub mod show;
mod subject;
#[cfg(test)]
pub(crate) mod tests;

use serde::{Deserialize, Serialize};

pub use once::once;
pub use root::Root;
pub use subject::Subject;

use plan::Kind;

/// Version of the files in a sweep's folder, and of its JSON form (`docs/sweep-schema.md`).
pub const SCHEMA: u32 = 1;

/// How points are measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// What is done at each point.
    pub kinds: Vec<Kind>,
    /// How often.
    pub repeat: usize,
    /// Decides the order, and which entries are picked.
    pub seed: u64,
    /// Share of the entries that is picked.
    pub share: f64,
    /// Patterns for the chosen columns.
    pub columns: Vec<String>,
    /// Whether files are put out of the kernel's cache before each job.
    pub cold: bool,
    /// Whether each job has as many processors as threads.
    pub pin: bool,
    /// Bytes of memory that each job may take.
    pub memory: u64,
    /// Whether points that cannot win are dropped early.
    pub drop: bool,
    /// What is looked for.
    pub question: decide::Question,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kinds: vec![Kind::Copy, Kind::Full, Kind::Columns, Kind::Sparse],
            repeat: 5,
            seed: 1,
            share: 0.01,
            columns: Vec::new(),
            cold: false,
            pin: true,
            memory: flow::DEFAULT_MEMORY,
            drop: false,
            question: decide::Question::default(),
        }
    }
}
