//! Plans a table: from the inputs' metadata and the asked layout to columns cut at clusters, before any entry
//! is touched.

pub(crate) mod clusters;
mod external;
mod join;
mod memory;
mod optimise;
mod predict;
mod recode;
mod relations;
pub(crate) mod schema;
mod streaming;
mod table;

pub(crate) use predict::forecast;
pub use predict::{ColumnForecast, Forecast, RecodeForecast};
pub(crate) use recode::{View, Why, class_of};
pub(crate) use streaming::found as streaming_found;
pub(crate) use table::{TablePlan, TableRequest, holds_entries, plan_table, plan_table_of};
