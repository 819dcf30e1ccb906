//! Reads a file without its lists of keys, record by record.
//!
//! Every record begins with its length, class and name, so all records can be found without a list. The caller makes
//! directories of them and passes these to [`RootFile::with_listing`].

use std::path::Path;
use std::sync::Arc;

use super::{Directory, KEY_GUESS, RootFile};
use crate::Result;
use crate::address::open_source;
use crate::bytes::Cursor;
use crate::directory::DirectoryRecord;
use crate::key::Key;
use crate::source::Source;
use crate::streamer::StreamerInfos;

/// The smallest record: a key without strings.
const LEAST: u64 = 30;

/// Bytes of a file on another machine that are read at once while its records are shorter than this: a round trip takes as
/// long as so many bytes, and a scan reads the beginning of each record. Longer records are passed over.
const AT_ONCE: u64 = 4 << 20;

/// The part of a file at which a scan is.
struct Window<'a> {
    source: &'a dyn Source,
    start: u64,
    bytes: Vec<u8>,
}

impl Window<'_> {
    /// The bytes at an offset: at least those of a key without long names, up to the end of the file.
    fn at(&mut self, offset: u64) -> Result<&[u8]> {
        let left = self.source.size().saturating_sub(offset);
        let least = left.min(KEY_GUESS as u64);
        let held = offset.checked_sub(self.start).filter(|skipped| skipped + least <= self.bytes.len() as u64);
        let skipped = match held {
            Some(skipped) => skipped,
            None => {
                let is_near = offset.saturating_sub(self.start) <= self.bytes.len() as u64 + AT_ONCE;
                let wanted = if self.source.is_remote() && is_near { AT_ONCE.min(left) } else { least };
                self.bytes = self.source.read(offset, usize::try_from(wanted).unwrap_or(KEY_GUESS))?;
                self.start = offset;
                0
            }
        };
        Ok(self.bytes.get(usize::try_from(skipped).unwrap_or(usize::MAX)..).unwrap_or_default())
    }
}

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
        let mut window = Window { source: &*self.source, start: from, bytes: Vec::new() };
        while at.saturating_add(LEAST) < end {
            let nbytes = Cursor::new(window.at(at)?).i32()?;
            if nbytes <= 0 {
                // A free gap is marked by its negative size.
                match u64::from(nbytes.unsigned_abs()) {
                    0 => break,
                    n => at = at.saturating_add(n),
                }
                continue;
            }
            let known = Key::parse(&mut Cursor::new(window.at(at)?)).ok().map(|key| Key { seek_key: at, ..key });
            let Some(key) = known.or_else(|| self.key_at(at).ok()) else { break };
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
