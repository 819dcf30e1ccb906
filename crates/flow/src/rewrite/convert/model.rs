//! The plan of a table whose entries are decoded and encoded again. Nothing is computed here.

use std::collections::HashSet;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::assemble::LogicalColumn;
use rootfile::codec::Compression;

use crate::arrow::read::Dataset;
use crate::arrow::shapes::Shape;
use crate::arrow::write::{AnyTable, NtupleTable, TreeTable};
use crate::execute::order::Order;
use crate::plan::ntuple::model::AttributePlan;
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
    /// Attribute sets of an RNTuple, which are copied.
    pub attributes: Option<(Arc<NtupleTable>, Vec<AttributePlan>)>,
    /// A tree with trees in its user info, and the file with their baskets.
    pub user_info: Option<(Arc<TreeTable>, Arc<dyn rootfile::Source>)>,
    pub selection: Option<EntrySet>,
    /// The rows of the output, if they are entries in another order, and the bounds of their clusters.
    pub order: Option<(Arc<Order>, Vec<u64>)>,
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

/// Columns that expressions define.
pub(crate) struct DefinedColumns {
    /// The columns that they need.
    pub dataset: Dataset,
    pub defined: Defined,
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
            Self::Whole { name, .. } | Self::Field { name, .. } => names.contains(name),
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
            Self::Defined { .. } => &[],
        }
    }
}
