//! Writes the records of trees: at the end of the file, and at each AutoSave before.

use dataset::tree::write;
use rootfile::{FileWriter, Result, SavedObject};

use super::open_tree::OpenTree;
use super::written::WrittenTree;
use crate::commit::finalize::{self, BufferSize};
use crate::commit::leaf_maxima;
use crate::commit::sink::WrittenColumn;

/// Updates a tree's metadata with what was written.
fn finalize_metadata(open: &mut OpenTree, written: Vec<WrittenColumn>) {
    let entries = open.entries();
    let tree = &mut open.tree;
    tree.entries = entries;
    for branch in &mut tree.branches {
        // Parent branches have no baskets, but count entries.
        branch.entries = entries;
        branch.entry_number = entries;
    }
    for ((plan, written), maximum) in open.plan.branches.iter().zip(written).zip(&open.maxima) {
        let Some(branch) = tree.branches.get_mut(plan.branch) else { continue };
        let buffer = match (plan.memory_ratio, plan.one_per_cluster) {
            (Some(ratio), _) => BufferSize::Times(ratio),
            (None, true) => BufferSize::Times(1.0),
            (None, false) => BufferSize::Keep,
        };
        finalize::finalize_branch(branch, written, plan.compression, buffer);
        if plan.counts {
            leaf_maxima::set_maximum(branch, &mut tree.leaves, *maximum);
        }
    }
    finalize::finalize_tree(tree, &open.bounds);
}

/// Writes the records of all trees, as the file's last.
pub(crate) fn finish(file: &mut FileWriter, trees: Vec<OpenTree>) -> Result<Vec<WrittenTree>> {
    let mut done = Vec::with_capacity(trees.len());
    for mut open in trees {
        let written = std::mem::take(&mut open.sink.written);
        finalize_metadata(&mut open, written);
        let tree = &open.tree;
        let labels = (tree.class.as_str(), open.plan.name.as_str(), tree.named.title.as_str());
        file.write_object(open.directory, labels, file.compression(), |keylen| write::write_tree(tree, keylen))?;
        done.push(WrittenTree {
            name: open.plan.name.clone(),
            entries: tree.entries,
            clusters: open.bounds.len() as u64 - 1,
            baskets: tree.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
            tot_bytes: tree.tot_bytes,
            zip_bytes: tree.zip_bytes,
        });
    }
    Ok(done)
}

/// Saves the trees so far: see [`FileWriter::auto_save`].
pub(crate) fn save(file: &mut FileWriter, trees: &mut [OpenTree]) -> Result<()> {
    for open in trees.iter_mut() {
        let written = open.sink.written.clone();
        finalize_metadata(open, written);
    }
    let compression = file.compression();
    let makers: Vec<_> = trees.iter().map(|open| |keylen| write::write_tree(&open.tree, keylen)).collect();
    let saved = trees.iter().zip(&makers).map(|(open, make)| SavedObject {
        directory: open.directory,
        class: &open.tree.class,
        name: &open.plan.name,
        title: &open.tree.named.title,
        compression,
        make,
    });
    let saved: Vec<SavedObject<'_>> = saved.collect();
    file.auto_save(&saved)
}
