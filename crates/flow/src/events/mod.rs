//! Events by their keys: an index of the entries of many files (`make_index`), which is a Parquet file of its own kind (`index_file`),
//! and the way from a list of events (`asked`, `event_list`; `entry_list` for those of ROOT) to the entries that have these keys (`hits`, by `search` or `lookup`), which a
//! rewrite of the files that have some writes (`pick`).

mod asked;
mod entry_list;
mod event_list;
mod hits;
mod index_file;
mod index_record;
mod lookup;
mod make_index;
mod pick;
mod picked_cost;
mod search;
mod split_list;

pub use make_index::{IndexChange, IndexJob, Indexed, index};
pub use pick::{PickJob, PickOrder, Picked, PickedEvent, pick};
pub use split_list::split_events;
