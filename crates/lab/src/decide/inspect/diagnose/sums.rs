//! Sums over a tree's report that several rules need, and thresholds that they share.

use super::speeds::BASKET_BYTES;
use crate::inspect::contents::{BranchReport, TreeReport};

/// Bytes below this are not worth a word.
pub(super) const BYTES: u64 = 100_000;
/// A share of the file's bytes below this is not worth a word.
pub(super) const SHARE: u64 = 50;
/// Most branches that are named one by one.
pub(super) const NAMED: usize = 8;

/// Branches with baskets, without branches in a missing file.
pub(super) fn on_disk(tree: &TreeReport) -> impl Iterator<Item = &BranchReport> {
    tree.branches.iter().filter(|branch| branch.basket_summary.count > 0 && !branch.absent)
}

/// Bytes of their baskets before compression and on disk.
pub(super) fn sizes(tree: &TreeReport) -> (u64, u64) {
    on_disk(tree).fold((0, 0), |(raw, zip), branch| (raw + branch.tot_bytes, zip + branch.zip_bytes))
}

/// Branches in a missing file, without the branches below them.
pub(super) fn absent(tree: &TreeReport) -> impl Iterator<Item = &BranchReport> {
    let is_below = |id: &str| {
        let above = |other: &&BranchReport| {
            other.absent && id.strip_prefix(other.id.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        tree.branches.iter().any(|other| above(&other))
    };
    tree.branches.iter().filter(move |branch| branch.absent && !is_below(&branch.id))
}

/// Bytes of the baskets in a tree's record.
pub(super) fn embedded_bytes(tree: &TreeReport) -> u64 {
    tree.branches.iter().flat_map(|branch| &branch.embedded).map(|basket| basket.bytes).sum()
}

/// Bytes by which any rewrite makes the file larger: each basket of a tree's record gets a key, and is compressed by itself.
pub(super) fn any_rewrite<'a>(newest: impl Iterator<Item = &'a TreeReport>) -> u64 {
    let baskets = |tree: &TreeReport| tree.branches.iter().map(|branch| branch.embedded.len() as u64).sum::<u64>();
    let of = |tree: &TreeReport| baskets(tree) * BASKET_BYTES + embedded_bytes(tree) / 60;
    newest.map(of).sum()
}
