//! Reads a file without its lists of keys, record by record.
//!
//! Every record begins with its length, class and name, so all records can be found without a list. The caller makes
//! directories of them and passes these to [`RootFile::with_listing`].

use std::path::Path;
use std::sync::Arc;

use super::{Directory, RootFile};
use crate::Result;
use crate::address::open_source;
use crate::bytes::Cursor;
use crate::directory::DirectoryRecord;
use crate::key::Key;
use crate::streamer::StreamerInfos;

/// The smallest record: a key without strings.
const LEAST: u64 = 30;

impl RootFile {
    /// Opens a local file without reading its lists of keys. The file has no keys and no streamer infos until
    /// [`RootFile::with_listing`] adds them.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its header or top directory is damaged.
    pub fn open_unlisted(path: impl AsRef<Path>) -> Result<Self> {
        let source = open_source(path.as_ref())?;
        let name = source.name().to_path_buf();
        Self::begin(source).map(|(file, ..)| file).map_err(|e| e.file(name))
    }

    /// Calls `each` for every record from the offset `from` on. Returns the offset at which the records end: the end of the
    /// file, a record that is cut short, or bytes that are not a record.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn walk_records(&self, from: u64, mut each: impl FnMut(Key)) -> Result<u64> {
        let end = self.source.size();
        let mut at = from;
        while at.saturating_add(LEAST) < end {
            let word = self.source.read(at, 4)?;
            let nbytes = Cursor::new(&word).i32()?;
            if nbytes <= 0 {
                // A free gap is marked by its negative size.
                match u64::from(nbytes.unsigned_abs()) {
                    0 => break,
                    n => at = at.saturating_add(n),
                }
                continue;
            }
            let Ok(key) = self.key_at(at) else { break };
            let next = at + u64::from(key.nbytes);
            if next > end {
                break;
            }
            each(key);
            at = next;
        }
        Ok(at)
    }

    /// The streamer infos in the record at an offset.
    ///
    /// # Errors
    ///
    /// If the record cannot be read or is damaged.
    pub fn infos_at(&self, seek: u64) -> Result<Arc<StreamerInfos>> {
        self.read_infos(seek, None)
    }

    /// The fields of the directory whose record has this key. None if the record is not a directory's, such as a list
    /// of keys, which has the class of its directory.
    pub fn directory_record(&self, key: &Key) -> Option<DirectoryRecord> {
        let payload = self.payload(key).ok()?;
        let record = DirectoryRecord::parse(&mut Cursor::new(&payload)).ok()?;
        (record.seek_dir == key.seek_key).then_some(record)
    }

    /// Sets the streamer infos of the file.
    #[must_use]
    pub fn with_infos(mut self, infos: Arc<StreamerInfos>) -> Self {
        self.infos = infos;
        self
    }

    /// Sets the directories of the file: the top directory first, parents before subdirectories.
    #[must_use]
    pub fn with_listing(mut self, directories: Vec<Directory>) -> Self {
        if let Some(top) = directories.first() {
            self.top = top.clone();
        }
        self.listing = Some(directories);
        self
    }
}
