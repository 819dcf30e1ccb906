//! Makes ROOT files out of ROOT files (rewrite, merge, recover, verify), and reads them into Arrow ([`read`]).
//!
//! One way through a rewrite: inputs are opened, [`plan`] lays out the columns and clusters of each table,
//! [`engine`] runs that plan on threads within a [`Budget`], and [`rewrite`] closes the file around it. Whatever
//! is done to a column is done at the shallowest depth that reaches the asked layout.

pub mod allocator;
mod budget;
mod choosing;
mod closing;
mod column;
mod condition;
pub mod convert;
mod cycles;
mod engine;
mod entries;
mod era;
mod fill;
mod inner;
pub mod inputs;
mod maxima;
pub mod objects;
mod options;
mod plan;
mod prepare;
pub mod read;
pub mod recover;
mod rewrite;
pub mod sample;
mod selected;
mod sink;
mod verify;
mod weigh;
mod words;
pub mod write;

pub use budget::{Budget, DEFAULT_MEMORY};
pub use cycles::{CycleKind, OlderCycle};
pub use engine::{Depth, Depths, Form, Progress, unwatched};
pub use entries::{Entries, EntryFilter, Slice, spread};
pub use objects::Damaged;
pub use options::{Absent, Cycles, Listed, Options, Pack, Schema};
pub use plan::{ColumnForecast, Forecast, RecodeForecast};
pub use prepare::Skipped;
pub use rewrite::{Outlook, Summary, TableSummary, forecast, rewrite, rewrite_staged};
pub use verify::{Difference, TreeVerdict, Verdict, VerifyOptions, verify};
pub use weigh::{BasketsOf, weigh};
