//! The plan of a table whose entries are decoded and encoded again. Nothing is computed here.

use std::collections::HashSet;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::assemble::LogicalColumn;
use rootfile::codec::Compression;

use super::ntuple::beside::BesideColumns;
use crate::arrow::read::Dataset;
use crate::arrow::shapes::Shape;
use crate::arrow::write::{AnyTable, NtupleTable, TreeTable};
use crate::execute::order::Order;
use crate::plan::ntuple::model::AttributePlan;
use crate::reorder::merge::MergeSteps;
use crate::select::Defined;

/// The plan of a table whose entries are decoded and encoded again.
pub(crate) struct ConvertPlan {
    pub dataset: Dataset,
    /// The columns that are read.
    pub read: Vec<usize>,
    /// The compression that the layout gives to each of them.
    pub compressions: Vec<Compression>,
    /// The columns of a batch for the writer.
    pub columns: Vec<BatchColumn>,
    pub table: Arc<dyn AnyTable>,
    /// Columns that are defined, and where their values come from.
    pub defined: Option<DefinedColumns>,
    /// Tables whose columns come beside its own.
    pub beside: Vec<BesideColumns>,
    /// Attribute sets of an RNTuple, which are copied.
    pub attributes: Option<(Arc<NtupleTable>, Vec<AttributePlan>)>,
    /// A tree with trees in its user info, and the file with their baskets.
    pub user_info: Option<(Arc<TreeTable>, Arc<dyn rootfile::Source>)>,
    pub selection: Option<EntrySet>,
    /// The rows of the output, if they are entries in another order, and the bounds of their clusters.
    pub order: Option<(Arc<Order>, Vec<u64>)>,
    /// The entries of which rows are made that are merged in one pass, if not all.
    pub ordered: Option<EntrySet>,
    /// How rows are merged in one pass, once that is decided.
    pub merge: Option<ConvertMerge>,
    /// Whether the clusters of the source are those of the output: only memory divides them further.
    pub keeps_clusters: bool,
    /// The bounds of the steps in which entries are read.
    pub steps: Vec<u64>,
    /// Bytes of the arrays of one step.
    pub step_bytes: u64,
    /// Memory that is always kept for the cluster that is filled, in bytes.
    pub least_cluster: u64,
    /// Bytes of pieces that several steps use and that are kept.
    pub kept: u64,
    /// Memory of metadata while entries are written, in bytes.
    pub metadata: u64,
    /// Largest buffers that one thread needs, in bytes.
    pub scratch: u64,
}

/// Rows that are merged of sources which have theirs in the order of the output.
pub(crate) struct ConvertMerge {
    pub steps: MergeSteps,
    /// The bounds of the clusters of the output.
    pub bounds: Vec<u64>,
    pub windows: ConvertWindows,
}

/// What is read at a time of each source.
pub(crate) struct ConvertWindows {
    /// The bounds of it, in entries.
    pub windows: Vec<Vec<u64>>,
    /// Bytes of baskets that several parts of a source use and that are kept.
    pub kept: Vec<u64>,
}

/// Columns that expressions define.
pub(crate) struct DefinedColumns {
    /// The columns that they need.
    pub dataset: Dataset,
    pub defined: Defined,
}

/// Columns that are none of the table that is read.
#[derive(Default)]
pub(crate) struct FurtherColumns {
    pub defined: Option<DefinedColumns>,
    pub beside: Vec<BesideColumns>,
}

impl FurtherColumns {
    /// Whether there is one.
    pub fn any(&self) -> bool {
        self.defined.is_some() || !self.beside.is_empty()
    }
}

/// A column of a batch: a name that the writer knows, and where its values come from.
pub(crate) enum BatchColumn {
    /// A column of a tree, assembled from its branches.
    Whole {
        name: String,
        /// For each branch its place among the columns that are read.
        parts: Vec<usize>,
        /// The branches, among these, with fUniqueID and fBits of `TObject`s: fields have none.
        numbers: Vec<usize>,
        whole: LogicalColumn,
    },
    /// A field of an RNTuple.
    Field {
        name: String,
        /// Its place among the columns that are read.
        place: usize,
        /// The member of the records in its lists that is taken, if not all are.
        member: Option<String>,
    },
    /// A column of arrays, which may become several.
    Shaped {
        /// Its place among the columns that are read.
        place: usize,
        shape: Shape,
        /// What missing numbers become; an error without it.
        fill: Option<f64>,
    },
    /// A column of a table beside.
    Beside {
        name: String,
        /// The number of the table.
        table: usize,
        /// Its place among the columns that are read there.
        place: usize,
    },
    /// A column that is defined.
    Defined {
        /// Its place among these.
        place: usize,
        shape: Shape,
    },
}

impl BatchColumn {
    /// Whether the writer knows it, or one of those that it becomes, by one of these names.
    pub fn is_one_of(&self, names: &HashSet<String>) -> bool {
        match self {
            Self::Whole { name, .. } | Self::Field { name, .. } | Self::Beside { name, .. } => names.contains(name),
            Self::Shaped { shape, .. } | Self::Defined { shape, .. } => {
                shape.fields.iter().any(|field| names.contains(field.name()))
            }
        }
    }

    /// The places of what it is made of, among the columns that are read.
    pub fn places(&self) -> &[usize] {
        match self {
            Self::Whole { parts, .. } => parts,
            Self::Field { place, .. } | Self::Shaped { place, .. } => std::slice::from_ref(place),
            Self::Beside { .. } | Self::Defined { .. } => &[],
        }
    }
}
