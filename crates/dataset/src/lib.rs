//! Tables in files, which are trees (`TTree`), RNTuples, or of Parquet files: what their columns are, and how their entries are stored.
//!
//! | module | job |
//! |---|---|
//! | [`tree`] | the metadata of a tree: branches, leaves, baskets, clusters; reads, makes and writes them |
//! | [`decode`] | the entries of a branch as an Arrow array |
//! | [`read`] | reads a column from its file in one call |
//! | [`defaults`] | the bytes of entries that nobody filled |
//! | [`recast`] | the baskets of a branch in the form of another branch with the same values |
//! | [`encode`] | an Arrow array as the bytes of baskets |
//! | [`assemble`] | the branches of a split object as one column, and back |
//! | [`ntuple`] | RNTuples: metadata, pages, and the values of fields |
//! | [`table`] | a table of any container, for callers that need not know which |
//! | `parquet` | Parquet files as a container of tables (feature `parquet`) |
//! | [`layout`] | how entries are stored, and ROOT's rules for baskets and clusters |
//! | [`meaning`] | what the bytes of a branch mean, to be compared before bytes of several files are joined |
//! | [`glob`] | patterns for the names of trees and columns |
//!
//! Entries are rows, counted from 0. A basket is a record with consecutive entries of one branch. Sizes are bytes. The
//! crate starts no threads.
//!
//! # Example
//!
//! Open a file, list the columns of a tree, and read one into Arrow:
//!
//! ```
//! use arrow_array::cast::AsArray;
//! use arrow_array::types::Float32Type;
//! use dataset::decode::columns;
//! use dataset::read::read_column;
//! use dataset::tree::read_tree;
//! use rootfile::RootFile;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/events.root");
//! let file = RootFile::open(path)?;
//! let key = file.top().keys.iter().find(|key| key.name == "Events").ok_or("no tree of this name")?;
//! let tree = read_tree(&file, key)?;
//! assert_eq!(tree.entries, 4);
//!
//! let plans = columns(&tree, file.infos());
//! for plan in &plans {
//!     println!("{}: {}", plan.field().name(), plan.field().data_type());
//! }
//! let plan = plans.iter().find(|plan| plan.field().name() == "Muon_pt").ok_or("no column of this name")?;
//! let array = read_column(&file, &tree, plan, 0..tree.entries)?;
//! let muons = array.as_list::<i64>().value(0);
//! assert_eq!(muons.as_primitive::<Float32Type>().values(), &[31.5, 12.25]);
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! All functions fail with [`rootfile::Error`]. A branch that cannot be decoded is not an error: its column holds bytes,
//! and [`ColumnPlan::opaque`](decode::ColumnPlan::opaque) has the reason.

pub mod assemble;
pub mod codecs;
pub mod column_names;
pub mod decode;
mod default_array;
pub mod defaults;
pub mod encode;
mod entry_filter;
mod entry_set;
pub mod glob;
mod known_ends;
pub mod layout;
pub mod meaning;
pub mod near;
pub mod ntuple;
pub mod page_cache;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod precision;
pub mod read;
pub mod recast;
mod rounding;
pub mod table;
pub mod tree;
mod type_name;
mod widen;

pub use default_array::default_array;
pub use entry_filter::{Entries, EntryFilter, Slice, uniform};
pub use entry_set::{EntrySet, EntrySetBuilder};
