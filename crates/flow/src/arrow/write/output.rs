//! The file of a writer: its tables so far, and how a cluster is appended. `commit_order` decides the order of clusters.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootfile::codec::Compression;
use rootfile::streamer::StreamerInfo;
use rootfile::{DirId, FileWriter, Result, SavedObject};

use super::any_table::AnyTable;
use super::finished_cluster::FinishedCluster;
use super::memory_limiter::stopped;
use super::options::AutoSave;
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
    scratches: EncodeScratchPool,
}

/// A table of the file.
struct OutputTable {
    directory: DirId,
    table: Arc<dyn AnyTable>,
}

impl Output {
    pub fn new(file: FileWriter, auto_save: Option<AutoSave>, scratches: EncodeScratchPool) -> Self {
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
    pub fn add_table(&mut self, path: &str, table: Arc<dyn AnyTable>) -> Result<()> {
        let (folders, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = self.mkdir(folders)?;
        table.begin(&mut self.file, directory)?;
        self.tables.push(OutputTable { directory, table });
        Ok(())
    }

    /// Replaces a table that has no entries.
    pub fn replace_table(&mut self, number: usize, table: Arc<dyn AnyTable>) -> Result<()> {
        let replaced = self.tables.get_mut(number).ok_or_else(stopped)?;
        table.begin(&mut self.file, replaced.directory)?;
        replaced.table = table;
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

    /// Appends a cluster to its table, and saves the metadata if AutoSave is due.
    pub fn append(&mut self, cluster: &mut FinishedCluster) -> Result<()> {
        let extended = cluster.content.append(&mut self.file, &self.scratches)?;
        self.save_if_due(extended)
    }

    /// Saves the metadata if that is due, or if a table got columns: baskets of unknown branches could not be recovered.
    fn save_if_due(&mut self, extended: bool) -> Result<()> {
        let entries = |tables: &[OutputTable]| tables.iter().map(|table| table.table.entries()).sum::<u64>();
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
        let labels = self.tables.iter().map(|table| table.table.update(&mut self.file)).collect::<Result<Vec<_>>>()?;
        let compression = self.file.compression();
        let makers: Vec<_> = self.tables.iter().map(|table| |keylen| table.table.record(keylen)).collect();
        let saved = self.tables.iter().zip(&labels).zip(&makers).map(|((OutputTable { directory, .. }, key), make)| {
            let compression = if key.is_compressed { compression } else { Compression::NONE };
            SavedObject {
                directory: *directory,
                class: &key.class,
                name: &key.name,
                title: &key.title,
                compression,
                make,
            }
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
        for OutputTable { directory, table } in self.tables {
            let place = (directory, self.file.compression());
            trees.push(table.finish(&mut self.file, place, &self.scratches)?);
        }
        Ok(Written { bytes: self.file.finish()?, trees })
    }
}
