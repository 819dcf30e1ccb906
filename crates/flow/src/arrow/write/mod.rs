//! Writes trees and RNTuples from columns: many threads fill one file, or several, inside one [`Budget`](crate::Budget).
//!
//! A [`ParallelWriter`] makes a tree of a [`TreeSpec`], or an RNTuple of an [`NtupleSpec`], in the requested layout. Each thread or task
//! fills a [`FillContext`] of its own, which encodes entries, cuts baskets or pages and compresses them. Finished clusters go to the
//! `committer`, which appends them in the order of arrival or of tasks. The `memory_limiter` makes contexts wait until there is memory.
//! `dataset::encode` alone knows the bytes of entries.

mod ahead;
mod any_table;
mod at_once;
mod batch_columns;
mod buffer_pool;
mod cluster_rule;
mod commit_order;
mod commit_state;
mod committer;
mod conform;
mod exact;
mod fill_context;
mod fill_tasks;
mod finished_cluster;
mod format;
mod memory_limiter;
mod metrics;
mod ntuple;
mod options;
mod output;
mod record_parts;
mod refusal;
mod rows;
mod spill;
mod sync;
mod table;
mod table_fill;
mod table_pass;
mod table_source;
mod table_writer;
mod tree;
mod write_pool;
mod writer;
mod written;

pub use crate::execute::encode::clocks::ContextMetrics;
pub use ahead::Ahead;
pub(crate) use any_table::AnyTable;
pub use conform::Casting;
pub use exact::{ExactColumns, NarrowColumn};
pub use fill_context::FillContext;
pub use fill_tasks::fill_tasks;
pub use metrics::{Metrics, Watch};
pub use ntuple::plan::NtupleSpec;
pub(crate) use ntuple::plan::{NtuplePlan, encodings};
pub use options::{AutoSave, Order, WriteOptions, WritePlace};
pub use output::NewObject;
pub use record_parts::{flat_records, record_parts};
pub use rows::Rows;
pub(crate) use table_pass::TablePass;
pub(crate) use table_source::{NtupleTable, TableSource, TreeTable};
pub(crate) use table_writer::TableWriter;
pub(crate) use tree::plan::TreePlan;
pub use tree::plan::{TreeColumn, TreeSpec};
pub use write_pool::{LentThread, WritePool};
pub use writer::{ParallelWriter, TableId};
pub use written::Written;
