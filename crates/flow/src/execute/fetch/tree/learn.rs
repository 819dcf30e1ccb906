//! Learns the class of the items of a column's arrays from its first baskets, where the metadata do not name the class.

use dataset::decode::ColumnPlan;
use dataset::tree::Tree;
use rootfile::streamer::StreamerInfos;

use super::fetcher::Fetcher;
use crate::table::piece::Files;
use crate::table::tree::column::Column;

/// Number of baskets that are read: the first ones with entries.
const MOST_BASKETS: usize = 4;

/// Completes a plan from the column's first baskets. Baskets that cannot be read are ignored here: reading the column
/// reports them.
pub(crate) fn learn(
    plan: ColumnPlan,
    tree: &Tree,
    infos: &StreamerInfos,
    files: &Files,
    column: Option<&Column>,
) -> ColumnPlan {
    let Some(column) = column.filter(|_| plan.needs_learning()) else { return plan };
    let mut fetcher = Fetcher::new();
    let filled = column.source.pieces.iter().enumerate().filter(|(_, piece)| piece.entries > 0).take(MOST_BASKETS);
    filled.fold(plan, |plan, (index, _)| match fetcher.load(files, column, index) {
        Ok(basket) if plan.needs_learning() => plan.learn(tree, infos, &basket),
        _ => plan,
    })
}
