//! Asks the first baskets of a column what its arrays hold, where only entries say so.

use dataset::decode::ColumnPlan;
use dataset::tree::Tree;
use rootfile::streamer::StreamerInfos;

use crate::column::{Column, Files};
use crate::engine::Scratch;

/// Baskets that are asked: the first ones with entries.
const MOST_ASKED: usize = 4;

/// The plan with what its first baskets say. Those that cannot be read say nothing: whoever reads the column is told.
pub(crate) fn learn(
    plan: ColumnPlan,
    tree: &Tree,
    infos: &StreamerInfos,
    files: &Files,
    column: Option<&Column>,
) -> ColumnPlan {
    let Some(column) = column.filter(|_| plan.lacks()) else { return plan };
    let mut scratch = Scratch::new();
    let filled = column.pieces.iter().enumerate().filter(|(_, piece)| piece.entries > 0).take(MOST_ASKED);
    filled.fold(plan, |plan, (index, _)| match scratch.load(files, column, index) {
        Ok(basket) if plan.lacks() => plan.learn(tree, infos, &basket),
        _ => plan,
    })
}
