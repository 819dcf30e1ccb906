//! What ROOT's rule that divides memory between baskets needs to know of a branch.

use dataset::layout::{BranchFigures, defaults};

use super::branch_fill::BranchFill;
use super::branch_plan::BranchPlan;

impl BranchFill {
    /// The input of ROOT's rule that divides memory between baskets.
    pub fn figures(&self, plan: &BranchPlan) -> BranchFigures {
        BranchFigures {
            name_len: u32::try_from(plan.name.len()).unwrap_or(u32::MAX),
            entries: self.entries_filled,
            total_bytes: self.raw,
            zip_bytes: self.packed,
            basket_size: self.basket_size,
            entry_offset_len: if plan.has_offsets { defaults::ENTRY_OFFSET_LEN.unsigned_abs() } else { 0 },
            leaves: plan.leaves,
            has_branches: false,
        }
    }
}
