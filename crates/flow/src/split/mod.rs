//! Splits a table of a file into several files: by numbers of entries, by bytes at the bounds of clusters, or by the values of a column.
//! The other objects of the file come along in the first part only, so that a merge of all parts has what the file has.

mod part;
mod parts;
mod report;
mod values;
mod write;

pub use parts::Rule;
pub use report::{SplitPart, SplitReport};
pub use write::{SplitOptions, split};
