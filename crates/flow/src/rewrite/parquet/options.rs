//! The options of a conversion.

use dataset::glob::NameFilter;
use rootfile::Follow;

use crate::execute::budget::Budget;
use crate::execute::progress::Progress;
use crate::select::Choice;

/// The options of a conversion, in both directions.
#[derive(Clone)]
pub struct Conversion<'a> {
    /// The columns to convert.
    pub filter: NameFilter,
    /// The entries to convert.
    pub entries: Choice,
    /// How far addresses in ROOT files are followed: those of baskets in other files.
    pub follow: Follow,
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an existing output is replaced.
    pub overwrite: bool,
    /// Called with the number of bytes read.
    pub progress: Progress<'a>,
}
