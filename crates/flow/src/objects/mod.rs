//! Everything in files that is no tree: which objects of the inputs become which objects of the output, and the
//! merging of histograms, profiles, graphs, parameters and lists as `hadd` merges them.
//!
//! [`plan_objects`] looks at keys only; [`ObjectPlan::write`] then holds one merged object in memory at a time.
//! What ROOT would merge and basketry cannot is kept whole and reported, never dropped in silence. Trees are
//! listed in the plan and left to others.

mod classes;
mod collection;
pub(crate) mod damage;
mod entries;
mod graph;
mod hist;
mod merge;
mod nd;
mod order;
mod parameter;
pub mod pids;
pub(crate) mod plan;
mod poly;
mod rewrite;
mod statistic;
mod values;
mod write;

pub use damage::Damaged;
pub use merge::{Input, Merger, Note};
pub use plan::{Action, Entry, ObjectPlan, OutDirectory, Part, plan_objects, plan_what_is_sound};
pub use write::{Pack, Problem, Written};
