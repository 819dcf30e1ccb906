//! Entry selection: the entries that a [`dataset::EntryFilter`] names, and those that pass its cuts ([`cuts`]), become one set of
//! entries for each table ([`apply`]). [`computed`] gives the values of expressions. What only trees have is in [`tree`].

mod apply;
mod computed;
pub(crate) mod cut_flow;
mod cuts;
mod names;
mod source;
pub(crate) mod tree;

pub(crate) use apply::EntrySelection;
pub use computed::{Computed, Given, Step};
pub use cut_flow::{CutFlow, CutStep};
pub(crate) use source::{OpenColumns, SourceTree};
