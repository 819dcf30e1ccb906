//! The plan of a table to write: of a tree, or of an RNTuple.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::FieldRef;
use dataset::layout::Container;
use rootfile::{Error, Result};

use super::cluster_rule::ClusterRule;
use super::column_arrays::{branch_arrays, column_of};
use super::conform::Casting;
use super::default_baskets::default_baskets;
use super::input_arrays::input_arrays;
use super::ntuple_plan::NtuplePlan;
use super::tree_plan::TreePlan;
use crate::execute::encode::scratch::EncodeScratchPool;

/// The plan of a table to write.
#[derive(Debug)]
pub(crate) enum TablePlan {
    Tree(TreePlan),
    Ntuple(NtuplePlan),
}

/// The arrays of a batch of entries, as a plan takes them.
pub(crate) enum TableArrays {
    /// One for each branch.
    Branches(Vec<ArrayRef>),
    /// One for each input.
    Inputs(Vec<Option<ArrayRef>>),
}

impl TablePlan {
    pub fn container(&self) -> Container {
        match self {
            Self::Tree(_) => Container::Ttree,
            Self::Ntuple(_) => Container::Rntuple,
        }
    }

    /// Where clusters end.
    pub fn cluster_rule(&self) -> ClusterRule {
        match self {
            Self::Tree(plan) => ClusterRule::new(plan.cluster, u64::MAX),
            Self::Ntuple(plan) => ClusterRule::new(plan.cluster, plan.unzipped_cluster),
        }
    }

    /// Names and types of the columns. Columns that only count others may be left out of a batch.
    pub fn fields(&self) -> Box<dyn Iterator<Item = &FieldRef> + '_> {
        match self {
            Self::Tree(plan) => Box::new(plan.fields()),
            Self::Ntuple(plan) => Box::new(plan.fields()),
        }
    }

    /// The columns of a batch, found by name and brought to their types.
    pub fn arrays(&self, batch: &RecordBatch, casting: Casting) -> Result<TableArrays> {
        Ok(match self {
            Self::Tree(plan) => TableArrays::Branches(branch_arrays(plan, batch, casting)?),
            Self::Ntuple(plan) => TableArrays::Inputs(input_arrays(plan, batch, casting)?),
        })
    }

    /// Makes it the extension of another plan by the columns behind those.
    pub fn extend(&mut self, before: &Self) -> Result<()> {
        match (self, before) {
            (Self::Tree(plan), Self::Tree(before)) => plan.extend(before),
            (Self::Ntuple(plan), Self::Ntuple(before)) => plan.extend(before),
            _ => Err(Error::unsupported("internal error: an extension of another table")),
        }
    }

    /// Checks that the columns which another plan lacks can have defaults: what entries before them have.
    pub fn check_defaults(&self, before: &Self, scratches: &EncodeScratchPool) -> Result<()> {
        match (self, before) {
            (Self::Tree(plan), Self::Tree(before)) => {
                default_baskets(plan, (before.branches.len(), 1), scratches, &mut |_| Ok(()))
            }
            (Self::Ntuple(plan), Self::Ntuple(before)) => plan.check_zeros(before.rules.len()),
            _ => Ok(()),
        }
    }

    /// Whether a batch has one of the columns that another plan of the table lacks.
    pub fn has_late(&self, before: &Self, batch: &RecordBatch) -> bool {
        let mut late = self.fields().skip(before.fields().count());
        late.any(|field| column_of(batch, usize::MAX, field.name()).is_some())
    }

    /// Branches or columns: each takes memory.
    pub fn streams(&self) -> u64 {
        let streams = match self {
            Self::Tree(plan) => plan.branches.len(),
            Self::Ntuple(plan) => plan.rules.len(),
        };
        streams as u64
    }

    /// Whether buffers of written clusters serve again. Trees with one basket per cluster make baskets only at the end of a cluster.
    pub fn reuses_buffers(&self) -> bool {
        match self {
            Self::Tree(plan) => !plan.one_per_cluster(),
            Self::Ntuple(_) => true,
        }
    }
}
