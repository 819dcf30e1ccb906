//! The public entry point: a file whose trees and RNTuples are filled by any number of fill contexts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::layout::{Container, Layout, defaults};
use rootfile::{FileWriter, Result};

use super::committer::Committer;
use super::fill_context::FillContext;
use super::metrics::Metrics;
use super::ntuple_plan::{NtuplePlan, NtupleSpec};
use super::open_table::TableRecord;
use super::options::WriteOptions;
use super::output::NewObject;
use super::table_plan::TablePlan;
use super::tree_plan::{TreePlan, TreeSpec};
use super::write_pool::WritePool;
use super::written::Written;

/// Memory of a writer besides its clusters, in bytes: buffers of the file, and the metadata of small trees.
const FILE_BYTES: u64 = 2 << 20;
/// Memory of each branch or column in bytes: metadata, and again in each context.
const STREAM_BYTES: u64 = 3000;
/// Least memory of each branch or column for its baskets or pages, in bytes.
const PIECE_BYTES: u64 = 500;

/// A table of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableId(usize);

/// Writes trees and RNTuples into one ROOT file, filled from any number of threads. The file appears under its name when
/// [`ParallelWriter::finish`] has put all of it on disk, and not at all if anything goes wrong before.
pub struct ParallelWriter {
    committer: Arc<Committer>,
    layout: Layout,
    fixed: u64,
    path: PathBuf,
}

impl ParallelWriter {
    /// Starts a file within the memory of a pool, which other files may share.
    pub fn create(path: &Path, options: &WriteOptions, pool: &WritePool) -> Result<Self> {
        let memory_limiter = pool.memory_limiter();
        memory_limiter.reserve_fixed(FILE_BYTES, FILE_BYTES).map_err(|e| e.file(path))?;
        let layout = options.layout.clone();
        let compression = layout.common.compression.unwrap_or(defaults::COMPRESSION).to_root_setting();
        let date = crate::commit::date::date(options.date.map(crate::commit::date::nearest_date));
        let file = match options.discard {
            true => FileWriter::discarding(path, compression, date, &options.title)?,
            false => FileWriter::create(path, options.overwrite, compression, date, &options.title)?,
        };
        memory_limiter.count_file(true);
        let committer = Arc::new(Committer::new(file, pool, options));
        Ok(Self { committer, layout, fixed: FILE_BYTES, path: path.to_path_buf() })
    }

    /// Makes a tree anew in another layout, before it is filled.
    pub fn remake_tree(&self, table: TableId, spec: &TreeSpec, layout: &Layout) -> Result<()> {
        let (plan, tree) = TreePlan::new(spec, layout).map_err(|e| e.file(&self.path))?;
        let replaced = self.committer.replace_table(table.0, TablePlan::Tree(plan), TableRecord::Tree(Box::new(tree)));
        replaced.map_err(|e| e.object(&spec.path).file(&self.path))
    }

    /// Makes the tables that are added from now on in another layout.
    pub fn set_layout(&mut self, layout: Layout) {
        self.layout = layout;
    }

    /// What the layout makes of a table at this path.
    pub fn container(&self, path: &str) -> Container {
        self.layout.resolve_tree(path).container.unwrap_or_default()
    }

    /// Adds a tree, or an RNTuple with its content if the layout says so for its path.
    pub fn tree(&mut self, spec: &TreeSpec) -> Result<TableId> {
        if self.container(&spec.path) == Container::Rntuple {
            let spec = NtupleSpec::of_tree(spec).map_err(|e| e.file(&self.path))?;
            return self.ntuple(&spec);
        }
        let (plan, tree) = TreePlan::new(spec, &self.layout).map_err(|e| e.file(&self.path))?;
        self.add(&spec.path, TablePlan::Tree(plan), TableRecord::Tree(Box::new(tree)))
    }

    /// Adds an RNTuple.
    pub fn ntuple(&mut self, spec: &NtupleSpec) -> Result<TableId> {
        let (mut plan, ntuple) = NtuplePlan::new(spec, &self.layout).map_err(|e| e.file(&self.path))?;
        plan.limit_groups(self.committer.memory_limiter.limit());
        self.add(&spec.path, TablePlan::Ntuple(plan), TableRecord::Ntuple(Box::new(ntuple)))
    }

    fn add(&mut self, path: &str, plan: TablePlan, record: TableRecord) -> Result<TableId> {
        let streams = plan.streams();
        let (bytes, least) = (streams * STREAM_BYTES, FILE_BYTES + streams * PIECE_BYTES);
        self.committer.memory_limiter.reserve_fixed(bytes, least).map_err(|e| e.file(&self.path))?;
        self.fixed += bytes;
        self.committer.add_table(path, plan, record).map(TableId)
    }

    /// Makes a directory and its parents. Directories of trees are made with the trees.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.committer.mkdir(path).map_err(|e| e.file(&self.path))
    }

    /// Writes an object that is no table at this path.
    pub fn object(&self, path: &str, object: NewObject<'_>) -> Result<()> {
        self.committer.add_object(path, object).map_err(|e| e.object(path).file(&self.path))
    }

    /// A context for one thread or task. In [`Order::Tasks`](super::Order::Tasks) it is the next task.
    pub fn fill_context(&self, table: TableId) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.committer), table.0, None)
    }

    /// A context for one task. In [`Order::Tasks`](super::Order::Tasks) the number decides where its entries go, and no two tasks may have the
    /// same number.
    pub fn fill_task(&self, table: TableId, task: u64) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.committer), table.0, Some(task))
    }

    /// Metrics of the work so far.
    pub fn metrics(&self) -> Metrics {
        self.committer.metrics()
    }

    /// Saves the metadata of all tables now, as AutoSave does.
    pub fn save(&self) -> Result<()> {
        self.committer.save()
    }

    /// Syncs to disk what is written so far.
    pub fn sync(&self) -> Result<()> {
        self.committer.sync()
    }

    /// Gives the output up: it will not appear, and fill contexts end with an error.
    pub fn abandon(self, why: &str) {
        self.committer.fail(&rootfile::Error::request(why));
    }

    /// Ends the file. All contexts must be finished.
    pub fn finish(self) -> Result<Written> {
        self.committer.close().map_err(|e| e.file(&self.path))
    }
}

impl Drop for ParallelWriter {
    fn drop(&mut self) {
        self.committer.memory_limiter.count_file(false);
        self.committer.memory_limiter.release_fixed(self.fixed);
    }
}
