//! Reports of a rewrite: what was done, or what would be done.

use crate::arrow::write::ExactColumns;
use crate::keys::{DuplicateKeys, UnsortedInput};
use crate::plan::forecast::Forecast;
use crate::plan::skipped::Skipped;
use crate::select::CutFlow;
use crate::table::depth::Depths;
use crate::verify::cycles::OlderCycle;
use dataset::layout::Container;
use objects::Damaged;
use rootfile::Hint;

/// What an update in place added to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Appended {
    /// Its size before.
    pub bytes_before: u64,
    /// Bytes that were written: new records, and what readers begin with.
    pub bytes_new: u64,
}

/// The report of a rewrite.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Summary {
    /// Bytes of all inputs.
    pub bytes_read: u64,
    /// Bytes of the output.
    pub bytes_written: u64,
    /// What was added to the output, if that was there and was updated in place.
    pub appended: Option<Appended>,
    /// Trees and RNTuples of the output.
    pub tables: Vec<TableSummary>,
    /// What the cuts left of the entries of each table.
    pub cut_flows: Vec<CutFlow>,
    /// The entries of each table that have the key of another, which are left out, where keys are to be unique.
    pub duplicates: Vec<DuplicateKeys>,
    /// The inputs that are not sorted by the key by which entries are written, each by its first entry that is before an earlier one.
    pub unsorted: Vec<UnsortedInput>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The notes about objects that were not merged, not carried over, or carried over with a loss.
    pub unmerged: Vec<String>,
    /// Inputs that were left out because they cannot be read.
    pub skipped: Vec<Skipped>,
    /// Older cycles of the inputs' trees.
    pub older_cycles: Vec<OlderCycle>,
    /// Damaged objects and directories of the other inputs, which are missing from the output.
    pub damaged: Vec<Damaged>,
    /// Paths of the output's directories, each before its content. The path of the top directory is empty.
    #[serde(skip)]
    pub directories: Vec<String>,
    /// Whether an input's header has another compression than the output's.
    #[serde(skip)]
    pub compressions_differ: bool,
}

impl Summary {
    /// Adds notes on what is lost.
    pub(crate) fn add_lost(&mut self, lost: Vec<String>) {
        self.unmerged.extend(lost.iter().cloned());
        self.notes.extend(lost);
    }

    /// Whether the output has everything that was requested.
    pub fn is_whole(&self) -> bool {
        self.skipped.is_empty() && self.damaged.is_empty()
    }
}

/// The report on one tree or RNTuple.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct TableSummary {
    /// Its path.
    pub path: String,
    /// Whether it is a tree or an RNTuple.
    pub container: Container,
    /// Entries of the inputs.
    pub input_entries: u64,
    /// Entries of the output.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Baskets; of an RNTuple its pages.
    pub baskets: u64,
    /// Bytes before compression; of a tree with the keys of its baskets, as ROOT counts (fTotBytes). Pages that share bytes count once.
    pub tot_bytes: u64,
    /// Bytes on disk; of a tree with the keys of its baskets (fZipBytes), of an RNTuple without the checksums of its pages.
    pub zip_bytes: u64,
    /// Bytes of these keys: `tot_bytes` without them are the contents of baskets.
    pub key_bytes: u64,
    /// Bytes of the checksums of an RNTuple's pages, which are on disk besides.
    pub checksum_bytes: u64,
    /// Clusters of columns by depth.
    pub depths: Depths,
    /// The columns for which `encoding = "exact"` is asked.
    pub exact: Option<ExactColumns>,
    /// How its entries got into another order than that of the inputs, if they did.
    pub order: Option<OrderSummary>,
    /// Clusters of a table that is encoded anew that ended early, since the memory budget had no room for more: with more memory the output has
    /// other clusters.
    pub clusters_cut: u64,
}

impl TableSummary {
    /// What a user is told.
    pub(crate) fn notes(&self) -> Vec<String> {
        let exact = self.exact.as_ref().map(ExactColumns::sentence);
        let order = self.order.and_then(OrderSummary::sentence);
        let (cut, all) = (self.clusters_cut, self.clusters);
        let memory = Hint::named("memory");
        let cut = (cut > 0 && self.order.is_some())
            .then(|| format!("{cut} of its {all} clusters end early for lack of memory, so they depend on {memory}"));
        let told = exact.into_iter().chain(order).chain(cut);
        told.map(|what| format!("{} {}: {what}", self.container.noun(), self.path)).collect()
    }
}

/// How the entries of a table got into another order than that of the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct OrderSummary {
    /// Whether its inputs, each of which is in this order, were merged in one pass: each is read once, from its first entry to its last, and
    /// no entry waits on disk.
    pub one_pass: bool,
    /// The memory with which they would have been merged in one pass, if that is what was missing, in bytes.
    pub one_pass_memory: Option<u64>,
}

impl OrderSummary {
    /// What a user is told.
    fn sentence(self) -> Option<String> {
        let memory = Hint::text("memory", format!("{}MB", self.one_pass_memory?.div_ceil(1_000_000)));
        Some(format!(
            "its inputs are sorted, but its entries went through a temporary file; with {memory} one pass would do"
        ))
    }
}

/// The forecast of a rewrite.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Outlook {
    /// Trees and RNTuples of the output.
    pub tables: Vec<Forecast>,
    /// What the cuts leave of the entries of each table.
    pub cut_flows: Vec<CutFlow>,
    /// The entries of each table that have the key of another, where keys are to be unique.
    pub duplicates: Vec<DuplicateKeys>,
    /// Bytes of their baskets, with keys, and of their pages, with checksums, now.
    pub bytes_before: u64,
    /// Expected bytes of their baskets, with keys, and of their pages, with checksums.
    pub bytes_after: u64,
    /// Bytes of all inputs.
    pub bytes_read: u64,
    /// Expected bytes of the output, with all metadata and objects.
    pub bytes_written: u64,
    /// In one case of twenty the expected bytes are wrong by more than this, as far as the samples tell; 0 where all was tried.
    pub uncertainty: u64,
    /// Bytes on disk that were tried, of those that are not copied.
    pub sampled: u64,
    /// The smallest memory budget possible.
    pub least_memory: u64,
    /// Largest memory that will be used, within the budget.
    pub memory: u64,
    /// Number of threads that fit into the budget.
    pub threads: usize,
}
