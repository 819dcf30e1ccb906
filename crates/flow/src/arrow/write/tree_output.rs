//! A tree that is being written: how a cluster is appended, and its record, at the end of the file and at each AutoSave before.

use std::sync::Arc;

use dataset::layout::Container;
use dataset::tree::{Tree, write};
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::default_baskets::default_baskets;
use super::table_plan::TablePlan;
use super::tree_plan::TreePlan;
use super::written::WrittenTable;
use crate::commit::finalize::{self, BufferSize};
use crate::commit::leaf_maxima;
use crate::commit::sink::{Sink, WrittenColumn};
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::table::chunk::Chunk;

/// A tree that is being written.
pub(crate) struct OpenTree {
    plan: Arc<TablePlan>,
    tree: Tree,
    sink: Sink,
    /// First entry of each cluster, and last the number of entries.
    bounds: Vec<u64>,
    maxima: Vec<u64>,
    /// For the branches that clusters were filled without, once there are any.
    scratches: Option<Arc<EncodeScratchPool>>,
}

impl OpenTree {
    pub fn new(file: &mut FileWriter, directory: DirId, plan: Arc<TablePlan>, tree: Tree) -> Self {
        let branches = add_infos(file, &plan, &tree);
        let written = (0..branches).map(|_| WrittenColumn::default()).collect();
        let sink = Sink { seek_pdir: file.seek_of(directory), written };
        Self { plan, tree, sink, bounds: vec![0], maxima: vec![0; branches], scratches: None }
    }

    /// Adds branches. Clusters so far get baskets of defaults for them.
    pub fn extend(
        &mut self,
        file: &mut FileWriter,
        (plan, tree): (Arc<TablePlan>, Tree),
        scratches: &Arc<EncodeScratchPool>,
    ) -> Result<()> {
        let (before, branches) = (self.maxima.len(), add_infos(file, &plan, &tree));
        (self.plan, self.tree) = (plan, tree);
        self.sink.written.resize(branches, WrittenColumn::default());
        self.maxima.resize(branches, 0);
        self.scratches = Some(Arc::clone(scratches));
        let bounds = self.bounds.clone();
        for (first, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            self.append_defaults(file, before, (*first, end - first))?;
        }
        Ok(())
    }

    /// Appends baskets of defaults for a number of entries behind the first, of all branches from one on.
    fn append_defaults(
        &mut self,
        file: &mut FileWriter,
        branch: usize,
        (first_entry, entries): (u64, u64),
    ) -> Result<()> {
        let (Some(plan), Some(scratches)) = (of_tree(&self.plan), &self.scratches) else { return Ok(()) };
        let sink = &mut self.sink;
        let mut put = |mut chunk: Chunk| sink.append_from(file, &mut chunk, first_entry);
        default_baskets(plan, (branch, entries), scratches, &mut put)
    }

    pub fn entries(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    /// Appends a cluster.
    pub fn append(
        &mut self,
        file: &mut FileWriter,
        entries: u64,
        (chunks, maxima): (&mut [Chunk], &[u64]),
    ) -> Result<()> {
        let base = self.entries();
        for chunk in chunks.iter_mut() {
            self.sink.append_from(file, chunk, base)?;
        }
        if chunks.len() < self.maxima.len() {
            self.append_defaults(file, chunks.len(), (base, entries))?;
        }
        if entries > 0 {
            self.bounds.push(base + entries);
        }
        for (mine, theirs) in self.maxima.iter_mut().zip(maxima) {
            *mine = (*mine).max(*theirs);
        }
        Ok(())
    }

    /// Updates the metadata with what was written so far.
    pub fn update(&mut self) {
        let written = self.sink.written.clone();
        self.finalize(written);
    }

    fn finalize(&mut self, written: Vec<WrittenColumn>) {
        let entries = self.entries();
        let tree = &mut self.tree;
        tree.entries = entries;
        for branch in &mut tree.branches {
            // Parent branches have no baskets, but count entries.
            branch.entries = entries;
            branch.entry_number = entries;
        }
        let plans = of_tree(&self.plan).map_or(&[][..], |plan| plan.branches.as_slice());
        for ((plan, written), maximum) in plans.iter().zip(written).zip(&self.maxima) {
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
        finalize::finalize_tree(tree, &self.bounds);
    }

    /// Class, name and title of its key.
    pub fn labels(&self) -> (&str, &str, &str) {
        let name = of_tree(&self.plan).map_or("", |plan| plan.name.as_str());
        (&self.tree.class, name, &self.tree.named.title)
    }

    /// Its record. Positions in it count from the start of its key.
    pub fn record(&self, keylen: usize) -> Result<Vec<u8>> {
        write::write_tree(&self.tree, keylen)
    }

    /// Writes its record.
    pub fn finish(mut self, file: &mut FileWriter, directory: DirId, compression: Compression) -> Result<WrittenTable> {
        let written = std::mem::take(&mut self.sink.written);
        self.finalize(written);
        self.tree.check_baskets(|_| false)?;
        file.write_object(directory, self.labels(), compression, |keylen| self.record(keylen))?;
        let tree = &self.tree;
        Ok(WrittenTable {
            name: self.labels().1.to_owned(),
            container: Container::Ttree,
            entries: tree.entries,
            clusters: self.bounds.len() as u64 - 1,
            baskets: tree.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
            tot_bytes: tree.tot_bytes,
            zip_bytes: tree.zip_bytes,
        })
    }
}

/// Adds the streamer infos that a tree needs. Returns the number of its branches with entries.
fn add_infos(file: &mut FileWriter, plan: &TablePlan, tree: &Tree) -> usize {
    let plan = of_tree(plan);
    for info in plan.into_iter().flat_map(|plan| &plan.infos) {
        file.infos_mut().add(Arc::clone(info));
    }
    finalize::add_own_infos(file, tree);
    plan.map_or(0, |plan| plan.branches.len())
}

fn of_tree(plan: &TablePlan) -> Option<&TreePlan> {
    match plan {
        TablePlan::Tree(plan) => Some(plan),
        TablePlan::Ntuple(_) => None,
    }
}
