//! What is in the file so far, of all its trees, and how a cluster is put behind it. Whose turn it is, and what waits, it
//! does not know.

use std::collections::HashMap;
use std::sync::Arc;

use dataset::tree::Tree;
use rootfile::{DirId, FileWriter, Result};

use super::close;
use super::gate::stopped;
use super::plan::TreePlan;
use super::shared::Cluster;
use super::writer::{AutoSave, Written};
use crate::closing;
use crate::sink::{self, Sink};

/// A file that is being written.
pub(super) struct Output {
    file: FileWriter,
    trees: Vec<OpenTree>,
    /// Directories made so far, by path.
    directories: HashMap<String, DirId>,
    auto_save: Option<AutoSave>,
    /// Bytes or entries of the file when it was last saved.
    saved_at: u64,
}

/// A tree that is being written.
pub(super) struct OpenTree {
    pub plan: Arc<TreePlan>,
    pub tree: Tree,
    pub directory: DirId,
    pub sink: Sink,
    /// First entry of each cluster, and last the number of entries.
    pub bounds: Vec<u64>,
    pub maxima: Vec<u64>,
}

impl OpenTree {
    pub fn entries(&self) -> u64 {
        self.bounds.last().copied().unwrap_or(0)
    }
}

impl Output {
    pub fn new(file: FileWriter, auto_save: Option<AutoSave>) -> Self {
        Self { file, trees: Vec::new(), directories: HashMap::new(), auto_save, saved_at: 0 }
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.file.position()
    }

    /// Adds a tree, as the next in number.
    pub fn add_tree(&mut self, path: &str, plan: Arc<TreePlan>, tree: Tree) -> Result<()> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = self.mkdir(folders)?;
        for info in &plan.infos {
            self.file.infos_mut().add(Arc::clone(info));
        }
        closing::add_own_infos(&mut self.file, &tree);
        let written = plan.branches.iter().map(|_| sink::Written::default()).collect();
        let sink = Sink { seek_pdir: self.file.seek_of(directory), written };
        let maxima = vec![0; plan.branches.len()];
        self.trees.push(OpenTree { sink, tree, directory, bounds: vec![0], maxima, plan });
        Ok(())
    }

    /// Makes the directory of a path if it is not there, with those that it lies in.
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

    /// Puts a cluster behind a tree's others. AutoSave may be due by that.
    pub fn append(&mut self, tree: usize, cluster: &mut Cluster) -> Result<()> {
        let open = self.trees.get_mut(tree).ok_or_else(stopped)?;
        let base = open.entries();
        for chunk in &mut cluster.chunks {
            open.sink.append(&mut self.file, chunk, base)?;
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
        close::save(&mut self.file, &mut self.trees)
    }

    /// Waits until the disk has all there is.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Ends the file.
    pub fn close(mut self) -> Result<Written> {
        let trees = close::finish(&mut self.file, self.trees)?;
        Ok(Written { bytes: self.file.finish()?, trees })
    }
}
