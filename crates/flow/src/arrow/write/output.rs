//! The file of a writer: its tables so far, and how a cluster is appended. `commit_order` decides the order of clusters.

use std::collections::HashMap;
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
    tables: Vec<(DirId, OpenTable)>,
    /// Directories made so far, by path.
    directories: HashMap<String, DirId>,
    auto_save: Option<AutoSave>,
    /// Bytes or entries of the file when it was last saved.
    saved_at: u64,
}

impl Output {
    pub fn new(file: FileWriter, auto_save: Option<AutoSave>) -> Self {
        Self { file, tables: Vec::new(), directories: HashMap::new(), auto_save, saved_at: 0 }
    }

    /// Bytes of the file so far.
    pub fn bytes(&self) -> u64 {
        self.file.position()
    }

    /// Adds a table. It gets the next number.
    pub fn add_table(&mut self, path: &str, plan: Arc<TablePlan>, record: TableRecord) -> Result<()> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = self.mkdir(folders)?;
        let open = OpenTable::begin(&mut self.file, directory, plan, record)?;
        self.tables.push((directory, open));
        Ok(())
    }

    /// Replaces a table that has no entries.
    pub fn replace_table(&mut self, table: usize, plan: Arc<TablePlan>, record: TableRecord) -> Result<()> {
        let (directory, open) = self.tables.get_mut(table).ok_or_else(stopped)?;
        *open = OpenTable::begin(&mut self.file, *directory, plan, record)?;
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
        let (_, open) = self.tables.get_mut(table).ok_or_else(stopped)?;
        open.append(&mut self.file, cluster.entries, &mut cluster.content)?;
        self.save_if_due()
    }

    fn save_if_due(&mut self) -> Result<()> {
        let entries = |tables: &[(DirId, OpenTable)]| tables.iter().map(|(_, open)| open.entries()).sum::<u64>();
        let due = match self.auto_save {
            None => false,
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
        for (_, open) in &mut self.tables {
            open.update(&mut self.file)?;
        }
        let compression = self.file.compression();
        let tables = &self.tables;
        let makers: Vec<_> = tables.iter().map(|(_, open)| |keylen| open.record(keylen)).collect();
        let saved = tables.iter().zip(&makers).map(|((directory, open), make)| {
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
        for (directory, open) in self.tables {
            let compression = self.file.compression();
            trees.push(open.finish(&mut self.file, directory, compression)?);
        }
        Ok(Written { bytes: self.file.finish()?, trees })
    }
}
