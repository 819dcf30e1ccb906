//! Sweeps: copying and reading measured over a grid of layouts, streams and threads.
//!
//! [`grid`] lists the points, [`plan`] the jobs and their order. A [`runner`] runs each job in a process of its own, and the
//! [`journal`] keeps the results, so that a killed sweep continues. `analyse` computes figures, [`decide`] chooses, and [`show`]
//! writes the tables of the published studies. [`run`] does all this in turn.
//!
//! `plan` puts the jobs into an order that the seed decides; `estimate` predicts the time. basketry's own runner starts the command again with a
//! hidden option (`system::subprocess`), and `execute` does the job in that process; `RootRunner` does the same with ROOT, `CommandRunner` runs jobs of the user's (`template`, `jobs`); tests use planted costs
//! and a clock of their own (`mock`). Each result is a synced line of the journal, and a job in the journal is never measured again. What comes
//! after the runs sees only the journal, so `sweep show` agrees with the sweep. `extend` joins a sweep that exists with what another
//! request adds to it.

mod analyse;
mod cells;
pub mod command;
mod contents;
pub mod costs;
pub mod decide;
mod estimate;
mod execute;
mod explain;
mod extend;
pub mod findings;
pub mod grid;
mod input;
mod jobs;
pub mod journal;
pub mod metric;
#[cfg(test)]
mod mock;
mod picked;
pub mod plan;
pub mod point;
pub mod question;
mod record;
mod root;
pub mod run;
pub mod runner;
pub mod runs;
mod session;
mod settings;
pub mod show;
mod template;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod tests_order;
mod weighing;

pub use command::{CommandRunner, Commands};
pub use execute::execute;
pub use input::SweepInput;
pub use root::RootRunner;
pub use session::Sweep;
pub use settings::{SCHEMA, Settings};
