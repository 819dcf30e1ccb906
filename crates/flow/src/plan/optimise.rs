//! Basket sizes by ROOT's OptimizeBaskets: for all clusters where that is asked for, and for those that are put
//! together from small ones, whose baskets are too small for them.

use dataset::layout::defaults::BASKET_SIZE;
use dataset::layout::{BranchFigures, ByteSize, optimize_baskets};

use super::table::Builder;
use crate::column::Shape;

/// Baskets of packed clusters share no more than this.
const PACKED_MEMORY: u64 = 30_000_000;

impl Builder<'_> {
    /// Sizes for all clusters, over the figures of the first, where they are asked for.
    pub fn optimise(&mut self, bounds: &[u64]) {
        let Some(ByteSize(memory)) = self.tree_layout.basket_memory else { return };
        if self.tree_layout.one_basket_per_cluster == Some(true) {
            return;
        }
        let cluster = bounds.windows(2).next().map_or(self.entries, |w| w[1] - w[0]);
        for (i, size) in self.sizes(cluster, Some(memory)) {
            if let Some(column) = self.columns.get_mut(i) {
                column.shape = Shape::Size(size);
            }
        }
    }

    /// Sizes for clusters that are put together from small ones, over the figures of an average one: as ROOT would
    /// have chosen them, had the inputs been written as one.
    pub fn optimise_packed(&mut self, bounds: &[u64], packed: &[bool]) {
        let lengths = bounds.windows(2).zip(packed).filter(|(_, packed)| **packed).map(|(w, _)| w[1] - w[0]);
        let (count, entries) = lengths.fold((0u64, 0u64), |(n, sum), len| (n + 1, sum + len));
        if count == 0 || self.tree_layout.cluster.is_some() {
            return;
        }
        for (i, size) in self.sizes(entries / count, None) {
            if let Some(column) = self.columns.get_mut(i)
                && let Shape::Keep(own) = column.shape
            {
                column.packed_size = Some(size.max(own));
            }
        }
    }

    /// Sizes for the columns, for clusters of so many entries.
    fn sizes(&self, cluster: u64, memory: Option<u64>) -> Vec<(usize, u32)> {
        let (total, cluster) = (self.entries.max(1), cluster.max(1));
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "shares"
        )]
        let share = |bytes: u64| (bytes as f64 * cluster as f64 / total as f64) as u64;
        let figures: Vec<BranchFigures> = self
            .columns
            .iter()
            .zip(&self.tree.branches)
            .map(|(column, branch)| {
                let zip: u64 = column.pieces.iter().map(|p| u64::from(p.nbytes)).sum();
                let raw: u64 = column.pieces.iter().map(|p| column.expanded(p)).sum();
                let start = match column.shape {
                    // A writer of the whole would have begun with equal buffers.
                    _ if memory.is_none() => BASKET_SIZE,
                    Shape::Size(size) | Shape::Keep(size) => size,
                    Shape::PerCluster => branch.basket_size,
                };
                BranchFigures {
                    name_len: u32::try_from(branch.name().len()).unwrap_or(0),
                    entries: share(column.pieces.iter().map(|p| p.entries).sum()).max(1),
                    total_bytes: share(raw),
                    zip_bytes: share(zip),
                    basket_size: start,
                    entry_offset_len: u32::try_from(branch.entry_offset_len).unwrap_or(0),
                    leaves: u32::try_from(branch.leaves.len()).unwrap_or(0),
                    has_branches: !branch.children.is_empty(),
                }
            })
            .collect();
        let tree_bytes: u64 = figures.iter().map(|f| f.total_bytes).sum();
        let memory = memory.unwrap_or(tree_bytes.min(PACKED_MEMORY));
        let plans = optimize_baskets(&figures, tree_bytes, Some(cluster), memory, 1.0);
        plans.into_iter().map(|plan| plan.basket_size).enumerate().collect()
    }
}
