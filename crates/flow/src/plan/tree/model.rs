//! The plan of a tree. Nothing is computed here.

use std::sync::Arc;

use dataset::EntrySet;
use dataset::tree::Tree;
use rootfile::Source;
use rootfile::streamer::StreamerInfos;

use super::attached::AliasConflicts;
use super::schema::Described;
use crate::execute::engine::tree::recode_job::Recode;
use crate::execute::order::Order;
use crate::table::tree::column::Column;

/// The plan of a table.
pub(crate) struct TablePlan {
    /// Metadata of the output. Baskets and counts are those of the first input.
    pub tree: Tree,
    /// The descriptions of the classes in its entries.
    pub infos: StreamerInfos,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Columns of the inputs that are recoded.
    pub recodes: Vec<Recode>,
    /// Its clusters.
    pub clusters: OutputClusters,
    /// The files of the pieces.
    pub files: Vec<Arc<dyn Source>>,
    /// The number of the input of each of these files.
    pub file_inputs: Vec<usize>,
    /// Entries of each input.
    pub input_entries: Vec<u64>,
    /// The selected entries, if not all.
    pub selected: Option<Arc<EntrySet>>,
    /// The rows of the output, if they are entries in another order: of those that the columns have.
    pub order: Option<Arc<Order>>,
    /// What the user is told about the plan.
    pub messages: PlanMessages,
    /// Memory of metadata while the job runs, in bytes.
    pub metadata: u64,
    /// Whether records may be copied. False if their keys have no room for positions beyond 2 GB.
    pub copies_fit: bool,
}

impl TablePlan {
    /// Entries of the output.
    pub fn entries(&self) -> u64 {
        let selected = || self.selected.as_ref().map(|selected| selected.len());
        let ordered = self.order.as_ref().map(|order| order.rows());
        ordered.or_else(selected).unwrap_or_else(|| self.input_entries.iter().sum())
    }

    /// Its tree, with the descriptions of its classes.
    pub fn described(&self) -> Described<'_> {
        Described { tree: &self.tree, infos: &self.infos }
    }
}

/// The clusters of the output.
pub(crate) struct OutputClusters {
    /// First entry of each cluster, and at the end the number of entries.
    pub bounds: Vec<u64>,
    /// Whether each cluster is packed from several.
    pub packed: Vec<bool>,
}

/// What the user is told about a plan.
#[derive(Default)]
pub(crate) struct PlanMessages {
    /// Notes.
    pub notes: Vec<String>,
    /// Files that are read, and are outside of the folders of the inputs that name them.
    pub remarks: Vec<String>,
    /// Notes on metadata that cannot be joined: index, table of references, and what only later inputs have.
    pub lost: Vec<String>,
    /// Branches that are left out because the file with their baskets is absent, with the reason.
    pub absent: Vec<(String, String)>,
    /// Aliases that not all inputs have alike.
    pub alias_conflicts: AliasConflicts,
}
