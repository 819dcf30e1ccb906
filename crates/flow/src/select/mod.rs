//! Entry selection: the entries that a [`dataset::EntryFilter`] names, and columns that are conditions
//! ([`predicate`]), become one set of entries for each table ([`apply`]). What only trees have is in [`tree`].

mod apply;
mod predicate;
pub(crate) mod tree;

pub(crate) use apply::EntrySelection;
pub(crate) use predicate::{OpenColumns, SourceTree};
