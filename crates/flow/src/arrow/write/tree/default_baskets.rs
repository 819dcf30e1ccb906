//! Baskets of default entries for the branches of a tree that a cluster was filled without: zeroes, empty strings and lists.
//!
//! As `TBranch::BackFill` does for a branch that is added late: each branch of a tree has all entries.

use arrow_array::{Array, ArrayRef};
use dataset::default_array;
use rootfile::{Error, Result};

use super::plan::TreePlan;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::encode::tree::branch_fill::BranchFill;
use crate::table::tree::chunk::Chunk;

/// Bytes of arrays that are encoded at once.
const PORTION_BYTES: usize = 64 << 10;
/// Most entries that are encoded at once.
const PORTION: usize = 4096;
/// Most bytes of a basket before compression, whatever the layout says: this memory is part of no cluster's.
const MOST_BASKET: u64 = 256 << 10;

/// Makes the baskets of a cluster with so many entries, of all branches from one on, and passes them on in pieces.
pub(super) fn default_baskets(
    plan: &TreePlan,
    (from, entries): (usize, u64),
    scratches: &EncodeScratchPool,
    put: &mut dyn FnMut(Chunk) -> Result<()>,
) -> Result<()> {
    let entries = usize::try_from(entries).unwrap_or(usize::MAX);
    // The branches of a column come one after the other.
    let mut arrays: (usize, Vec<ArrayRef>) = (usize::MAX, Vec::new());
    for (number, branch) in plan.branches.iter().enumerate().skip(from) {
        let (column, part) = branch.whole;
        if arrays.0 != column {
            arrays = (column, default_parts(plan, column, entries)?);
        }
        let array = arrays.1.get(part).ok_or_else(|| Error::unsupported("internal error: a branch of no column"))?;
        let (mut fill, mut left) = (BranchFill::new(number, branch), entries);
        while left > 0 {
            let n = left.min(array.len());
            left -= n;
            scratches.with(|scratch| {
                fill.fill_array(branch, array, 0..n, scratch)?;
                match left {
                    0 => fill.finish_basket(branch, scratch),
                    _ if fill.waiting() >= MOST_BASKET => fill.cut_basket(branch, scratch),
                    _ => Ok(()),
                }
            })?;
            let made = fill.take_finished(branch);
            if !made.records.is_empty() {
                put(made)?;
            }
        }
    }
    Ok(())
}

/// Default values of a column, at most so many: an array for each of its branches.
fn default_parts(plan: &TreePlan, column: usize, entries: usize) -> Result<Vec<ArrayRef>> {
    let Some(whole) = plan.wholes.get(column) else { return Ok(Vec::new()) };
    let parts = || {
        let one = default_array(whole.field(), 1)?.get_array_memory_size();
        let rows = (PORTION_BYTES / one.max(1)).clamp(1, PORTION).min(entries);
        whole.project(&default_array(whole.field(), rows)?)
    };
    parts().map_err(|e| e.object(format!("column {}", whole.field().name())))
}
