//! How one branch is encoded, cut into baskets and compressed.

use dataset::decode::ColumnPlan;
use dataset::encode::ColumnEncoder;
use dataset::layout::{Compression, Streaming, defaults};
use dataset::tree::basket::BasketHeader;
use dataset::tree::{Branch, Tree};
use rootfile::{Error, Result};

use super::reduced::Reduced;

/// A branch that holds entries.
#[derive(Debug)]
pub(crate) struct BranchPlan {
    /// Index among the tree's branches.
    pub branch: usize,
    pub name: String,
    /// Number of its leaves.
    pub leaves: u32,
    /// The index of its logical column, and its index among the branches of that column.
    pub whole: (usize, usize),
    pub encoder: ColumnEncoder,
    pub header: BasketHeader,
    pub compression: Compression,
    pub basket_size: u32,
    pub one_per_cluster: bool,
    pub memory_ratio: Option<f64>,
    /// Whether entries vary in length.
    pub has_offsets: bool,
    /// Whether it counts others, so that its largest value is recorded.
    pub counts: bool,
    /// What becomes of its numbers before they are encoded.
    pub reduced: Option<Reduced>,
}

/// The plan of a branch that holds entries. `whole` is the index of its logical column, and its index in that.
pub(crate) fn branch_plan(
    (tree, name): (&Tree, &str),
    index: usize,
    whole: (usize, usize),
    plan: &ColumnPlan,
    own: &dataset::layout::ColumnLayout,
    one_per_cluster: bool,
) -> Result<BranchPlan> {
    let branch = tree.branches.get(index).ok_or_else(|| unplanned(tree, index))?;
    let encoder = plan.encoder(own.streaming.unwrap_or(Streaming::ObjectWise))?;
    let leaves = || branch.leaves.iter().filter_map(|&leaf| tree.leaves.get(leaf));
    let counts = leaves().any(|leaf| leaf.is_range || leaf.class == "TLeafC")
        || branch.element().is_some_and(|e| matches!(e.element_type, 3 | 4));
    Ok(BranchPlan {
        branch: index,
        name: branch.name().to_owned(),
        leaves: u32::try_from(branch.leaves.len()).unwrap_or(u32::MAX),
        whole,
        encoder,
        header: BasketHeader::new(branch.name(), name, 0, 0).with_io_bits(branch.io_bits),
        compression: own.compression.unwrap_or(defaults::COMPRESSION),
        basket_size: branch.basket_size,
        one_per_cluster,
        memory_ratio: own.memory_ratio,
        has_offsets: branch.entry_offset_len > 0,
        counts,
        reduced: own.encoding.and_then(|encoding| Reduced::of(encoding, tree, branch)),
    })
}

pub(crate) fn unplanned(tree: &Tree, branch: usize) -> Error {
    let name = tree.branches.get(branch).map_or("", Branch::name);
    Error::unsupported("the branch holds no entries").object(format!("branch {name}"))
}
