//! The columns of a plan whose entries are put into another order: those of the output, and those of the inputs that are recoded.

use std::sync::Arc;

use dataset::table::piece::Piece;
use rootfile::Source;

use crate::plan::tree::TablePlan;
use crate::table::tree::column::Column;

/// A branch: one of the output, or one of the inputs whose columns are recoded.
pub(super) type BranchKey = (bool, usize);

/// Adds the scratch file to the files of a plan.
pub(super) fn join_scratch(plan: &mut TablePlan, scratch: Arc<dyn Source>, pid_offsets: &[u16]) {
    plan.files.push(scratch);
    // It is of no input, so that nothing is added to what it has.
    plan.file_inputs.push(usize::MAX);
    plan.copies_fit &= pid_offsets.iter().all(|offset| *offset == 0);
}

/// All columns with entries that a plan reads.
pub(super) fn all_columns(plan: &TablePlan) -> impl Iterator<Item = (BranchKey, &Column)> {
    let own = plan.columns.iter().map(|column| ((false, column.branch), column));
    let recoded = plan.recodes.iter().flat_map(|recode| &recode.sources).flat_map(|source| {
        let counters = source.counters.iter().map(|(counter, _)| counter);
        std::iter::once(&source.column).chain(counters).map(|column| ((true, column.branch), column))
    });
    own.chain(recoded)
}

/// The same, to change them.
pub(super) fn all_columns_mut(plan: &mut TablePlan) -> impl Iterator<Item = (BranchKey, &mut Column)> {
    let own = plan.columns.iter_mut().map(|column| ((false, column.branch), column));
    let recoded = plan.recodes.iter_mut().flat_map(|recode| &mut recode.sources).flat_map(|source| {
        let counters = source.counters.iter_mut().map(|(counter, _)| counter);
        std::iter::once(&mut source.column).chain(counters).map(|column| ((true, column.branch), column))
    });
    own.chain(recoded)
}

/// A column whose entries are in the scratch file, in baskets that are not compressed.
pub(super) fn settle(column: &mut Column, pieces: Vec<Piece>) {
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
