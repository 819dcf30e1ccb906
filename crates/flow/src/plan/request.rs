//! The request for the plan of a table, of any container.

use std::sync::Arc;

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use rootfile::{Key, Result, RootFile};

use super::options::PlanOptions;
use crate::execute::order::Order;
use crate::table::tree::added::AddedBranches;

/// A table to join: the number of its input, the file, and the key.
pub(crate) type TableInput = (usize, Arc<RootFile>, Key);

/// Selects entries, given their total number. All entries if not given.
pub(crate) type Select<'a> = Option<&'a dyn Fn(u64) -> Result<EntrySet>>;

/// A request to plan a table.
#[derive(Clone, Copy)]
pub(crate) struct TableRequest<'a> {
    /// The tables to join. None, if their columns are open already.
    pub inputs: &'a [TableInput],
    /// Path of the table in its file.
    pub path: &'a str,
    /// The requested layout.
    pub layout: &'a Layout,
    /// The requested columns.
    pub filter: &'a NameFilter,
    /// The requested entries.
    pub entries: Select<'a>,
    /// How the tables are joined.
    pub options: PlanOptions,
    /// Branches that trees have besides those in their records.
    pub added: Option<&'a AddedBranches>,
    /// The rows of the output, if these are not the requested entries in their order. It goes before what entries are requested.
    pub order: Option<&'a Arc<Order>>,
}

impl TableRequest<'_> {
    /// Whether the output has all entries of one table: then branches with fewer or more entries than their tree stay what they are.
    pub fn is_one_whole(&self) -> bool {
        self.inputs.len() == 1 && self.entries.is_none() && self.order.is_none()
    }
}
