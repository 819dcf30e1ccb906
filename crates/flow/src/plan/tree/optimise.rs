//! Basket sizes by ROOT's OptimizeBaskets: for all clusters if requested, and for packed clusters, whose baskets would be too
//! small. Sizes of recoded columns are measured on some of their entries.

use dataset::layout::defaults::BASKET_SIZE;
use dataset::layout::{BranchFigures, ByteSize, TreeLayout, optimize_baskets};
use dataset::tree::Branch;

use super::builder::PlanBuilder;
use super::model::TablePlan;
use crate::execute::engine::tree::recode::sample_middle;
use crate::table::target::Shape;
use crate::table::tree::column::Column;

/// Largest memory of the baskets of packed clusters.
const PACKED_MEMORY: u64 = 30_000_000;

impl PlanBuilder<'_> {
    /// Sets sizes for all clusters from the figures of the first, if requested.
    pub fn optimise(&mut self, bounds: &[u64]) {
        let Some(ByteSize(memory)) = self.rules.tree.basket_memory else { return };
        if self.rules.tree.one_basket_per_cluster == Some(true) {
            return;
        }
        let cluster = bounds.windows(2).next().map_or(self.entries, |w| w[1] - w[0]);
        for (i, size) in self.sizes(cluster, Some(memory)) {
            if let Some(column) = self.columns.get_mut(i) {
                column.target.shape = Shape::Size(size);
            }
        }
    }

    /// Sets sizes for packed clusters from the figures of an average one, as ROOT would have chosen them if the inputs had
    /// been written as one tree.
    pub fn optimise_packed(&mut self, bounds: &[u64], packed: &[bool]) {
        let lengths = bounds.windows(2).zip(packed).filter(|(_, packed)| **packed).map(|(w, _)| w[1] - w[0]);
        let (count, entries) = lengths.fold((0u64, 0u64), |(n, sum), len| (n + 1, sum + len));
        if count == 0 || self.rules.tree.cluster.is_some() {
            return;
        }
        for (i, size) in self.sizes(entries / count, None) {
            if let Some(column) = self.columns.get_mut(i)
                && let Shape::Keep(own) = column.target.shape
            {
                column.target.packed_size = Some(size.max(own));
            }
        }
    }

    /// Sizes for the columns in clusters of `cluster` entries.
    fn sizes(&self, cluster: u64, memory: Option<u64>) -> Vec<(usize, u32)> {
        let whole = ClusterShare { entries: self.entries, cluster };
        let figures = self.columns.iter().zip(&self.tree.branches).map(|(column, branch)| {
            let start = match column.target.shape {
                // A writer of the whole tree would have begun with equal buffers.
                _ if memory.is_none() => BASKET_SIZE,
                Shape::Size(size) | Shape::Keep(size) => size,
                Shape::PerCluster => branch.basket_size,
            };
            whole.figures(column, branch, start)
        });
        basket_sizes(&figures.collect::<Vec<_>>(), cluster, memory)
    }
}

/// Sizes for branches with these figures, in clusters of `cluster` entries.
fn basket_sizes(figures: &[BranchFigures], cluster: u64, memory: Option<u64>) -> Vec<(usize, u32)> {
    let tree_bytes: u64 = figures.iter().map(|f| f.total_bytes).sum();
    let memory = memory.unwrap_or(tree_bytes.min(PACKED_MEMORY));
    let plans = optimize_baskets(figures, tree_bytes, Some(cluster.max(1)), memory, 1.0);
    plans.into_iter().map(|plan| plan.basket_size).enumerate().collect()
}

/// The share of one cluster in a table.
struct ClusterShare {
    entries: u64,
    cluster: u64,
}

impl ClusterShare {
    /// Bytes of a cluster, if `entries` have `bytes`.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares")]
    fn share(&self, bytes: u64, entries: u64) -> u64 {
        (bytes as f64 * self.cluster.max(1) as f64 / entries.max(1) as f64) as u64
    }

    /// The figures of a column in a cluster.
    fn figures(&self, column: &Column, branch: &Branch, start: u32) -> BranchFigures {
        let zip: u64 = column.source.pieces.iter().map(|p| u64::from(p.packed_len())).sum();
        let raw: u64 = column.source.pieces.iter().map(|p| column.source.expanded_bytes(p)).sum();
        BranchFigures {
            name_len: u32::try_from(branch.name().len()).unwrap_or(0),
            entries: self.share(column.source.recorded_entries(), self.entries).max(1),
            total_bytes: self.share(raw, self.entries),
            zip_bytes: self.share(zip, self.entries),
            basket_size: start,
            entry_offset_len: u32::try_from(branch.entry_offset_len).unwrap_or(0),
            leaves: u32::try_from(branch.leaves.len()).unwrap_or(0),
            has_branches: !branch.children.is_empty(),
        }
    }
}

/// Sets sizes for all branches of a plan with recoded columns, which are measured on some of their entries.
pub(crate) fn optimise_recoded(plan: &mut TablePlan, of_tree: &TreeLayout) {
    let Some(ByteSize(memory)) = of_tree.basket_memory else { return };
    if plan.recodes.is_empty() || of_tree.one_basket_per_cluster == Some(true) {
        return;
    }
    let cluster = plan.clusters.bounds.windows(2).next().map_or(0, |w| w[1] - w[0]);
    let entries = match plan.selected {
        None => plan.input_entries.iter().sum(),
        // Records without selected entries are not counted.
        Some(_) => plan.columns.iter().map(|column| column.source.recorded_entries()).max().unwrap_or(0),
    };
    let whole = ClusterShare { entries, cluster };
    let figures = plan.columns.iter().zip(&plan.tree.branches).map(|(column, branch)| {
        let start = match column.target.shape {
            Shape::Size(size) | Shape::Keep(size) => size,
            Shape::PerCluster => branch.basket_size,
        };
        whole.figures(column, branch, start)
    });
    let mut figures: Vec<BranchFigures> = figures.collect();
    for recode in &plan.recodes {
        // A column that cannot be recoded fails in the work itself, not here.
        let Ok(sampled) = sample_middle(recode, &plan.files, &plan.clusters.bounds) else { continue };
        for (output, made) in recode.outputs.iter().zip(&sampled.outputs) {
            if let Some(figures) = figures.get_mut(output.column) {
                figures.entries = cluster.max(1);
                figures.total_bytes = whole.share(made.raw, sampled.entries);
                figures.zip_bytes = whole.share(made.zip, sampled.entries);
                figures.basket_size = output.plan.basket_size;
            }
        }
    }
    let sizes = basket_sizes(&figures, cluster, Some(memory));
    for (column, (_, size)) in plan.columns.iter_mut().zip(&sizes) {
        column.target.shape = Shape::Size(*size);
    }
    for output in plan.recodes.iter_mut().flat_map(|recode| &mut recode.outputs) {
        if let Some((_, size)) = sizes.get(output.column) {
            output.plan.basket_size = *size;
        }
    }
}
