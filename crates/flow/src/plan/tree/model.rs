//! The request for the plan of a table, and the plan itself. Nothing is computed here.

use std::sync::Arc;

use dataset::EntrySet;
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::tree::Tree;
use rootfile::streamer::StreamerInfos;
use rootfile::{Key, Result, RootFile, Source};

use super::schema::Described;
use super::unequal::Gaps;
use crate::execute::engine::tree::recode_job::Recode;
use crate::plan::options::PlanOptions;
use crate::table::tree::column::Column;

/// A tree to join: the number of its input, the file, and the key.
pub(crate) type TreeInput = (usize, Arc<RootFile>, Key);

/// A request to plan a table.
pub(crate) struct TableRequest<'a> {
    /// The trees to join.
    pub inputs: &'a [TreeInput],
    /// Path of the tree in its file.
    pub path: &'a str,
    /// The requested layout.
    pub layout: &'a Layout,
    /// The requested branches.
    pub filter: &'a NameFilter,
    /// Selects entries, given their total number. All entries if not given.
    pub entries: Option<&'a dyn Fn(u64) -> Result<EntrySet>>,
    /// How the trees are joined.
    pub options: PlanOptions,
    /// What becomes of entries that a branch does not hold.
    pub gaps: Gaps,
}

impl TableRequest<'_> {
    /// Whether the output has all entries of one tree: then branches with fewer or more entries than the tree stay what they are.
    pub fn is_one_whole(&self) -> bool {
        self.inputs.len() == 1 && self.entries.is_none()
    }
}

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
    /// What the user is told about the plan.
    pub messages: PlanMessages,
    /// Memory of metadata while the job runs, in bytes.
    pub metadata: u64,
    /// Whether records may be copied. False if their keys have no room for positions beyond 2 GB.
    pub copies_fit: bool,
}

impl TablePlan {
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
    /// Notes on metadata that cannot be joined: index, table of references.
    pub lost: Vec<String>,
    /// Branches that are left out because the file with their baskets is absent, with the reason.
    pub absent: Vec<(String, String)>,
}
