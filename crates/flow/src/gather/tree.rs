//! A tree that grows: the baskets of each part move into the output, and its metadata join those of the parts before.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use dataset::tree::write;
use objects::inner_trees;
use rootfile::codec::Compression;
use rootfile::{Error, FileWriter, Result};

use super::growing::{GrowingTable, Labels};
use crate::commit::tree::sink::WrittenColumn;
use crate::commit::tree::{finalize, leaf_maxima};
use crate::plan::tree::attached::Attached;
use crate::plan::tree::{TablePlan, schema};
use crate::rewrite::output_table::{OutputTable, TableOutput, Writing};
use crate::rewrite::summary::TableSummary;
use crate::rewrite::tree::{close, finish, move_records};
use crate::table::tree::column::Column;

/// A tree that grows.
pub(super) struct GrowingTree {
    /// The plan of the first part with entries, without its pieces.
    plan: TablePlan,
    written: Vec<WrittenColumn>,
    path: String,
    /// The part that gave the metadata.
    first: PathBuf,
    attached: Attached,
}

/// Whether other trees can follow one. What refers to entries by number, or to branches by position, is joined at the end alone.
pub(super) fn can_grow(plan: &TablePlan) -> bool {
    let tree = &plan.tree;
    let whole = |column: &Column| !column.source.ends_early && column.source.recasts.is_empty();
    plan.copies_fit
        && plan.selected.is_none()
        && tree.tree_index.is_none()
        && tree.branch_ref.is_none()
        && !inner_trees::holds_tree(&tree.graph)
        && plan.columns.iter().all(whole)
}

impl GrowingTree {
    /// Begins with the tree of a part.
    pub fn begin(plan: TablePlan, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<Self> {
        let written = move_records(&plan, output, how)?;
        let first = plan.files.first().map(|file| file.name().to_path_buf()).unwrap_or_default();
        let path = output.place.path.clone();
        let mut begun = Self { plan, written, path, first, attached: Attached::default() };
        begun.release();
        Ok(begun)
    }

    /// Lets go of the part's bytes, and of what says where its baskets were.
    fn release(&mut self) {
        self.plan.files.clear();
        for column in &mut self.plan.columns {
            column.source.clear();
            (column.form.counted, column.form.filled) = (None, None);
        }
        for recode in &mut self.plan.recodes {
            recode.sources.clear();
        }
    }

    fn is_empty(&self) -> bool {
        self.entries() == 0 && self.written.iter().all(|column| column.baskets.is_empty())
    }

    /// Joins the metadata of a part whose baskets are `written`.
    fn join(&mut self, more: &TablePlan, written: Vec<WrittenColumn>) {
        let base = self.entries();
        let other = more.files.first().map(|file| file.name().to_path_buf()).unwrap_or_default();
        self.attached.join(&self.path, &self.plan.tree, &self.first, &more.tree, &other);
        for (mine, theirs) in self.written.iter_mut().zip(written) {
            mine.tot_bytes += theirs.tot_bytes;
            mine.zip_bytes += theirs.zip_bytes;
            mine.key_bytes += theirs.key_bytes;
            mine.largest = mine.largest.max(theirs.largest);
            mine.depths = mine.depths + theirs.depths;
            let moved = theirs.baskets.into_iter().map(|mut basket| {
                basket.first_entry += base;
                basket
            });
            mine.baskets.extend(moved);
        }
        for (branch, their_branch) in self.plan.tree.branches.iter_mut().zip(&more.tree.branches) {
            leaf_maxima::raise_branch(branch, their_branch);
        }
        for (leaf, their_leaf) in self.plan.tree.leaves.iter_mut().zip(&more.tree.leaves) {
            leaf_maxima::raise_leaf(leaf, their_leaf);
        }
        for (recode, theirs) in self.plan.recodes.iter().zip(&more.recodes) {
            for (output, their_output) in recode.outputs.iter().zip(&theirs.outputs) {
                output.maximum.fetch_max(their_output.maximum.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
        let bounds = &mut self.plan.clusters.bounds;
        let skipped = usize::from(!bounds.is_empty());
        bounds.extend(more.clusters.bounds.iter().skip(skipped).map(|bound| base + bound));
        let entries: u64 = more.input_entries.iter().sum();
        self.plan.input_entries = vec![base + entries];
    }
}

/// Whether the entries of two trees mean the same in the same bytes, branch by branch.
fn are_alike(first: &TablePlan, other: &TablePlan) -> bool {
    let alike = |(mine, theirs): (&Column, &Column)| {
        mine.branch == theirs.branch
            && mine.form.has_offsets == theirs.form.has_offsets
            && mine.form.io_bits == theirs.form.io_bits
            && mine.target.shape == theirs.target.shape
    };
    let found = schema::compare(first.described(), other.described());
    found.is_equal()
        && found.map.iter().enumerate().all(|(branch, theirs)| *theirs == Some(branch))
        && first.columns.len() == other.columns.len()
        && first.columns.iter().zip(&other.columns).all(alike)
        && first.tree.leaves.len() == other.tree.leaves.len()
        && first.recodes.len() == other.recodes.len()
}

fn is_empty(plan: &TablePlan) -> bool {
    plan.input_entries.iter().sum::<u64>() == 0 && plan.columns.iter().all(|column| column.source.pieces.is_empty())
}

impl GrowingTable for GrowingTree {
    fn fits(&self, more: &dyn OutputTable) -> bool {
        let Some(more) = more.tree() else { return false };
        can_grow(more) && (self.is_empty() || are_alike(&self.plan, more))
    }

    fn append(&mut self, more: Box<dyn OutputTable>, output: &mut TableOutput<'_>, how: &Writing<'_>) -> Result<()> {
        let more = more.into_tree().ok_or_else(|| Error::request("a table of another container"))?;
        if self.is_empty() {
            *self = Self::begin(*more, output, how)?;
            return Ok(());
        }
        if !is_empty(&more) {
            let written = move_records(&more, output, how)?;
            self.join(&more, written);
        }
        Ok(())
    }

    fn entries(&self) -> u64 {
        self.plan.input_entries.iter().sum()
    }

    fn update(&mut self, writer: &mut FileWriter) -> Result<Labels> {
        close(&mut self.plan, self.written.clone());
        finalize::add_own_infos(writer, &self.plan.tree);
        let (class, title) = (self.plan.tree.class.clone(), self.plan.tree.named.title.clone());
        Ok(Labels { class, title, is_compressed: true })
    }

    fn record(&self, keylen: usize) -> Result<Vec<u8>> {
        write::write_tree(&self.plan.tree, keylen)
    }

    fn finish(
        self: Box<Self>,
        output: &mut TableOutput<'_>,
        compression: Compression,
    ) -> Result<(TableSummary, Vec<String>)> {
        let Self { plan, written, attached, .. } = *self;
        let (summary, mut lost) = finish(output, plan, written, compression)?;
        lost.extend(attached.finish().0);
        Ok((summary, lost))
    }
}
