//! Reads tables into Arrow: some entries of some columns of some files, on threads, within a [`Budget`](crate::Budget).
//!
//! A [`Dataset`] is a table of any container (`StoredTable`) over all its files: `trees` are the columns of a plan, `chain` has RNTuples.
//! Large columns of records are read in parts (`divided`). `tasks` deals out the requested pieces cluster by cluster, workers fetch and
//! open them, and each column's `column_sink` decodes them in their order. `dataset::decode` alone knows what a branch's bytes mean. The
//! budget is for reading; `column_groups` counts the arrays as well.

mod aliases;
mod batches;
mod chain;
mod column_groups;
mod column_sink;
mod cost;
mod dataset;
mod divided;
mod extents;
mod friends;
mod held;
mod in_turn;
mod joined;
mod joined_batches;
mod joined_named;
mod joined_part;
mod named_table;
mod open;
mod planned_columns;
mod remembered;
mod request;
mod run;
mod steps;
mod tasks;
mod trees;
mod values;

pub use batches::{BatchSize, Batches, batches};
pub(crate) use chain::{ChainPart, NtupleChain};
pub use column_groups::{ColumnGroup, CountedColumn, GivesWay, LeastMemory, column_groups};
pub use cost::ReadCost;
pub use dataset::{Dataset, Friend};
pub use joined::{JoinedTable, Joining};
pub use joined_batches::JoinedBatches;
pub use named_table::NamedTable;
pub(crate) use open::{find_table, mixed_containers};
pub use request::Request;
pub(crate) use run::least_memory;
pub use run::{Read, drain, read};
pub(crate) use steps::steps;
