//! Writes trees from columns: many threads fill one file, or several, inside one [`Budget`](crate::Budget).
//!
//! One way through: a [`ParallelWriter`] makes a tree of what a [`TreeSpec`] describes in the layout asked for; each
//! thread or task fills a [`FillContext`] of its own, which encodes entries, cuts baskets and compresses them; a whole
//! cluster goes to the one place that appends (`shared`), in the order of arrival or of tasks; and who is ahead waits at
//! the gate (`gate`) until there is memory again. What entries look like in baskets is known to `dataset::encode` alone.

pub(crate) mod baskets;
mod close;
mod cluster;
mod conform;
pub(crate) mod context;
mod gate;
mod line;
pub(crate) mod metrics;
mod output;
pub(crate) mod plan;
mod pool;
mod rows;
mod shared;
mod spares;
mod sync;
mod tasks;
mod together;
mod writer;

pub use conform::Casting;
pub use context::FillContext;
pub use metrics::{ContextMetrics, Metrics, Watch};
pub use plan::{TreeColumn, TreeSpec};
pub use pool::WritePool;
pub use rows::Rows;
pub use tasks::fill_tasks;
pub use writer::{AutoSave, Order, ParallelWriter, TreeId, WriteOptions, Written};
