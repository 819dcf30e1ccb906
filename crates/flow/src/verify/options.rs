//! The options of a comparison.

use dataset::EntryFilter;
use dataset::glob::NameFilter;
use dataset::table::Join;
use rootfile::Follow;

use super::tolerance::Tolerances;
use crate::execute::budget::Budget;
use crate::keys::SortKey;
use crate::plan::options::PlanOptions;
use crate::select::Define;

/// The parts to compare, and the resources for it.
#[derive(Clone, Debug, Default)]
pub struct VerifyOptions {
    /// Only this tree of the first side, by its path, and nothing else.
    pub tree: Option<String>,
    /// Path of that tree on the second side, if not the same.
    pub second_tree: Option<String>,
    /// Branches to compare, on both sides.
    pub filter: NameFilter,
    /// Entries of the first side. The second side must have these and no others.
    pub entries: EntryFilter,
    /// Entries are compared with those of the same key, whatever their order, in tables that have its columns.
    pub by: Option<SortKey>,
    /// Columns that expressions define on the first side. The second side must have them, as columns with these values.
    pub defines: Vec<Define>,
    /// Compare only what both sides have: the second side was slimmed on purpose.
    pub common: bool,
    /// How the inputs of the first side were merged where their schemas differ.
    pub schema: Join,
    /// Whether their numbers of other types were joined in wider ones.
    pub widen: bool,
    /// How far addresses in the files are followed: those of baskets in other files.
    pub follow: Follow,
    /// By how much floating-point numbers may differ, where a table of either side is an RNTuple.
    pub tolerances: Tolerances,
    /// Memory and threads.
    pub budget: Budget,
}

impl VerifyOptions {
    /// How the inputs of the first side are joined.
    pub(super) fn joining(&self) -> PlanOptions {
        PlanOptions { schema: self.schema, widen: self.widen, ..PlanOptions::default() }
    }
}
