//! Plans for the columns of the corpus' files, with the item classes that their baskets name.

use dataset::decode::ColumnPlan;
pub use dataset::read::{read_basket as load, read_column as decode, read_counter as values};
use dataset::tree::model::Tree;
use rootfile::RootFile;

/// The plan with the item classes that the first baskets name.
pub fn learned(file: &RootFile, tree: &Tree, plan: ColumnPlan) -> ColumnPlan {
    let baskets = 0..tree.branches[plan.branch()].baskets.len().min(4);
    baskets.fold(plan, |plan, index| match load(file, tree, plan.branch(), index) {
        Ok(basket) if plan.needs_learning() => plan.learn(tree, file.infos(), &basket),
        _ => plan,
    })
}
