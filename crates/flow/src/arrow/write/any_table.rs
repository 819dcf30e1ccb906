//! A table of any container, as the writer and the committer know it: `table_source` makes it, and from here on nothing asks which
//! container it has.

use std::collections::VecDeque;
use std::sync::Arc;

use dataset::layout::Container;
use rootfile::codec::Compression;
use rootfile::{DirId, FileWriter, Result};

use super::buffer_pool::BufferPool;
use super::format::{OpenTable, TableFormat};
use super::memory_limiter::stopped;
use super::table::{Opened, Stage, Table};
use super::table_fill::{Streams, TableFill};
use super::table_pass::{TablePass, pass_of};
use super::written::WrittenTable;
use crate::execute::encode::scratch::EncodeScratchPool;
use crate::table::tree::new_index::MakeTreeIndex;

/// A table on its way into a file.
pub(crate) trait AnyTable: Send + Sync {
    fn container(&self) -> Container;

    /// Branches or columns: each takes memory.
    fn width(&self) -> u64;

    /// The look at all values that it needs before it begins.
    fn first_pass(self: Arc<Self>) -> Result<Option<Box<dyn TablePass>>>;

    /// Gives it an index before it begins, and returns the memory that it takes.
    fn put_index(&self, make: MakeTreeIndex<'_>) -> Result<u64>;

    /// Begins it in its file.
    fn begin(&self, file: &mut FileWriter, directory: DirId) -> Result<()>;

    /// What a context fills, and the bytes reserved for the buffers in it that another context left.
    fn fill(self: Arc<Self>) -> Result<(Box<dyn TableFill>, u64)>;

    /// Drops the buffers of finished contexts. Returns the bytes to release.
    fn drop_idle(&self) -> u64;

    /// Drops the buffers of its clusters from a pool.
    fn forget(&self, pool: &BufferPool);

    /// Entries in the file so far.
    fn entries(&self) -> u64;

    /// Updates the metadata with what was written so far. Returns what its key says.
    fn update(&self, file: &mut FileWriter) -> Result<KeyLabels>;

    /// Its record. Positions in it count from the start of its key.
    fn record(&self, keylen: usize) -> Result<Vec<u8>>;

    /// Adds the columns that no cluster has, and writes its record.
    fn finish(
        &self,
        file: &mut FileWriter,
        place: (DirId, Compression),
        scratches: &EncodeScratchPool,
    ) -> Result<WrittenTable>;
}

/// What the key of a table says.
pub(crate) struct KeyLabels {
    pub class: String,
    pub name: String,
    pub title: String,
    pub is_compressed: bool,
}

impl<F: TableFormat> AnyTable for Table<F> {
    fn container(&self) -> Container {
        F::CONTAINER
    }

    fn width(&self) -> u64 {
        self.newest().map_or(0, |plan| F::width(&plan))
    }

    fn first_pass(self: Arc<Self>) -> Result<Option<Box<dyn TablePass>>> {
        pass_of(self)
    }

    fn put_index(&self, make: MakeTreeIndex<'_>) -> Result<u64> {
        self.with_record(|record| F::put_index(record, make))
    }

    fn begin(&self, file: &mut FileWriter, directory: DirId) -> Result<()> {
        let plan = self.newest()?;
        let mut stage = self.stage();
        let Stage::Planned(record) = std::mem::replace(&mut *stage, Stage::Finished) else { return Err(stopped()) };
        let table = F::Open::begin(file, directory, plan, *record)?;
        *stage = Stage::Open(Box::new(Opened { table, late: VecDeque::new() }));
        Ok(())
    }

    fn fill(self: Arc<Self>) -> Result<(Box<dyn TableFill>, u64)> {
        let (streams, kept) = Streams::begin(&self)?;
        Ok((Box::new(streams), kept))
    }

    fn drop_idle(&self) -> u64 {
        self.state().drop_idle()
    }

    fn forget(&self, pool: &BufferPool) {
        self.state().plans.iter().for_each(|plan| pool.forget(&(Arc::clone(plan) as _)));
    }

    fn entries(&self) -> u64 {
        self.with_open(|open| Ok(open.table.entries())).unwrap_or(0)
    }

    fn update(&self, file: &mut FileWriter) -> Result<KeyLabels> {
        self.with_open(|open| {
            open.table.update(file)?;
            let (class, name, title) = open.table.labels();
            let [class, name, title] = [class, name, title].map(str::to_owned);
            Ok(KeyLabels { class, name, title, is_compressed: F::IS_COMPRESSED })
        })
    }

    fn record(&self, keylen: usize) -> Result<Vec<u8>> {
        self.with_open(|open| open.table.record(keylen))
    }

    fn finish(
        &self,
        file: &mut FileWriter,
        (directory, compression): (DirId, Compression),
        scratches: &EncodeScratchPool,
    ) -> Result<WrittenTable> {
        let stage = std::mem::replace(&mut *self.stage(), Stage::Finished);
        let Stage::Open(mut open) = stage else { return Err(stopped()) };
        open.extend(file, None, scratches)?;
        // Plans are not needed any more, and making the table's record takes memory, too.
        self.state().plans.clear();
        open.table.finish(file, directory, compression)
    }
}
