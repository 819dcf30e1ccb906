//! Finalizes a tree: its metadata get what was written, and its file the tree's record, with the streamer infos that ROOT needs. Where
//! the entries came from does not matter.

use std::sync::Arc;

use dataset::tree::{Branch, Tree, clusters, write};
use rootfile::codec::Compression;
use rootfile::streamer::builtin;
use rootfile::{DirId, FileWriter, Result};

use super::leaf_maxima;
use super::sink::WrittenColumn;

/// The buffer size that a branch records.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BufferSize {
    /// Unchanged.
    Keep,
    /// A number of bytes.
    Bytes(u64),
    /// A multiple of its largest basket.
    Times(f64),
}

/// A column of a tree as it was written, and what its branch records of it.
pub(crate) struct ClosedColumn {
    /// The index of its branch.
    pub branch: usize,
    pub written: WrittenColumn,
    pub compression: Compression,
    pub buffer: BufferSize,
    /// The largest value, if it counts others.
    pub maximum: Option<u64>,
    /// Whether it has entries, before or now. Otherwise its branch is a parent, which counts those of the tree, or is empty.
    pub had_data: bool,
}

/// Updates a tree with its columns as they were written. `bounds` are the first entry of each cluster, and at the end the number of
/// entries.
pub(crate) fn close_tree(
    tree: &mut Tree,
    entries: u64,
    bounds: &[u64],
    columns: impl IntoIterator<Item = ClosedColumn>,
) {
    tree.entries = entries;
    for column in columns {
        let Some(branch) = tree.branches.get_mut(column.branch) else { continue };
        let count = branch.entries;
        finalize_branch(branch, column.written, column.compression, column.buffer);
        if !column.had_data {
            branch.entries = if branch.children.is_empty() && count == 0 { 0 } else { entries };
            branch.entry_number = branch.first_entry + branch.entries;
        }
        if let Some(maximum) = column.maximum {
            leaf_maxima::set_maximum(branch, &mut tree.leaves, maximum);
        }
    }
    finalize_tree(tree, bounds);
}

/// Writes the record of a tree that is closed. `name` is that of its key, from which the tree's own may differ.
pub(crate) fn write_tree(
    writer: &mut FileWriter,
    directory: DirId,
    tree: &Tree,
    name: &str,
    compression: Compression,
) -> Result<()> {
    add_own_infos(writer, tree);
    let labels = (tree.class.as_str(), name, tree.named.title.as_str());
    writer.write_object(directory, labels, compression, |keylen| write::write_tree(tree, keylen)).map(drop)
}

/// Updates a branch with its column as it was written.
fn finalize_branch(branch: &mut Branch, written: WrittenColumn, compression: Compression, buffer: BufferSize) {
    branch.compress = compression.to_root_setting();
    branch.baskets = written.baskets;
    branch.embedded.clear();
    branch.tot_bytes = written.tot_bytes;
    branch.zip_bytes = written.zip_bytes;
    branch.first_entry = branch.baskets.first().map_or(0, |b| b.first_entry);
    branch.entries = branch.baskets.iter().map(|b| b.entries).sum();
    branch.entry_number = branch.first_entry + branch.entries;
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
    let size = match buffer {
        BufferSize::Keep => return,
        BufferSize::Bytes(bytes) => bytes,
        BufferSize::Times(ratio) => (written.largest as f64 * ratio).ceil() as u64,
    };
    // ROOT needs room for the key and the entry offsets.
    let least = 100 + branch.named.name.len() as u64 + u64::from(branch.entry_offset_len.max(0).unsigned_abs());
    branch.basket_size = u32::try_from(size.max(least)).unwrap_or(u32::MAX >> 1);
}

/// Updates the totals of a tree, and records its clusters.
fn finalize_tree(tree: &mut Tree, bounds: &[u64]) {
    tree.tot_bytes = tree.branches.iter().map(|b| b.tot_bytes).sum();
    tree.zip_bytes = tree.branches.iter().map(|b| b.zip_bytes).sum();
    tree.saved_bytes = tree.zip_bytes;
    tree.flushed_bytes = tree.zip_bytes;
    tree.cluster_ranges = clusters::recorded_ranges(bounds);
    if let Some((_, size)) = tree.cluster_ranges.last() {
        tree.auto_flush = *size;
    }
}

/// Adds the streamer infos of ROOT's own classes in a tree's record.
pub(crate) fn add_own_infos(writer: &mut FileWriter, tree: &Tree) {
    for name in write::classes(tree) {
        if let Some(info) = builtin::infos().iter().filter(|i| i.name == name).max_by_key(|i| i.version) {
            writer.infos_mut().add(Arc::clone(info));
        }
    }
}
