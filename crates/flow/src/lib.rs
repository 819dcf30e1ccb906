//! Makes ROOT files out of ROOT files or Parquet files (rewrite, merge, recover, verify), and reads them into Arrow ([`read`]).
//!
//! The folders are stages, and each uses only those before it: `table` is the data that are moved, `commit` puts
//! records into the output, `execute` fetches, decodes and encodes within a [`Budget`], `plan` lays out the columns and
//! clusters of each table, `arrow` reads and writes columns in memory, `select` chooses entries, `keys` sorts them by their keys,
//! `reorder` puts them into another order, `survey` looks at many files, `verify` compares files, `rewrite` makes one file of several,
//! `gather` one of parts that arrive, `events` finds events by their keys, and `join` joins tables by them. A column is rewritten at the
//! shallowest depth that gives the requested layout.
#![warn(clippy::missing_errors_doc)]

mod arrow;
mod commit;
pub mod edit;
pub mod events;
mod execute;
pub mod gather;
pub mod join;
pub mod keys;
mod plan;
mod reorder;
mod rewrite;
mod select;
pub mod split;
pub mod survey;
mod table;
mod verify;

/// Tables to Parquet and back.
pub mod convert {
    pub use crate::plan::format::Format;
    pub use crate::rewrite::from_parquet::{FromParquet, from_parquet};
    pub use crate::rewrite::parquet::*;
}

pub use arrow::{read, write};
pub use dataset::table::Join;
pub use dataset::{Entries, EntryFilter, Slice, uniform};
pub use execute::allocator;
pub use execute::budget::{Budget, DEFAULT_MEMORY};
pub use execute::engine::tree::recode_job::Form;
pub use execute::progress::{Progress, tell, unwatched};
pub use objects::Damaged;
pub use plan::forecast::{ColumnForecast, Forecast, RecodeForecast};
pub use plan::inputs;
pub use plan::options::{Absent, Pack, PlanOptions};
pub use plan::skipped::Skipped;
pub use rewrite::execute::{rewrite, rewrite_staged, rewrite_table};
pub use rewrite::forecast::{forecast, forecast_within};
pub use rewrite::options::{
    BuildIndex, CompressionOptions, ContentOptions, Cycles, EntryOrder, GivenOrder, InputOptions, Listed, Options,
    SortBy, Unique,
};
pub use rewrite::recover;
pub use rewrite::summary::{OrderSummary, Outlook, Summary, TableSummary};
pub use select::{
    Choice, Chosen, Computed, CutFlow, CutStep, Define, Defined, DefinedSteps, EvaluatedRows, Given, Meaning,
    Remembering, Step, passable,
};
pub use table::depth::{Depth, Depths};
pub use verify::{
    ColumnError, CycleKind, Difference, OlderCycle, TableKind, Tolerance, Tolerances, TreeVerdict, Verdict,
    VerifyOptions, verify, verify_tables,
};
