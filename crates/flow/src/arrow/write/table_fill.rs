//! What a fill context fills: the baskets of a tree, or the pages of an RNTuple.

use std::ops::Range;

use rayon::ThreadPool;
use rootfile::{Error, Result};

use super::cluster_rule::FillLevel;
use super::finished_cluster::Content;
use super::ntuple_fill::NtupleFill;
use super::table_plan::{TableArrays, TablePlan};
use super::tree_fill::TreeFill;
use crate::execute::encode::scratch::EncodeScratchPool;

/// A table that is being filled, cluster by cluster.
#[derive(Debug)]
pub(crate) enum TableFill {
    Tree(TreeFill),
    Ntuple(NtupleFill),
}

impl TableFill {
    pub fn new(plan: &TablePlan) -> Self {
        match plan {
            TablePlan::Tree(plan) => Self::Tree(TreeFill::new(plan)),
            TablePlan::Ntuple(plan) => Self::Ntuple(NtupleFill::new(plan)),
        }
    }

    /// Adds the columns that a later plan of the table has. No entries of a cluster are in it.
    pub fn extend(&mut self, plan: &TablePlan) -> Result<()> {
        match (self, plan) {
            (Self::Tree(fill), TablePlan::Tree(plan)) => fill.extend(plan),
            (Self::Ntuple(fill), TablePlan::Ntuple(plan)) => fill.extend(plan),
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Leaves a fill of nothing in its place.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Tree(TreeFill::default()))
    }

    /// Adds entries, and makes the baskets or pages that they fill, with the threads of a team if there is one.
    pub fn fill(
        &mut self,
        plan: &TablePlan,
        (arrays, rows): (&TableArrays, Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        match (self, plan, arrays) {
            (Self::Tree(fill), TablePlan::Tree(plan), TableArrays::Branches(arrays)) => {
                fill.fill(plan, (arrays, rows), team, scratches)
            }
            (Self::Ntuple(fill), TablePlan::Ntuple(plan), TableArrays::Inputs(arrays)) => {
                fill.fill(plan, (arrays, rows), team, scratches)
            }
            _ => Err(mismatch()),
        }
    }

    /// Makes the last baskets or pages of a cluster.
    pub fn finish(&mut self, plan: &TablePlan, team: Option<&ThreadPool>, scratches: &EncodeScratchPool) -> Result<()> {
        match (self, plan) {
            (Self::Tree(fill), TablePlan::Tree(plan)) => fill.finish(plan, team, scratches),
            (Self::Ntuple(fill), TablePlan::Ntuple(_)) => fill.finish(team, scratches),
            _ => Err(mismatch()),
        }
    }

    /// Returns the content of a finished cluster with `entries`, and begins the next one.
    pub fn start_cluster(&mut self, plan: &TablePlan, (is_first, entries): (bool, u64)) -> Result<Content> {
        match (self, plan) {
            (Self::Tree(fill), TablePlan::Tree(plan)) => Ok(fill.start_cluster(plan, (is_first, entries))),
            (Self::Ntuple(fill), TablePlan::Ntuple(plan)) => Ok(fill.start_cluster(plan)),
            _ => Err(mismatch()),
        }
    }

    /// Bytes that the cluster holds.
    pub fn level(&self) -> FillLevel {
        match self {
            Self::Tree(fill) => fill.level(),
            Self::Ntuple(fill) => fill.level(),
        }
    }

    /// Bytes of its buffers.
    pub fn memory(&self) -> u64 {
        match self {
            Self::Tree(fill) => fill.memory(),
            Self::Ntuple(fill) => fill.memory(),
        }
    }

    /// Makes room for `ahead` entries like the `done` ones of this cluster.
    pub fn make_room(&mut self, done: u64, ahead: u64) {
        match self {
            Self::Tree(fill) => fill.make_room(done, ahead),
            Self::Ntuple(fill) => fill.make_room(done, ahead),
        }
    }

    /// Resets it for another task.
    pub fn reset(&mut self, plan: &TablePlan) {
        if let (Self::Tree(fill), TablePlan::Tree(plan)) = (self, plan) {
            fill.reset(plan);
        }
    }

    /// Frees its buffers.
    pub fn drop_buffers(&mut self) {
        match self {
            Self::Tree(fill) => fill.drop_buffers(),
            Self::Ntuple(fill) => fill.drop_buffers(),
        }
    }

    /// Takes the buffers of a cluster that was written.
    pub fn recycle(&mut self, content: Content) {
        match (self, content) {
            (Self::Tree(fill), Content::Baskets { chunks, .. }) => fill.recycle(chunks),
            (Self::Ntuple(fill), Content::Pages(columns)) => fill.recycle(columns),
            _ => {}
        }
    }
}

#[cold]
fn mismatch() -> Error {
    Error::unsupported("internal error: a plan of another table")
}
