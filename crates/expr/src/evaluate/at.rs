//! The entries that are evaluated together, and where errors in their values are.

use crate::entries::Entries;
use crate::error::Error;
use crate::typed::Typed;
use crate::values::Values;

/// Entries that are evaluated together, with the values of the columns.
pub(crate) struct Portion<'a> {
    pub columns: &'a [Values],
    pub rows: usize,
    pub entries: Entries<'a>,
}

/// Where errors in values are.
pub(crate) struct At<'a> {
    pub part: &'a Typed,
    pub portion: &'a Portion<'a>,
}

impl At<'_> {
    /// An error in the values of an entry, counted from the first of the portion.
    pub fn error(&self, row: usize, message: &str) -> Error {
        let entry = self.portion.entries.number(row);
        Error::values(format!("{message} in entry {entry}"), self.part.place.clone())
    }
}
