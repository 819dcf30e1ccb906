//! Entry selection in trees: the entries that a [`dataset::EntryFilter`] names, and columns that are conditions
//! ([`predicate`]), become one set of entries for each tree ([`apply`]).

mod apply;
mod predicate;

pub(crate) use apply::{EntrySelection, drop_misaligned_friends};
pub(crate) use predicate::SourceTree;
