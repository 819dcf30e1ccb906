//! Puts the entries of the columns of a tree into the order of the output: their bytes are moved, whatever they are.

mod baskets;
mod column;
mod merge;
mod planned;
mod rows;
mod sources;

use std::collections::HashMap;
use std::sync::Arc;

use dataset::table::piece::Piece;
use rootfile::{Result, Source};

use crate::execute::budget::Share;
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::plan::tree::TablePlan;
use crate::table::tree::column::Column;
use column::{BESIDE, ColumnJob};
pub(crate) use merge::TreeMerge;
use planned::{BranchKey, all_columns, all_columns_mut, join_scratch, settle};

/// The part of the memory that the scratch file may take.
const SCRATCH: u64 = 3;
/// Least memory for the entries of a column. With less, threads are left out.
const LEAST_ROOM: u64 = 4 << 20;

/// Reorders the entries of a plan, and returns how many bytes of memory they take. `pid_offsets` are what is added to the numbers of process
/// identifiers in each of its files, and nothing afterwards.
///
/// # Errors
///
/// The entries cannot be read, or the scratch file cannot be written.
pub(crate) fn reorder_tree(
    plan: &mut TablePlan,
    order: &Order,
    pid_offsets: &[u16],
    share: Share,
    progress: Progress<'_>,
) -> Result<u64> {
    let scratch = Arc::new(order.scratch(share.free / SCRATCH));
    let for_columns = share.free - share.free / SCRATCH;
    let fitting = usize::try_from(for_columns / (BESIDE + LEAST_ROOM)).unwrap_or(usize::MAX);
    let threads = share.threads.min(fitting).max(1);
    let job = ColumnJob {
        order,
        bounds: &plan.clusters.bounds,
        files: &plan.files,
        scratch: &scratch,
        scratch_files: &[Arc::clone(&scratch) as Arc<dyn Source>],
        pid_offsets,
        room: (for_columns / threads as u64).saturating_sub(BESIDE),
        progress,
    };
    let mut columns: Vec<(BranchKey, &Column)> = Vec::new();
    let mut known: HashMap<BranchKey, usize> = HashMap::new();
    for (key, column) in all_columns(plan) {
        known.entry(key).or_insert_with(|| {
            columns.push((key, column));
            columns.len() - 1
        });
    }
    // The largest first, so that no thread begins it when the others are done.
    columns.sort_by_key(|(_, column)| std::cmp::Reverse(column.source.tot_bytes));
    let workers = Workers::new("the order of entries", threads, progress).in_order();
    let reordered = workers.results(columns.len(), |number| match columns.get(number) {
        Some((_, column)) => job.reorder(column),
        None => Ok(Vec::new()),
    })?;
    let pieces: HashMap<BranchKey, Vec<Piece>> = columns.iter().map(|(key, _)| *key).zip(reordered).collect();
    for (key, column) in all_columns_mut(plan) {
        let pieces = pieces.get(&key).cloned().unwrap_or_default();
        settle(column, pieces);
    }
    join_scratch(plan, Arc::clone(&scratch) as Arc<dyn Source>, pid_offsets);
    Ok(scratch.held())
}
