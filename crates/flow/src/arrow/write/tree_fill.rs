//! What a fill context fills of a tree: the baskets of its branches.

use std::ops::Range;

use arrow_array::{Array, ArrayRef};
use dataset::layout::optimize_baskets;
use rayon::ThreadPool;
use rootfile::Result;

use super::cluster_rule::FillLevel;
use super::finished_cluster::Content;
use super::tree_plan::TreePlan;
use crate::execute::encode::branch_fill::BranchFill;
use crate::execute::encode::maximum::largest_value;
use crate::execute::encode::parallel_encode;
use crate::execute::encode::scratch::{EncodeScratch, EncodeScratchPool};
use crate::table::chunk::Chunk;

/// The branches of a tree that are being filled.
#[derive(Debug, Default)]
pub(crate) struct TreeFill {
    branches: Vec<BranchFill>,
    /// The largest value of each branch that counts others.
    maxima: Vec<u64>,
}

impl TreeFill {
    pub fn new(plan: &TreePlan) -> Self {
        let branches = plan.branches.iter().enumerate().map(|(column, plan)| BranchFill::new(column, plan)).collect();
        Self { branches, maxima: vec![0; plan.branches.len()] }
    }

    /// Adds the branches that a later plan has.
    pub fn extend(&mut self, plan: &TreePlan) {
        let late = plan.branches.iter().enumerate().skip(self.branches.len());
        self.branches.extend(late.map(|(column, plan)| BranchFill::new(column, plan)));
        self.maxima.resize(plan.branches.len(), 0);
    }

    /// Adds entries: the rows of one array for each branch.
    pub fn fill(
        &mut self,
        plan: &TreePlan,
        (arrays, rows): (&[ArrayRef], Range<usize>),
        team: Option<&ThreadPool>,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        if let Some(team) = team {
            let (branches, scratches) = (&mut self.branches, (self.maxima.as_mut_slice(), scratches));
            return parallel_encode::fill(team, branches, &plan.branches, (arrays, rows), scratches);
        }
        let jobs = self.branches.iter_mut().zip(plan.branches.iter().zip(arrays)).zip(&mut self.maxima);
        let fill = |scratch: &mut EncodeScratch| {
            for ((fill, (plan, array)), maximum) in jobs {
                fill.fill(plan, array, rows.clone(), scratch).map_err(|e| e.object(format!("branch {}", plan.name)))?;
                if plan.counts {
                    *maximum = (*maximum).max(largest_value(&array.slice(rows.start, rows.len())));
                }
            }
            Ok(())
        };
        scratches.clocks.encode(|| scratches.with(fill))
    }

    /// Ends the last basket of each branch.
    pub fn finish(&mut self, plan: &TreePlan, team: Option<&ThreadPool>, scratches: &EncodeScratchPool) -> Result<()> {
        if let Some(team) = team {
            return parallel_encode::finish_baskets(team, &mut self.branches, &plan.branches, scratches);
        }
        let mut pairs = self.branches.iter_mut().zip(&plan.branches);
        let finish = |scratch: &mut EncodeScratch| pairs.try_for_each(|(fill, plan)| fill.finish_basket(plan, scratch));
        scratches.clocks.encode(|| scratches.with(finish))
    }

    /// Returns the finished baskets of a cluster with `entries`, and begins the next cluster. After the first one of a context, memory
    /// is distributed among the branches.
    pub fn start_cluster(&mut self, plan: &TreePlan, (is_first, entries): (bool, u64)) -> Content {
        let memory = plan.basket_memory.filter(|_| is_first);
        let raw = self.level().raw;
        let (mut figures, mut chunks) = (Vec::new(), Vec::with_capacity(plan.branches.len()));
        for (fill, plan) in self.branches.iter_mut().zip(&plan.branches) {
            if memory.is_some() {
                figures.push(fill.figures(plan));
            }
            chunks.push(fill.start_cluster(plan));
        }
        if let Some(memory) = memory {
            let sizes = optimize_baskets(&figures, raw, Some(entries), memory, 1.0);
            for (fill, size) in self.branches.iter_mut().zip(sizes) {
                fill.set_basket_size(size.basket_size);
            }
        }
        Content::Baskets { chunks, maxima: self.maxima.clone() }
    }

    pub fn level(&self) -> FillLevel {
        let written = self.branches.iter().map(BranchFill::written);
        let (raw, packed) = written.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        FillLevel { raw, packed, pending: self.branches.iter().map(BranchFill::pending).sum() }
    }

    pub fn make_room(&mut self, done: u64, ahead: u64) {
        self.branches.iter_mut().for_each(|fill| fill.make_room(done, ahead));
    }

    pub fn memory(&self) -> u64 {
        self.branches.iter().map(BranchFill::memory).sum()
    }

    /// Resets it for another task.
    pub fn reset(&mut self, plan: &TreePlan) {
        self.branches.iter_mut().zip(&plan.branches).for_each(|(fill, plan)| fill.reset(plan));
        self.maxima.fill(0);
    }

    pub fn drop_buffers(&mut self) {
        self.branches.iter_mut().for_each(BranchFill::drop_buffers);
    }

    pub fn recycle(&mut self, chunks: Vec<Chunk>) {
        self.branches.iter_mut().zip(chunks).for_each(|(fill, chunk)| fill.recycle(chunk));
    }
}
