//! Finishes a tree: updates its metadata with what was written, and writes its record.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use dataset::layout::Container;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::prepared::PlannedTree;
use super::summary::TableSummary;
use crate::commit::finalize::{self, BufferSize, ClosedColumn};
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
    close(&mut plan, written);
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
    finalize::write_tree(writer, directory, (&tree, &place.name), compression)?;
    Ok((summary, notes))
}

/// Updates the tree's metadata with what was written.
fn close(plan: &mut TablePlan, written: Vec<WrittenColumn>) {
    let outputs = plan.recodes.iter().flat_map(|recode| &recode.outputs).filter(|output| output.plan.counts);
    let maxima: HashMap<usize, u64> =
        outputs.map(|output| (output.column, output.maximum.load(Ordering::Relaxed))).collect();
    let columns = plan.columns.iter().zip(written).enumerate().map(|(number, (column, written))| ClosedColumn {
        branch: column.branch,
        had_data: !column.source.pieces.is_empty() || !written.baskets.is_empty(),
        compression: column.target.compression,
        buffer: match (column.target.memory_ratio, column.target.shape) {
            (Some(ratio), _) => BufferSize::Times(ratio),
            (None, Shape::PerCluster) => BufferSize::Times(1.0),
            (None, Shape::Size(size)) => BufferSize::Bytes(u64::from(size)),
            (None, Shape::Keep(_)) => {
                column.target.packed_size.map_or(BufferSize::Keep, |size| BufferSize::Bytes(size.into()))
            }
        },
        maximum: maxima.get(&number).copied(),
        written,
    });
    let whole = plan.input_entries.iter().sum::<u64>();
    let entries = plan.selected.as_ref().map_or(whole, |selected| selected.len());
    finalize::close_tree(&mut plan.tree, entries, &plan.clusters.bounds, columns);
}
