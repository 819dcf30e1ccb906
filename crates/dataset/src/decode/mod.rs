//! Decoding: the branches of a tree as Arrow arrays.
//!
//! A [`ColumnPlan`] is made once for a branch, from the tree's metadata and the streamer infos. A [`ColumnBuilder`] runs
//! the plan over baskets and writes straight into the final Arrow buffers. A branch that cannot be decoded becomes a
//! column of bytes with the reason. The caller fetches and decompresses baskets.
//!
//! | folder | job |
//! |---|---|
//! | `program` | the decode program of a branch as data: shapes, operations, class readers |
//! | `plan` | the planner: from leaves and streamer infos to a program |
//! | `run` | the interpreter: a program run over the bytes of baskets |
//!
//! [`single`] decodes single values outside of trees with the same programs.

mod builder;
mod column_plan;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod run;
pub mod single;

pub use self::builder::ColumnBuilder;
pub use self::column_plan::{ColumnPlan, column_branches, columns};
