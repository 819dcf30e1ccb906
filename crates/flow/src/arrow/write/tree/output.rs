//! A tree that is being written: how a cluster is appended, and its record, at the end of the file and at each AutoSave before.

use std::sync::Arc;

use dataset::layout::Container;
use dataset::tree::{Tree, write};
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::default_baskets::default_baskets;
use super::plan::TreePlan;
use crate::arrow::write::format::{Content, OpenTable};
use crate::arrow::write::written::WrittenTable;
use crate::commit::tree::finalize::{BufferSize, ClosedColumn, add_own_infos, close_tree, write_tree};
use crate::commit::tree::sink::{Sink, WrittenColumn};
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::table::tree::chunk::Chunk;

/// The baskets of a finished cluster.
pub(crate) struct TreeCluster {
    /// Those of each branch. Their entries count from the start of the cluster.
    pub chunks: Vec<Chunk>,
    /// The largest value of each branch that counts others, by index of the branch plan.
    pub maxima: Vec<u64>,
}

/// A tree that is being written.
pub(crate) struct OpenTree {
    plan: Arc<TreePlan>,
    tree: Tree,
    sink: Sink,
    /// First entry of each cluster, and last the number of entries.
    bounds: Vec<u64>,
    maxima: Vec<u64>,
}

impl Content for TreeCluster {
    fn buffers(&mut self) -> Vec<&mut Vec<u8>> {
        self.chunks.iter_mut().map(|chunk| &mut chunk.bytes).collect()
    }
}

impl OpenTable for OpenTree {
    type Plan = TreePlan;
    type Record = Tree;
    type Content = TreeCluster;

    fn begin(file: &mut FileWriter, directory: DirId, plan: Arc<TreePlan>, tree: Tree) -> Result<Self> {
        add_infos(file, &plan, &tree);
        let branches = plan.branches.len();
        let written = (0..branches).map(|_| WrittenColumn::default()).collect();
        let sink = Sink { seek_pdir: file.seek_of(directory), written };
        Ok(Self { plan, tree, sink, bounds: vec![0], maxima: vec![0; branches] })
    }

    /// Clusters so far get baskets of defaults for the new branches.
    fn extend(
        &mut self,
        file: &mut FileWriter,
        plan: Arc<TreePlan>,
        tree: Tree,
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        add_infos(file, &plan, &tree);
        let (before, branches) = (self.maxima.len(), plan.branches.len());
        (self.plan, self.tree) = (plan, tree);
        self.sink.written.resize(branches, WrittenColumn::default());
        self.maxima.resize(branches, 0);
        let bounds = self.bounds.clone();
        for (first, end) in bounds.iter().zip(bounds.iter().skip(1)) {
            self.append_defaults(file, before, (*first, end - first), scratches)?;
        }
        Ok(())
    }

    fn append(
        &mut self,
        file: &mut FileWriter,
        (entries, cluster): (u64, &mut TreeCluster),
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        let TreeCluster { chunks, maxima } = cluster;
        let base = self.entries();
        for chunk in chunks.iter_mut() {
            self.sink.append_from(file, chunk, base)?;
        }
        if chunks.len() < self.maxima.len() {
            self.append_defaults(file, chunks.len(), (base, entries), scratches)?;
        }
        if entries > 0 {
            self.bounds.push(base + entries);
        }
        for (mine, theirs) in self.maxima.iter_mut().zip(maxima) {
            *mine = (*mine).max(*theirs);
        }
        Ok(())
    }

    fn entries(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }

    fn update(&mut self, _: &mut FileWriter) -> Result<()> {
        let written = self.sink.written.clone();
        self.close(written);
        Ok(())
    }

    fn labels(&self) -> (&str, &str, &str) {
        (&self.tree.class, &self.plan.name, &self.tree.named.title)
    }

    fn record(&self, keylen: usize) -> Result<Vec<u8>> {
        write::write_tree(&self.tree, keylen)
    }

    fn finish(mut self, file: &mut FileWriter, directory: DirId, compression: Compression) -> Result<WrittenTable> {
        let written = std::mem::take(&mut self.sink.written);
        let key_bytes = written.iter().map(|column| column.key_bytes).sum();
        self.close(written);
        let Self { plan, tree, bounds, .. } = self;
        let name = plan.name.clone();
        drop(plan);
        tree.check_baskets(|_| false)?;
        write_tree(file, directory, &tree, &name, compression)?;
        Ok(WrittenTable {
            name,
            container: Container::Ttree,
            entries: tree.entries,
            clusters: bounds.len() as u64 - 1,
            baskets: tree.branches.iter().map(|branch| branch.baskets.len() as u64).sum(),
            tot_bytes: tree.tot_bytes,
            zip_bytes: tree.zip_bytes,
            key_bytes,
            checksum_bytes: 0,
        })
    }
}

impl OpenTree {
    /// Appends baskets of defaults for a number of entries behind the first, of all branches from one on.
    fn append_defaults(
        &mut self,
        file: &mut FileWriter,
        branch: usize,
        (first_entry, entries): (u64, u64),
        scratches: &EncodeScratchPool,
    ) -> Result<()> {
        let sink = &mut self.sink;
        let mut put = |mut chunk: Chunk| sink.append_from(file, &mut chunk, first_entry);
        default_baskets(&self.plan, (branch, entries), scratches, &mut put)
    }

    fn close(&mut self, written: Vec<WrittenColumn>) {
        let entries = self.entries();
        for branch in &mut self.tree.branches {
            // Parent branches have no baskets, but count entries.
            branch.entries = entries;
            branch.entry_number = entries;
        }
        let columns = self.plan.branches.iter().zip(written).zip(&self.maxima);
        let columns = columns.map(|((plan, written), maximum)| ClosedColumn {
            branch: plan.branch,
            written,
            compression: plan.compression,
            buffer: match (plan.memory_ratio, plan.one_per_cluster) {
                (Some(ratio), _) => BufferSize::Times(ratio),
                (None, true) => BufferSize::Times(1.0),
                (None, false) => BufferSize::Keep,
            },
            maximum: plan.counts.then_some(*maximum),
            had_data: true,
        });
        close_tree(&mut self.tree, entries, &self.bounds, columns);
    }
}

/// Adds the streamer infos that a tree needs.
fn add_infos(file: &mut FileWriter, plan: &TreePlan, tree: &Tree) {
    for info in &plan.infos {
        file.infos_mut().add(Arc::clone(info));
    }
    add_own_infos(file, tree);
}
