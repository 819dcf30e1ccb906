//! Plans a tree: from the inputs' metadata and the requested layout to columns cut at clusters, before any entry is
//! touched.

pub(crate) mod attached;
mod builder;
mod clones;
pub(crate) mod clusters;
pub(crate) mod expected_places;
mod external_files;
pub(crate) mod forecast;
mod gaps;
mod join;
pub(crate) mod kept;
mod memory;
pub(crate) mod model;
mod objects;
mod optimise;
mod precision;
mod recode;
mod reconcile;
mod relations;
pub(crate) mod schema;
mod streaming;
mod table;
mod unequal;
mod versions;
pub(crate) mod view;
mod widen;

pub(crate) use builder::holds_entries;
pub(crate) use model::TablePlan;
pub(crate) use precision::{is_of_trees, top_of};
pub(crate) use recode::class_of;
pub(crate) use relations::MakeIndex;
pub(crate) use streaming::current_streaming;
pub(crate) use table::{TablePlanner, plan_indexed_table, plan_table};
pub(crate) use unequal::Gaps;
pub(crate) use view::{Reason, View};
