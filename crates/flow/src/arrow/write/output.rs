//! The file of a writer: its tables so far, and how a cluster is appended. `commit_order` decides the order of clusters.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::codec::Compression;
use rootfile::streamer::StreamerInfo;
use rootfile::{DirId, FileWriter, Result, SavedObject};

use super::finished_cluster::FinishedCluster;
use super::memory_limiter::stopped;
use super::open_table::{OpenTable, TableRecord};
use super::options::AutoSave;
use super::table_plan::TablePlan;
use super::written::Written;
use crate::execute::encode::scratch::EncodeScratchPool;

/// An object that is no table.
pub struct NewObject<'a> {
    /// Class.
    pub class: &'a str,
    /// Title of the key.
    pub title: &'a str,
    /// Streamer infos of the class, its bases, and the classes of its members.
    pub infos: &'a [Arc<StreamerInfo>],
    /// Makes the record for a key of this length.
    pub payload: &'a dyn Fn(usize) -> Result<Vec<u8>>,
}

/// A file that is being written.
pub(crate) struct Output {
    file: FileWriter,
    tables: Vec<OutputTable>,
    /// Directories made so far, by path.
    directories: HashMap<String, DirId>,
    auto_save: Option<AutoSave>,
    /// Bytes or entries of the file when it was last saved.
    saved_at: u64,
    /// For entries that columns are added behind.
    scratches: Arc<EncodeScratchPool>,
}

/// A table of the file.
struct OutputTable {
    directory: DirId,
    open: OpenTable,
    /// Its plans with more columns, of which no cluster has arrived yet.
    late: VecDeque<(Arc<TablePlan>, TableRecord)>,
}

impl OutputTable {
    /// Adds the columns up to those of a plan, or all.
    fn extend(
        &mut self,
        file: &mut FileWriter,
        plan: Option<&Arc<TablePlan>>,
        scratches: &Arc<EncodeScratchPool>,
    ) -> Result<bool> {
        let last = match plan {
            None => self.late.len(),
            Some(plan) => self.late.iter().position(|(late, _)| Arc::ptr_eq(late, plan)).map_or(0, |place| place + 1),
        };
        // A plan has the columns of those before.
        let Some(wider) = self.late.drain(..last).next_back() else { return Ok(false) };
        self.open.extend(file, wider, scratches)?;
        Ok(true)
    }
}

impl Output {
    pub fn new(file: FileWriter, auto_save: Option<AutoSave>, scratches: EncodeScratchPool) -> Self {
        let scratches = Arc::new(scratches);
        Self { file, tables: Vec::new(), directories: HashMap::new(), auto_save, saved_at: 0, scratches }
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.file.position()
    }

    /// The file in work.
    pub fn hidden_path(&self) -> Option<PathBuf> {
        self.file.hidden_path().map(Path::to_path_buf)
    }

    /// Adds a table. It gets the next number.
    pub fn add_table(&mut self, path: &str, plan: Arc<TablePlan>, record: TableRecord) -> Result<()> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = self.mkdir(folders)?;
        let open = OpenTable::begin(&mut self.file, directory, plan, record)?;
        self.tables.push(OutputTable { directory, open, late: VecDeque::new() });
        Ok(())
    }

    /// Adds columns to a table: its file has them from the first cluster on that was filled by this plan.
    pub fn add_columns(&mut self, table: usize, plan: Arc<TablePlan>, record: TableRecord) -> Result<()> {
        self.tables.get_mut(table).ok_or_else(stopped)?.late.push_back((plan, record));
        Ok(())
    }

    /// Replaces a table that has no entries.
    pub fn replace_table(&mut self, table: usize, plan: Arc<TablePlan>, record: TableRecord) -> Result<()> {
        let replaced = self.tables.get_mut(table).ok_or_else(stopped)?;
        replaced.open = OpenTable::begin(&mut self.file, replaced.directory, plan, record)?;
        replaced.late.clear();
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

    /// Writes an object of another class than a table's, with the streamer infos that describe it.
    pub fn add_object(&mut self, path: &str, object: NewObject<'_>) -> Result<()> {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let directory = self.mkdir(folders)?;
        for info in object.infos {
            self.file.infos_mut().add(Arc::clone(info));
        }
        let compression = self.file.compression();
        let labels = (object.class, name, object.title);
        self.file.write_object(directory, labels, compression, |keylen| (object.payload)(keylen)).map(drop)
    }

    /// Appends a cluster to a table, and saves the metadata if AutoSave is due.
    pub fn append(&mut self, table: usize, cluster: &mut FinishedCluster) -> Result<()> {
        let table = self.tables.get_mut(table).ok_or_else(stopped)?;
        let extended = table.extend(&mut self.file, Some(&cluster.plan), &self.scratches)?;
        table.open.append(&mut self.file, cluster.entries, &mut cluster.content)?;
        self.save_if_due(extended)
    }

    /// Saves the metadata if that is due, or if a table got columns: baskets of unknown branches could not be recovered.
    fn save_if_due(&mut self, extended: bool) -> Result<()> {
        let entries = |tables: &[OutputTable]| tables.iter().map(|table| table.open.entries()).sum::<u64>();
        let due = match self.auto_save {
            None => false,
            Some(_) if extended => true,
            Some(AutoSave::Bytes(bytes)) => self.bytes() >= self.saved_at + bytes,
            Some(AutoSave::Entries(n)) => entries(&self.tables) >= self.saved_at + n,
        };
        if due {
            self.save()?;
            self.saved_at = match self.auto_save {
                Some(AutoSave::Entries(_)) => entries(&self.tables),
                _ => self.bytes(),
            };
        }
        Ok(())
    }

    /// Saves the metadata of all tables: see [`FileWriter::auto_save`].
    pub fn save(&mut self) -> Result<()> {
        for table in &mut self.tables {
            table.open.update(&mut self.file)?;
        }
        let compression = self.file.compression();
        let tables = &self.tables;
        let makers: Vec<_> = tables.iter().map(|table| |keylen| table.open.record(keylen)).collect();
        let saved = tables.iter().zip(&makers).map(|(OutputTable { directory, open, .. }, make)| {
            let (class, name, title) = open.labels();
            let compression = if open.is_tree() { compression } else { Compression::NONE };
            SavedObject { directory: *directory, class, name, title, compression, make }
        });
        let saved: Vec<SavedObject<'_>> = saved.collect();
        self.file.auto_save(&saved)
    }

    /// Syncs the file to disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync()
    }

    /// Ends the file.
    pub fn close(mut self) -> Result<Written> {
        let mut trees = Vec::with_capacity(self.tables.len());
        for mut table in self.tables {
            table.extend(&mut self.file, None, &self.scratches)?;
            let compression = self.file.compression();
            trees.push(table.open.finish(&mut self.file, table.directory, compression)?);
        }
        Ok(Written { bytes: self.file.finish()?, trees })
    }
}
