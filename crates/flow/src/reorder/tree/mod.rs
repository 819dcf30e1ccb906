//! Puts the entries of the columns of a tree into the order of the output: their bytes are moved, whatever they are.

mod baskets;
mod column;
mod rows;

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
use column::ColumnJob;

/// The part of the memory that the scratch file may take.
const SCRATCH: u64 = 3;
/// Memory of a thread besides the entries that it has loaded: baskets that are made, rows that are gathered, and codecs.
const BESIDE: u64 = 4 << 20;
/// Least memory for the entries of a column. With less, threads are left out.
const LEAST_ROOM: u64 = 4 << 20;

/// A branch: one of the output, or one of the inputs whose columns are recoded.
type BranchKey = (bool, usize);

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
    let has_pids = pid_offsets.iter().any(|offset| *offset != 0);
    for (key, column) in all_columns_mut(plan) {
        let pieces = pieces.get(&key).cloned().unwrap_or_default();
        settle(column, pieces);
    }
    plan.files.push(Arc::clone(&scratch) as Arc<dyn Source>);
    // It is of no input, so that nothing is added to what it has.
    plan.file_inputs.push(usize::MAX);
    plan.copies_fit &= !has_pids;
    Ok(scratch.held())
}

/// All columns with entries that a plan reads.
fn all_columns(plan: &TablePlan) -> impl Iterator<Item = (BranchKey, &Column)> {
    let own = plan.columns.iter().map(|column| ((false, column.branch), column));
    let recoded = plan.recodes.iter().flat_map(|recode| &recode.sources).flat_map(|source| {
        let counters = source.counters.iter().map(|(counter, _)| counter);
        std::iter::once(&source.column).chain(counters).map(|column| ((true, column.branch), column))
    });
    own.chain(recoded)
}

/// The same, to change them.
fn all_columns_mut(plan: &mut TablePlan) -> impl Iterator<Item = (BranchKey, &mut Column)> {
    let own = plan.columns.iter_mut().map(|column| ((false, column.branch), column));
    let recoded = plan.recodes.iter_mut().flat_map(|recode| &mut recode.sources).flat_map(|source| {
        let counters = source.counters.iter_mut().map(|(counter, _)| counter);
        std::iter::once(&mut source.column).chain(counters).map(|column| ((true, column.branch), column))
    });
    own.chain(recoded)
}

/// A column whose entries are in the scratch file, in baskets that are not compressed.
fn settle(column: &mut Column, pieces: Vec<Piece>) {
    let source = &mut column.source;
    source.clear();
    source.recasts.clear();
    (source.chosen, source.ends_early) = (None, false);
    source.expansion = 1.0;
    source.tot_bytes = pieces.iter().map(|piece| u64::from(piece.packed_len())).sum();
    source.pieces = pieces;
    column.target.met_by_file.clear();
    // Offsets are in all baskets that are read now.
    column.form.leaves_out_offsets = false;
    column.form.filled = None;
}
