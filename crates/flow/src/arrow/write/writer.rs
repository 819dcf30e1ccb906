//! The public entry point: a file whose trees and RNTuples are filled by any number of fill contexts.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dataset::layout::{Container, Layout, defaults};
use dataset::ntuple::make::NewField;
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FileWriter, Result};

use super::committer::Committer;
use super::fill_context::FillContext;
use super::metrics::Metrics;
use super::ntuple::plan::NtupleSpec;
use super::options::{WriteOptions, WritePlace};
use super::output::NewObject;
use super::table_source::{MoreColumns, TableSource};
use super::tree::plan::{TreeColumn, TreeSpec};
use super::write_pool::WritePool;
use super::written::Written;
use crate::execute::budget::too_small;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::execute::shared_work::SharedWork;
use crate::table::memory;

/// Memory of a writer besides its clusters, in bytes: buffers of the file, and the metadata of small trees.
const FILE_BYTES: u64 = 2 << 20;
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
    /// What its tables are made of, by number.
    sources: Mutex<Vec<TableSource>>,
    /// Memory that is reserved as long as the file is open.
    fixed: AtomicU64,
    path: PathBuf,
}

impl ParallelWriter {
    /// Starts a file within the memory of a pool, which other files may share.
    ///
    /// # Errors
    ///
    /// There is a file that may not be replaced, the file cannot be created, or the memory of the pool is too small.
    pub fn create(path: &Path, options: &WriteOptions, pool: &WritePool) -> Result<Self> {
        let memory_limiter = &pool.memory_limiter;
        memory_limiter
            .reserve_fixed(FILE_BYTES, FILE_BYTES)
            .map_err(|smallest| too_small(memory_limiter.limit(), smallest, "").file(path))?;
        let layout = options.layout.clone();
        let compression = layout.common.compression.unwrap_or(defaults::COMPRESSION).to_root_setting();
        let date = crate::commit::date::date(options.date.map(crate::commit::date::nearest_date));
        let title = &options.title;
        let file = match &options.place {
            WritePlace::File => FileWriter::create(path, options.overwrite, compression, date, title)?,
            WritePlace::Sink(sink) => FileWriter::into_sink(path, Arc::clone(sink), compression, date, title)?,
            WritePlace::Nowhere => FileWriter::discarding(path, compression, date, title)?,
        };
        memory_limiter.count_file(true);
        let committer = Arc::new(Committer::new(file, pool, options));
        let (sources, fixed) = (Mutex::default(), AtomicU64::new(FILE_BYTES));
        Ok(Self { committer, layout, sources, fixed, path: path.to_path_buf() })
    }

    /// Makes a table anew in another layout, before it is filled. It stays a tree or an RNTuple.
    ///
    /// # Errors
    ///
    /// The layout does not fit the columns, the table is of another writer, or a context fills or has filled it.
    pub fn remake(&self, table: TableId, layout: &Layout) -> Result<()> {
        let mut sources = self.sources();
        let source = source_of(&mut sources, table)?;
        let path = source.path().to_owned();
        let named = |e: Error| e.object(&path).file(&self.path);
        let remade = source.in_layout(layout).map_err(named)?;
        self.committer.replace_table(table.0, remade.table()).map_err(named)?;
        *source = remade;
        Ok(())
    }

    /// Adds columns to a table of [`ParallelWriter::tree`] that is being filled. `classes` are those that describe them, beside the
    /// table's own.
    ///
    /// They begin with the first cluster that has them, in the order of clusters in the file. Entries before it, and entries of contexts
    /// that were filled without them, have zeroes, empty strings and empty lists: in an RNTuple they are not stored, in a tree they are
    /// (as by `TBranch::BackFill`). The first batch with them ends the context's cluster: so batches decide where columns begin, not
    /// threads. Later batches without them are refused, also in contexts that begin after this call. Columns that no batch brings are
    /// zero everywhere.
    ///
    /// # Errors
    ///
    /// If there is a column of that name, if a counter of a new list counts others already, if a type cannot be written or has no zero (a
    /// quantised column of a range without it), or if the memory budget is too small. The table stays as it is.
    pub fn add_columns(&self, table: TableId, columns: &[TreeColumn], classes: &StreamerInfos) -> Result<()> {
        self.widen(table, |source, scratches| source.with_columns(columns, classes, scratches))
    }

    /// Adds fields to a table of [`ParallelWriter::ntuple`] that is being filled: see [`ParallelWriter::add_columns`]. The format has
    /// them in the schema extension of the footer, as deferred columns.
    ///
    /// # Errors
    ///
    /// As for [`ParallelWriter::add_columns`].
    pub fn add_fields(&self, table: TableId, fields: &[NewField], classes: &StreamerInfos) -> Result<()> {
        self.widen(table, |source, scratches| source.with_fields(fields, classes, scratches))
    }

    fn widen(
        &self,
        table: TableId,
        wider: impl FnOnce(&TableSource, &EncodeScratchPool) -> Result<MoreColumns>,
    ) -> Result<()> {
        let mut sources = self.sources();
        let source = source_of(&mut sources, table)?;
        let path = source.path().to_owned();
        let named = |e: Error| e.object(&path).file(&self.path);
        let scratches = EncodeScratchPool::new(Arc::clone(&self.committer.pool.compressors), Arc::default());
        let MoreColumns { source: wide, width, add } = wider(source, &scratches).map_err(named)?;
        let bytes = self.reserve(width)?;
        if let Err(error) = self.committer.add_columns(table.0, add) {
            self.fixed.fetch_sub(bytes, Ordering::Relaxed);
            self.committer.pool.memory_limiter.release_fixed(bytes);
            return Err(named(error));
        }
        *source = wide;
        Ok(())
    }

