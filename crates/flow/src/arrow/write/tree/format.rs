//! Trees as a format of the writer.

use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use dataset::assemble::LogicalColumn;
use dataset::layout::{Container, optimize_baskets};
use dataset::tree::Tree;
use rootfile::{Error, Result};

use super::arrays::branch_arrays;
use super::default_baskets::default_baskets;
use super::output::{OpenTree, TreeCluster};
use super::plan::TreePlan;
use crate::arrow::write::cluster_rule::ClusterRule;
use crate::arrow::write::conform::Casting;
use crate::arrow::write::format::{ClusterEnd, TableFormat};
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::stream_fill::{Arrays, StreamFill};
use crate::execute::encode::tree::branch_fill::BranchFill;
use crate::execute::encode::tree::branch_plan::BranchPlan;
use crate::table::tree::new_index::{MakeTreeIndex, put_index};

/// The format of trees.
pub(crate) struct TreeFormat;

impl TableFormat for TreeFormat {
    const CONTAINER: Container = Container::Ttree;
    const IS_COMPRESSED: bool = true;

    type Plan = TreePlan;
    type Record = Tree;
    type Stream = BranchFill;
    type Content = TreeCluster;
    type Open = OpenTree;

    fn cluster_rule(plan: &TreePlan) -> ClusterRule {
        ClusterRule::new(plan.cluster, u64::MAX)
    }

    fn fields(plan: &TreePlan) -> Box<dyn Iterator<Item = &FieldRef> + '_> {
        Box::new(plan.wholes.iter().map(LogicalColumn::field))
    }

    fn arrays(plan: &TreePlan, batch: &RecordBatch, casting: Casting) -> Result<Box<Arrays>> {
        branch_arrays(plan, batch, casting)
    }

    fn extend(plan: &mut TreePlan, before: &TreePlan) -> Result<()> {
        // The first branches are those of the other plan.
        let branches = |plan: &TreePlan| -> Vec<(usize, String, bool)> {
            let branches = plan.branches.iter().take(before.branches.len());
            branches.map(|branch| (branch.branch, branch.name.clone(), branch.counts)).collect()
        };
        if branches(before) == branches(plan) {
            return Ok(());
        }
        Err(Error::request("the new columns would change branches that have entries"))
    }

    fn check_defaults(plan: &TreePlan, before: &TreePlan, scratches: &EncodeScratchPool) -> Result<()> {
        default_baskets(plan, (before.branches.len(), 1), scratches, &mut |_| Ok(()))
    }

    fn width(plan: &TreePlan) -> u64 {
        plan.branches.len() as u64
    }

    fn reuses_buffers(plan: &TreePlan) -> bool {
        // Otherwise baskets are made only at the end of a cluster.
        !plan.one_per_cluster()
    }

    fn streams(plan: &TreePlan) -> &[BranchPlan] {
        &plan.branches
    }

    fn streams_from(plan: &TreePlan, first: usize) -> impl Iterator<Item = BranchFill> {
        plan.branches.iter().enumerate().skip(first).map(|(column, plan)| BranchFill::new(column, plan))
    }

    fn put_index(tree: &mut Tree, make: MakeTreeIndex<'_>) -> Result<u64> {
        put_index(tree, make)
    }

    /// After the first cluster of a context, memory is distributed among the branches.
    fn start_cluster(branches: &mut [BranchFill], plan: &TreePlan, cluster: ClusterEnd) -> TreeCluster {
        let memory = plan.basket_memory.filter(|_| cluster.is_first);
        let raw = branches.iter().map(|fill| fill.written().0).sum();
        let (mut figures, mut chunks) = (Vec::new(), Vec::with_capacity(plan.branches.len()));
        for (fill, plan) in branches.iter_mut().zip(&plan.branches) {
            if memory.is_some() {
                figures.push(fill.figures(plan));
            }
            chunks.push(fill.start_cluster(plan));
        }
        if let Some(memory) = memory {
            let sizes = optimize_baskets(&figures, raw, Some(cluster.entries), memory, 1.0);
            for (fill, size) in branches.iter_mut().zip(sizes) {
                fill.set_basket_size(size.basket_size);
            }
        }
        TreeCluster { chunks, maxima: branches.iter().map(BranchFill::maximum).collect() }
    }
}
