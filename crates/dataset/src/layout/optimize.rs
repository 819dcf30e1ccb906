//! ROOT's `TTree::OptimizeBaskets`: distributes a memory budget among branches by the bytes that each has written.
//!
//! Two passes over the leaves, as ROOT makes them: the first finds relative sizes, the second scales them to the
//! budget, adds room for entry offsets and rounds up. The result is that of ROOT 6.40. Where ROOT's integers overflow,
//! at budgets over 2 GB, values are clamped instead.

/// The smallest and largest basket, before the budget scales them.
const LEAST: f64 = 512.0;
const MOST: f64 = 256_000.0;

/// Beyond this size a basket falls back to the scaled [`MOST`].
const TOO_LARGE: u32 = 10_000_000;

/// Limits of the scaled bounds.
const HARD_LEAST: f64 = 8.0;
const HARD_MOST: f64 = 1024.0 * 1024.0 * 1024.0;

/// The bytes and entries that a branch has written so far, and its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchFigures {
    /// Length of the branch's name.
    pub name_len: u32,
    /// Entries written.
    pub entries: u64,
    /// Uncompressed bytes of its baskets, keys included (`fTotBytes`).
    pub total_bytes: u64,
    /// Compressed bytes of its baskets, keys included (`fZipBytes`).
    pub zip_bytes: u64,
    /// `fBasketSize`.
    pub basket_size: u32,
    /// `fEntryOffsetLen`; 0 where entries have equal length.
    pub entry_offset_len: u32,
    /// Number of its leaves in the tree's list. ROOT visits a branch once for each leaf, and counts it as often.
    pub leaves: u32,
    /// Whether it has sub-branches: its leaves count for the mean, but its own basket keeps its size.
    pub has_branches: bool,
}

/// The decision for one branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasketPlan {
    /// The new `fBasketSize`.
    pub basket_size: u32,
    /// Whether compression is switched off because it gains too little.
    pub uncompressed: bool,
}

/// The smallest `fBasketSize` that `TBranch::SetBasketSize` accepts: key and entry offsets must fit.
pub fn smallest_basket(name_len: u32, entry_offset_len: u32) -> u32 {
    name_len.saturating_add(entry_offset_len).saturating_add(100)
}

/// New basket sizes for the branches of a tree that has written `tree_bytes` uncompressed (`TTree::fTotBytes`).
///
/// `cluster_entries` is `fAutoFlush` if positive; otherwise ROOT takes the entries of the branch. `memory` is for all
/// baskets together. A branch whose compression factor is over 1 but below `min_factor` loses its compression; ROOT's
/// own call after the first flush passes the written bytes as `memory` and 1 as `min_factor`.
pub fn optimize_baskets(
    branches: &[BranchFigures],
    tree_bytes: u64,
    cluster_entries: Option<u64>,
    memory: u64,
    min_factor: f32,
) -> Vec<BasketPlan> {
    let mut plans: Vec<BasketPlan> =
        branches.iter().map(|b| BasketPlan { basket_size: b.basket_size, uncompressed: false }).collect();
    let leaves: u64 = branches.iter().map(|b| u64::from(b.leaves)).sum();
    if leaves == 0 || tree_bytes == 0 {
        return plans;
    }
    let scale = Scale { mean: tree_bytes as f64 / leaves as f64, factor: 1.0, least: LEAST, most: MOST };
    let mut sum = 0u64;
    for branch in branches.iter().filter(|b| !b.has_branches) {
        sum = sum.saturating_add(u64::from(branch.leaves) * u64::from(scale.share(branch, branch.basket_size, None)));
    }
    let scale = scale.to_budget(memory, sum);
    for (branch, plan) in branches.iter().zip(&mut plans).filter(|(b, _)| !b.has_branches) {
        let entries = cluster_entries.unwrap_or(branch.entries);
        // Every leaf of a branch sets the size again, starting from the size set by the leaf before.
        for _ in 0..branch.leaves {
            plan.basket_size = scale
                .share(branch, plan.basket_size, Some(entries))
                .max(smallest_basket(branch.name_len, branch.entry_offset_len));
        }
        let factor = match branch.zip_bytes {
            0 => 1.0,
            zip => branch.total_bytes as f64 / zip as f64,
        };
        plan.uncompressed = branch.leaves > 0 && factor > 1.0 && factor < f64::from(min_factor);
    }
    plans
}

/// The parameters of a pass.
struct Scale {
    /// Uncompressed bytes per leaf.
    mean: f64,
    factor: f64,
    least: f64,
    most: f64,
}

impl Scale {
    /// The size for a branch that has `size` now; in the second pass with room for the offsets of `entries` entries.
    fn share(&self, branch: &BranchFigures, size: u32, offsets_for: Option<u64>) -> u32 {
        let total = branch.total_bytes as f64;
        let one_entry = match branch.entries {
            0 => clamped(self.mean),
            entries => clamped(total / entries as f64).saturating_add(1),
        };
        let ideal = total / self.mean;
        let mut share = clamped((f64::from(size) * ideal * self.factor).min(self.most));
        if let Some(entries) = offsets_for {
            if branch.entry_offset_len > 0 {
                let room = u32::try_from(entries.saturating_mul(8)).unwrap_or(u32::MAX);
                share = share.saturating_add(room);
            }
            // Rounded up to the next multiple of 512; a multiple goes up too.
            share = share.saturating_add(512 - share % 512);
        }
        share = share.max(one_entry).max(clamped(self.least));
        if share > TOO_LARGE { clamped(self.most) } else { share }
    }

    /// For the second pass: all sizes scaled so that `sum`, the first pass's, becomes `memory`.
    fn to_budget(&self, memory: u64, sum: u64) -> Self {
        let factor = if sum == 0 { 100.0 } else { (memory as f64 / sum as f64).min(100.0) };
        let least = (self.least * factor).clamp(HARD_LEAST, HARD_MOST).trunc();
        let most = self.most * factor;
        let most = if most > HARD_MOST { least } else { most.trunc() };
        Self { mean: self.mean, factor, least, most }
    }
}

/// The integer part, clamped to the type's range.
fn clamped(value: f64) -> u32 {
    value as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_written_changes_nothing() {
        let branch = BranchFigures { basket_size: 32_000, leaves: 1, ..Default::default() };
        assert_eq!(
            optimize_baskets(&[branch], 0, None, 1 << 20, 1.0),
            [BasketPlan { basket_size: 32_000, uncompressed: false }]
        );
        assert!(optimize_baskets(&[], 100, None, 1 << 20, 1.0).is_empty());
    }

    #[test]
    fn figures_of_any_size_are_handled() {
        let wild = BranchFigures {
            name_len: u32::MAX,
            entries: u64::MAX,
            total_bytes: u64::MAX,
            zip_bytes: 1,
            basket_size: u32::MAX,
            entry_offset_len: u32::MAX,
            leaves: 2,
            has_branches: false,
        };
        assert_eq!(optimize_baskets(&[wild; 3], 1, Some(u64::MAX), u64::MAX, 1.1).len(), 3);
    }
}
