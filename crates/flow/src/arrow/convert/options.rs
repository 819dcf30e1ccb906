//! The options of a conversion.

use dataset::Entries;
use dataset::glob::NameFilter;

use crate::execute::budget::Budget;
use crate::execute::progress::Progress;

/// The options of a conversion, in both directions.
#[derive(Clone)]
pub struct Conversion<'a> {
    /// The columns to convert.
    pub filter: NameFilter,
    /// The entries to convert.
    pub entries: Entries,
    /// The seed of a random share of entries.
    pub seed: u64,
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an existing output is replaced.
    pub overwrite: bool,
    /// Called with the number of bytes read.
    pub progress: Progress<'a>,
}
