//! What a rewrite or merge is asked to do.

use std::ops::Range;

use dataset::glob::NameFilter;
use dataset::layout::Layout;

use crate::budget::Budget;

/// What is done where the trees to be merged have different branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schema {
    /// Refused, with the list of differences.
    #[default]
    Strict,
    /// Only branches that all have are kept.
    Common,
    /// What an input lacks is filled with defaults.
    Fill,
}

/// What a rewrite or merge is asked to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The asked layout; what it leaves open stays as it is.
    pub layout: Layout,
    /// Branches to keep or drop.
    pub filter: NameFilter,
    /// Entries to keep, of all trees.
    pub entries: Option<Range<u64>>,
    /// Only this tree, by its path.
    pub tree: Option<String>,
    /// Clusters smaller than this are put together with their neighbours, in bytes.
    pub pack: Option<u64>,
    /// What is done where schemas differ.
    pub schema: Schema,
    /// Memory and threads.
    pub budget: Budget,
    /// Whether an output that exists may be replaced.
    pub overwrite: bool,
}
