//! The file of a writer: its trees so far, and how a cluster is appended. `commit_order` decides the order of clusters.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::tree::Tree;
use rootfile::{DirId, FileWriter, Result};

use super::finish_trees;
use super::finished_cluster::FinishedCluster;
use super::memory_limiter::stopped;
use super::open_tree::OpenTree;
use super::options::AutoSave;
use super::tree_plan::TreePlan;
use super::written::Written;
use crate::commit::finalize;
use crate::commit::sink::{Sink, WrittenColumn};

/// A file that is being written.
pub(crate) struct Output {
    file: FileWriter,
    trees: Vec<OpenTree>,
    /// Directories made so far, by path.
    directories: HashMap<String, DirId>,
    auto_save: Option<AutoSave>,
    /// Bytes or entries of the file when it was last saved.
    saved_at: u64,
}

impl Output {
    pub fn new(file: FileWriter, auto_save: Option<AutoSave>) -> Self {
        Self { file, trees: Vec::new(), directories: HashMap::new(), auto_save, saved_at: 0 }
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.file.position()
    }

    /// Adds a tree. It gets the next number.
    pub fn add_tree(&mut self, path: &str, plan: Arc<TreePlan>, tree: Tree) -> Result<()> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = self.mkdir(folders)?;
        for info in &plan.infos {
            self.file.infos_mut().add(Arc::clone(info));
        }
        finalize::add_own_infos(&mut self.file, &tree);
        let written = plan.branches.iter().map(|_| WrittenColumn::default()).collect();
        let sink = Sink { seek_pdir: self.file.seek_of(directory), written };
        let maxima = vec![0; plan.branches.len()];
        self.trees.push(OpenTree { sink, tree, directory, bounds: vec![0], maxima, plan });
        Ok(())
    }

    /// Makes the directory of a path and its parents, if they are not there.
    pub fn mkdir(&mut self, path: &str) -> Result<DirId> {
        let mut directory = self.file.top();
        let mut so_far = String::new();
        for folder in path.split('/').filter(|folder| !folder.is_empty()) {
            so_far = so_far + "/" + folder;
            directory = match self.directories.get(&so_far) {
                Some(directory) => *directory,
                None => self.file.mkdir(directory, folder, "")?,
            };
            self.directories.insert(so_far.clone(), directory);
        }
        Ok(directory)
    }

    /// Appends a cluster to a tree, and saves the metadata if AutoSave is due.
    pub fn append(&mut self, tree: usize, cluster: &mut FinishedCluster) -> Result<()> {
        let open = self.trees.get_mut(tree).ok_or_else(stopped)?;
        let base = open.entries();
        for chunk in &mut cluster.chunks {
            open.sink.append_from(&mut self.file, chunk, base)?;
        }
        if cluster.entries > 0 {
            open.bounds.push(base + cluster.entries);
        }
        for (mine, theirs) in open.maxima.iter_mut().zip(&cluster.maxima) {
            *mine = (*mine).max(*theirs);
        }
        self.save_if_due()
    }

    fn save_if_due(&mut self) -> Result<()> {
        let entries = |trees: &[OpenTree]| trees.iter().map(OpenTree::entries).sum::<u64>();
        let due = match self.auto_save {
            None => false,
            Some(AutoSave::Bytes(bytes)) => self.bytes() >= self.saved_at + bytes,
            Some(AutoSave::Entries(n)) => entries(&self.trees) >= self.saved_at + n,
        };
        if due {
            self.save()?;
            self.saved_at = match self.auto_save {
                Some(AutoSave::Entries(_)) => entries(&self.trees),
                _ => self.bytes(),
            };
        }
        Ok(())
    }

    /// Saves the metadata of all trees.
    pub fn save(&mut self) -> Result<()> {
        finish_trees::save(&mut self.file, &mut self.trees)
    }

    /// Syncs the file to disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Ends the file.
    pub fn close(mut self) -> Result<Written> {
        let trees = finish_trees::finish(&mut self.file, self.trees)?;
        Ok(Written { bytes: self.file.finish()?, trees })
    }
}
