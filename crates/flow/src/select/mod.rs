//! Entry selection in trees: the entries that a [`dataset::EntryFilter`] names, and columns that are conditions
//! ([`predicate`]), become one set of entries for each tree ([`apply`]). The columns of an index are read here, too
//! ([`index_lines`]).

mod apply;
mod index_lines;
mod predicate;

pub(crate) use apply::{EntrySelection, SelectedTree, drop_misaligned_friends};
pub(crate) use index_lines::index_lines;
pub(crate) use predicate::{OpenColumns, SourceTree};