    fn sources(&self) -> MutexGuard<'_, Vec<TableSource>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves memory for branches or columns.
    fn reserve(&self, streams: u64) -> Result<u64> {
        let (bytes, least) = (streams * memory::STREAM, FILE_BYTES + streams * PIECE_BYTES);
        let limiter = &self.committer.pool.memory_limiter;
        let refused = |smallest| too_small(limiter.limit(), smallest, "").file(&self.path);
        limiter.reserve_fixed(bytes, least).map_err(refused)?;
        self.fixed.fetch_add(bytes, Ordering::Relaxed);
        Ok(bytes)
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
    ///
    /// # Errors
    ///
    /// The path is taken, a column cannot be written in the layout, or the memory is too small for one cluster.
    pub fn tree(&mut self, spec: &TreeSpec) -> Result<TableId> {
        self.add(TableSource::tree(spec, &self.layout, self.limit()))
    }

    /// Adds an RNTuple.
    ///
    /// # Errors
    ///
    /// The path is taken, a field cannot be written in the layout, or the memory is too small for one cluster.
    pub fn ntuple(&mut self, spec: &NtupleSpec) -> Result<TableId> {
        self.add(TableSource::ntuple(spec, &self.layout, self.limit()))
    }

    /// Baskets and pages that any thread makes.
    pub(super) fn work(&self) -> &Arc<SharedWork> {
        &self.committer.pool.work
    }

    /// The memory of the writer in bytes.
    fn limit(&self) -> u64 {
        self.committer.pool.memory_limiter.limit()
    }

    fn add(&self, source: Result<TableSource>) -> Result<TableId> {
        let source = source.map_err(|e| e.file(&self.path))?;
        let added = source.table();
        self.reserve(added.width())?;
        // Tables are numbered in the order in which the file gets them.
        let mut sources = self.sources();
        let table = self.committer.add_table(source.path(), added)?;
        sources.push(source);
        Ok(TableId(table))
    }

    /// Makes a directory and its parents. Directories of trees are made with the trees.
    ///
    /// # Errors
    ///
    /// A part of the path is taken by something that is no directory, or the file cannot be written.
    pub fn mkdir(&self, path: &str) -> Result<()> {
        self.committer.mkdir(path).map_err(|e| e.file(&self.path))
    }

    /// Writes an object that is no table at this path.
    ///
    /// # Errors
    ///
    /// The path is taken or has a part that is no directory, or the file cannot be written.
    pub fn object(&self, path: &str, object: NewObject<'_>) -> Result<()> {
        self.committer.add_object(path, object).map_err(|e| e.object(path).file(&self.path))
    }

    /// A context for one thread or task. In [`Order::Tasks`](super::Order::Tasks) it is the next task.
    ///
    /// # Errors
    ///
    /// The table is of another writer, or the output was given up after an error elsewhere.
    pub fn fill_context(&self, table: TableId) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.committer), table.0, None)
    }

    /// A context for one task. In [`Order::Tasks`](super::Order::Tasks) the number decides where its entries go, and no two tasks may have the
    /// same number.
    ///
    /// # Errors
    ///
    /// As [`Self::fill_context`], and if a task of that number was begun already.
    pub fn fill_task(&self, table: TableId, task: u64) -> Result<FillContext> {
        FillContext::begin(Arc::clone(&self.committer), table.0, Some(task))
    }

    /// Metrics of the work so far.
    pub fn metrics(&self) -> Metrics {
        self.committer.metrics()
    }

    /// Number of fill contexts that are not finished.
    pub fn open_contexts(&self) -> usize {
        self.committer.open_contexts()
    }

    /// The hidden file that is written until [`ParallelWriter::finish`] gives it its name. After a save other processes can
    /// read it up to there. `None` if the output was given up or its bytes are discarded.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.committer.hidden_path()
    }

    /// Saves the metadata of all tables now, as AutoSave does.
    ///
    /// # Errors
    ///
    /// The metadata cannot be written, or the output was given up after an error elsewhere.
    pub fn save(&self) -> Result<()> {
        self.committer.save()
    }

    /// Syncs to disk what is written so far.
    ///
    /// # Errors
    ///
    /// The disk fails, or the output was given up after an error elsewhere.
    pub fn sync(&self) -> Result<()> {
        self.committer.sync()
    }

    /// Gives the output up: it will not appear, and fill contexts end with an error.
    pub fn abandon(self, why: &str) {
        self.committer.fail(&rootfile::Error::request(why));
    }

    /// Ends the file. All contexts must be finished.
    ///
    /// # Errors
    ///
    /// A context is not finished, the rest cannot be written, or the output was given up after an error elsewhere. Then there is no output.
    pub fn finish(self) -> Result<Written> {
        self.committer.close().map_err(|e| e.file(&self.path))
    }
}

impl Drop for ParallelWriter {
    fn drop(&mut self) {
        self.committer.pool.memory_limiter.count_file(false);
        self.committer.pool.memory_limiter.release_fixed(self.fixed.load(Ordering::Relaxed));
    }
}

fn source_of(sources: &mut [TableSource], table: TableId) -> Result<&mut TableSource> {
    sources.get_mut(table.0).ok_or_else(|| Error::request("a table of another writer"))
}
