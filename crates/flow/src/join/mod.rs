//! Joins tables by their keys: the columns of those on the right come beside those of the left one, entry by entry. The keys of all tables
//! are sorted together, which tells the partner of each left entry (`matching`); each table on the right is written in the order of the
//! left one into a file beside the output (`aligned`); and the rewrite of the left files takes its columns from there (`run`). `key` has the
//! columns of the key on both sides, `table` what is known of each table, `names` are those of the columns, `bounds` are of ranges of keys,
//! `report` is what is told.

mod aligned;
mod bounds;
mod key;
mod matching;
mod names;
mod report;
mod run;
mod table;

pub use bounds::{KeyRange, key_bounds};
pub use key::JoinKey;
pub use report::{How, Joined, JoinedTable, KeyedEntry, RenamedColumn};
pub use run::{JoinJob, join};
