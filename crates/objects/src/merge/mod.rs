//! The merging of equal-named objects: which classes are merged ([`rules`]), one object with the next ([`Merger`]), and
//! a module for each kind of class.

mod collection;
mod entry_lists;
mod graph;
mod hist;
mod import;
mod members;
mod merger;
mod nd;
mod pair;
mod parameter;
mod polygons;
mod rules;
mod statistic;

pub use entry_lists::{SelectedEntries, is_entry_list, selected_entries};
pub use hist::{Histogram, HistogramAxis, is_histogram};
pub use merger::{Input, Merger};
pub use pair::Note;
pub(crate) use rules::MergeRule;
