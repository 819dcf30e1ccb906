//! Writes trees from columns: many threads fill one file, or several, inside one [`Budget`](crate::Budget).
//!
//! A [`ParallelWriter`] makes a tree of a [`TreeSpec`] in the requested layout; each thread or task fills a [`FillContext`]
//! of its own, which encodes entries, cuts baskets and compresses them; finished clusters go to the `committer`, which
//! appends them in the order of arrival or of tasks; the `memory_limiter` makes contexts wait until there is memory.
//! `dataset::encode` alone knows the bytes of entries.

mod buffer_pool;
mod cluster_rule;
mod column_arrays;
mod commit_order;
mod committer;
mod conform;
mod context_buffers;
mod fill_context;
mod fill_tasks;
mod finish_trees;
mod finished_cluster;
mod memory_limiter;
mod metrics;
mod open_tree;
mod options;
mod output;
mod rows;
mod sync;
mod tree_plan;
mod write_pool;
mod writer;
mod written;

pub use crate::execute::encode::clocks::ContextMetrics;
pub use conform::Casting;
pub use fill_context::FillContext;
pub use fill_tasks::fill_tasks;
pub use metrics::{Metrics, Watch};
pub use options::{AutoSave, Order, WriteOptions};
pub use rows::Rows;
pub use tree_plan::{TreeColumn, TreeSpec};
pub use write_pool::WritePool;
pub use writer::{ParallelWriter, TreeId};
pub use written::Written;
