//! The public door: a file that trees are written to by any number of fill contexts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::layout::{Layout, defaults};
use rootfile::{FileWriter, Result};

use super::conform::Casting;
use super::context::FillContext;
use super::metrics::Metrics;
use super::plan::{TreePlan, TreeSpec};
use super::pool::WritePool;
use super::shared::Shared;

/// Bytes that a writer takes besides its clusters: buffers of the file, and the metadata of small trees.
const FILE_BYTES: u64 = 2 << 20;
/// Bytes that each branch takes in metadata, and again where it is filled.
const BRANCH_BYTES: u64 = 3000;
/// Bytes that each branch needs at least besides, for its baskets.
const BASKET_BYTES: u64 = 500;

/// In which order clusters go into the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they are finished: nobody waits for others, and the order of entries depends on timing.
    #[default]
    Arrival,
    /// By the number of the task that filled them, from 0: the same bytes whatever the timing. Tasks are best begun in
    /// that order; what is filled ahead of its turn waits in memory.
    Tasks,
}

/// When the trees' metadata are saved, so that what was written until then can be read even if the rest never comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSave {
    /// Each time so many bytes were written.
    Bytes(u64),
    /// Each time so many entries were written, of all trees together.
    Entries(u64),
}

/// How a file is written.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// How entries lie in it. What it does not say is as ROOT does it.
    pub layout: Layout,
    /// Whether a file of that name is replaced.
    pub overwrite: bool,
    /// In which order clusters go into it.
    pub order: Order,
    /// Which arrays columns take that are not of their types.
    pub casting: Casting,
    /// When metadata are saved in between; never, if absent.
    pub auto_save: Option<AutoSave>,
    /// The file's title.
    pub title: String,
    /// Whether what is written is forgotten: to see what writing costs besides.
    pub discard: bool,
    /// The date of its records, in seconds since 1970. SOURCE_DATE_EPOCH goes before it; without either it is now.
    pub date: Option<i64>,
}

/// A tree of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeId(usize);

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Written {
    /// Bytes of the file.
    pub bytes: u64,
    /// Its trees.
    pub trees: Vec<WrittenTree>,
}

/// A tree that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WrittenTree {
    /// Its name.
    pub name: String,
    /// Entries.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Baskets.
    pub baskets: u64,
    /// Bytes before compression, keys included.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
}

/// Writes trees into one ROOT file, filled from any number of threads. The file appears under its name when
/// [`ParallelWriter::finish`] has put all of it on disk, and not at all if anything goes wrong before.
pub struct ParallelWriter {
    shared: Arc<Shared>,
    layout: Layout,
    fixed: u64,
    path: PathBuf,
}

impl ParallelWriter {
    /// Starts a file, within the memory of a pool, which other files may share.
    pub fn create(path: &Path, options: &WriteOptions, pool: &WritePool) -> Result<Self> {
        options.layout.check_container().map_err(|e| e.file(path))?;
        let gate = pool.gate();
        gate.fix(FILE_BYTES, FILE_BYTES).map_err(|e| e.file(path))?;
        let layout = options.layout.clone();
        let compression = layout.common.compression.unwrap_or(defaults::COMPRESSION).to_root_setting();
        let date = crate::closing::date(options.date.map(crate::closing::nearest_date));
        let file = match options.discard {
            true => FileWriter::discarding(path, compression, date, &options.title)?,
            false => FileWriter::create(path, options.overwrite, compression, date, &options.title)?,
        };
        gate.count_file(true);
        let shared = Arc::new(Shared::new(file, pool, options));
        Ok(Self { shared, layout, fixed: FILE_BYTES, path: path.to_path_buf() })
    }

    /// Adds a tree.
    pub fn tree(&mut self, spec: &TreeSpec) -> Result<TreeId> {
        let (plan, tree) = TreePlan::new(spec, &self.layout).map_err(|e| e.file(&self.path))?;
        let branches = plan.branches.len() as u64;
        let bytes = branches * BRANCH_BYTES;
        self.shared.gate.fix(bytes, FILE_BYTES + branches * BASKET_BYTES).map_err(|e| e.file(&self.path))?;
        self.fixed += bytes;
        self.shared.add_tree(&spec.path, plan, tree).map(TreeId)
    }

    /// Makes a directory, and those that it lies in. Those of trees are made with them.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.shared.mkdir(path).map_err(|e| e.file(&self.path))
    }

    /// What one thread or task fills; in [`Order::Tasks`] it is the next task.
    pub fn fill_context(&self, tree: TreeId) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.shared), tree.0, None)
    }

    /// What one task fills; in [`Order::Tasks`] its number decides where its entries go. No two tasks may have the same.
    pub fn fill_task(&self, tree: TreeId, task: u64) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.shared), tree.0, Some(task))
    }

    /// A look at the work.
    pub fn metrics(&self) -> Metrics {
        self.shared.metrics()
    }

    /// Saves the metadata of all trees now, as AutoSave does.
    pub fn save(&self) -> Result<()> {
        self.shared.save()
    }

    /// Returns when all that is written so far is on disk.
    pub fn sync(&self) -> Result<()> {
        self.shared.sync()
    }

    /// Gives the output up: it will not appear, and fill contexts end with an error.
    pub fn abandon(self, why: &str) {
        self.shared.fail(&rootfile::Error::request(why));
    }

    /// Ends the file, once all contexts are finished.
    pub fn finish(self) -> Result<Written> {
        self.shared.close().map_err(|e| e.file(&self.path))
    }
}

impl Drop for ParallelWriter {
    fn drop(&mut self) {
        self.shared.gate.count_file(false);
        self.shared.gate.unfix(self.fixed);
    }
}
