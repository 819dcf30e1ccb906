//! Finishes a tree: updates its metadata with what was written, and writes its record.

use std::sync::atomic::Ordering;

use dataset::layout::Container;
use dataset::tree::write;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::prepared::PlannedTree;
use super::summary::TableSummary;
use crate::commit::finalize::{self, BufferSize};
use crate::commit::leaf_maxima;
use crate::commit::sink::WrittenColumn;
use crate::commit::user_info;
use crate::plan::TablePlan;
use crate::table::depth::Depths;
use crate::table::target::Shape;

/// Writes the record of a tree whose baskets are written.
pub(crate) fn finish_table(
    writer: &mut FileWriter,
    (place, directory): (&PlannedTree, DirId),
    mut plan: TablePlan,
    written: Vec<WrittenColumn>,
    compression: Compression,
) -> Result<(TableSummary, Vec<String>)> {
    let mut summary = TableSummary {
        depths: written.iter().fold(Depths::default(), |sum, column| sum + column.depths),
        path: place.path.clone(),
        container: Container::Ttree,
        clusters: (plan.clusters.bounds.len() as u64).saturating_sub(1),
        baskets: written.iter().map(|w| w.baskets.len() as u64).sum(),
        ..TableSummary::default()
    };
    close_tree(&mut plan, written);
    let ends_early = |branch| plan.columns.iter().any(|column| column.branch == branch && column.source.ends_early);
    plan.tree.check_baskets(ends_early)?;
    summary.input_entries = plan.input_entries.iter().sum();
    summary.entries = plan.tree.entries;
    summary.tot_bytes = plan.tree.tot_bytes;
    summary.zip_bytes = plan.tree.zip_bytes;
    let mut tree = plan.tree;
    let mut notes = Vec::from_iter(user_info::drop_unmovable(&mut tree, &place.path));
    if let Some(source) = plan.files.first() {
        notes.extend(user_info::copy_trees(&mut tree, &place.path, &**source, (writer, directory))?);
    }
    finalize::add_own_infos(writer, &tree);
    // The name in the key: the tree's own name may differ.
    let labels = (tree.class.as_str(), place.name.as_str(), tree.named.title.as_str());
    writer.write_object(directory, labels, compression, |keylen| write::write_tree(&tree, keylen))?;
    Ok((summary, notes))
}

/// Updates the tree's metadata with what was written.
fn close_tree(plan: &mut TablePlan, written: Vec<WrittenColumn>) {
    let whole = plan.input_entries.iter().sum::<u64>();
    let tree = &mut plan.tree;
    tree.entries = plan.selected.as_ref().map_or(whole, |selected| selected.len());
    for (column, written) in plan.columns.iter().zip(written) {
        let Some(branch) = tree.branches.get_mut(column.branch) else { continue };
        let had_data = !column.source.pieces.is_empty() || !written.baskets.is_empty();
        let count = branch.entries;
        let buffer = match (column.target.memory_ratio, column.target.shape) {
            (Some(ratio), _) => BufferSize::Times(ratio),
            (None, Shape::PerCluster) => BufferSize::Times(1.0),
            (None, Shape::Size(size)) => BufferSize::Bytes(u64::from(size)),
            (None, Shape::Keep(_)) => {
                column.target.packed_size.map_or(BufferSize::Keep, |size| BufferSize::Bytes(size.into()))
            }
        };
        finalize::finalize_branch(branch, written, column.target.compression, buffer);
        if !had_data {
            // A parent branch has no entries of its own, but counts them.
            branch.entries = if branch.children.is_empty() && count == 0 { 0 } else { tree.entries };
            branch.entry_number = branch.first_entry + branch.entries;
        }
    }
    for output in plan.recodes.iter().flat_map(|recode| &recode.outputs).filter(|output| output.plan.counts) {
        let branch = plan.columns.get(output.column).and_then(|column| tree.branches.get_mut(column.branch));
        if let Some(branch) = branch {
            leaf_maxima::set_maximum(branch, &mut tree.leaves, output.maximum.load(Ordering::Relaxed));
        }
    }
    finalize::finalize_tree(tree, &plan.clusters.bounds);
}
