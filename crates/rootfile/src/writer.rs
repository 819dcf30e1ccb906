//! Writes a ROOT file: records appended in order, then key lists, streamer infos, free list and header.
//!
//! The output has a temporary name until all of it is on disk, and referents are written before what refers
//! to them; so a file under its final name is whole, and an interrupted one never appears. The same records
//! give the same bytes: dates are given, and the UUID is a hash of what was written.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::File;
use std::hash::Hasher;
use std::io::ErrorKind as IoKind;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use twox_hash::XxHash64;

use crate::bytes::Writer;
use crate::codec::{Compression, Compressor, KEY_STORED_UP_TO};
use crate::directory::DirectoryRecord;
use crate::header::{BEGIN, FileHeader, START_BIG_FILE};
use crate::key::Key;
use crate::streamer::{StreamerInfos, write_record};
use crate::temporary::Temporary;
use crate::{Error, Result};

/// The version that files of basketry carry: ROOT 6.40/00, whose formats they follow.
pub const ROOT_VERSION: i32 = 64000;
/// Records are gathered up to this size before they go to the system.
const BUFFER: usize = 1 << 20;
/// Records of this size go to the system at once: gathering them would cost more than the call it saves.
const DIRECT: usize = 64 << 10;
/// How much of each end of a record goes into the UUID.
const HASHED: usize = 256;

/// A directory of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirId(usize);

struct OpenDirectory {
    name: String,
    title: String,
    parent: Option<usize>,
    /// Offset of the record, and of its fields.
    seek: u64,
    fields: u64,
    keys: Vec<Key>,
    /// The newest cycle of each name.
    cycles: HashMap<String, i16>,
}

impl OpenDirectory {
    fn add_key(&mut self, key: Key) {
        self.cycles.insert(key.name.clone(), key.cycle);
        self.keys.push(key);
    }

    /// The keys as a list has them: readers take the first key of a name, which must be the newest cycle.
    fn listed(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = self.keys.iter().collect();
        if self.cycles.len() < keys.len() {
            let mut first: HashMap<&str, usize> = HashMap::with_capacity(self.cycles.len());
            for (i, key) in self.keys.iter().enumerate() {
                first.entry(&key.name).or_insert(i);
            }
            keys.sort_by_key(|key| (first.get(key.name.as_str()).copied(), Reverse(key.cycle)));
        }
        keys
    }
}

/// A ROOT file being written.
pub struct FileWriter {
    file: File,
    path: PathBuf,
    temporary: Temporary,
    flushed: u64,
    buffer: Vec<u8>,
    directories: Vec<OpenDirectory>,
    infos: StreamerInfos,
    version: i32,
    compression: i32,
    datime: u32,
    hash: XxHash64,
    expected: u64,
    compressor: Compressor,
}

impl FileWriter {
    /// Starts a file that will be called `path`. Fails if that exists, unless `overwrite`.
    ///
    /// `compression` is ROOT's setting, recorded in the header; `datime` dates all records.
    pub fn create(path: &Path, overwrite: bool, compression: i32, datime: u32, title: &str) -> Result<Self> {
        if !overwrite && path.exists() {
            return Err(Error::request("exists already; --force overwrites it").file(path));
        }
        let base = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let base = base.ok_or_else(|| Error::request("is no name for a file").file(path))?;
        let (temporary, file) = Temporary::create(path).map_err(|e| Error::from(e).file(path))?;
        let mut writer = Self {
            file,
            path: path.to_path_buf(),
            temporary,
            flushed: 0,
            buffer: Vec::with_capacity(BUFFER),
            directories: Vec::new(),
            infos: StreamerInfos::new(),
            version: ROOT_VERSION,
            compression,
            datime,
            hash: XxHash64::with_seed(0),
            expected: 0,
            compressor: Compressor::new(),
        };
        writer.buffer.resize(usize::try_from(BEGIN).unwrap_or(100), 0);
        writer.begin_directory(None, "TFile", &base, title)?;
        Ok(writer)
    }

    /// How large the file is thought to become: said when the disk is full.
    pub fn expect_size(&mut self, bytes: u64) {
        self.expected = bytes;
    }

    /// The top directory.
    pub fn top(&self) -> DirId {
        DirId(0)
    }

    /// Adds a directory.
    pub fn mkdir(&mut self, parent: DirId, name: &str, title: &str) -> Result<DirId> {
        self.begin_directory(Some(parent.0), "TDirectoryFile", name, title)
    }

    fn begin_directory(&mut self, parent: Option<usize>, class: &str, name: &str, title: &str) -> Result<DirId> {
        let seek = self.position();
        let parent_seek = parent.and_then(|p| self.directories.get(p)).map_or(0, |p| p.seek);
        let mut key = self.checked_key(class, name, title, parent_seek)?;
        let mut payload = Writer::new();
        if parent.is_none() {
            payload.string(name);
            payload.string(title);
        }
        let fields = seek + u64::from(key.keylen) + payload.pos() as u64;
        payload.bytes.resize(payload.pos() + DirectoryRecord::MAX_LEN, 0);
        self.put(&mut key, &payload.bytes, payload.bytes.len())?;
        if let Some(parent) = parent.and_then(|p| self.directories.get_mut(p)) {
            parent.add_key(key);
        }
        self.directories.push(OpenDirectory {
            name: name.to_owned(),
            title: title.to_owned(),
            parent,
            seek,
            fields,
            keys: Vec::new(),
            cycles: HashMap::new(),
        });
        Ok(DirId(self.directories.len() - 1))
    }

    /// Offset of the next record.
    pub fn position(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    /// Offset of a directory's record: what its keys have as `seek_pdir`.
    pub fn seek_of(&self, directory: DirId) -> u64 {
        self.directories.get(directory.0).map_or(BEGIN, |d| d.seek)
    }

    /// The date that records get.
    pub fn datime(&self) -> u32 {
        self.datime
    }

    /// Streamer infos for the file's record.
    pub fn infos_mut(&mut self) -> &mut StreamerInfos {
        &mut self.infos
    }

    /// A key for the next record.
    fn checked_key(&self, class: &str, name: &str, title: &str, seek_pdir: u64) -> Result<Key> {
        let mut key = Key::new(class, name, title, self.position(), seek_pdir);
        if key.header_len() > usize::from(u16::MAX - 1) {
            return Err(Error::request("the name and title are too long for a key (64 kB)").object(name));
        }
        key.datime = self.datime;
        Ok(key)
    }

    /// Lets the file carry the version of an older ROOT, for contents that readers decode by it.
    pub fn set_version(&mut self, version: i32) {
        self.version = version;
    }

    /// Appends bytes that hold whole records, their keys made by the caller for [`FileWriter::position`].
    pub fn append(&mut self, records: &[u8]) -> Result<()> {
        self.hash_record(records);
        self.push(records)
    }

    fn hash_record(&mut self, record: &[u8]) {
        self.hash.write(&record.len().to_le_bytes());
        if record.len() <= 2 * HASHED {
            self.hash.write(record);
        } else {
            self.hash.write(&record[..HASHED]);
            self.hash.write(&record[record.len() - HASHED..]);
        }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER || bytes.len() >= DIRECT {
            self.flush()?;
        }
        if bytes.len() >= DIRECT {
            self.write_at(self.flushed, bytes)?;
            self.flushed += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.write_at(self.flushed, &buffer);
        self.flushed += buffer.len() as u64;
        self.buffer = buffer;
        self.buffer.clear();
        written
    }

    fn write_at(&self, at: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(bytes, at).map_err(|e| self.explain(e, at + bytes.len() as u64))
    }

    /// Says how much was missing when the disk was full.
    fn explain(&self, e: std::io::Error, reached: u64) -> Error {
        if e.kind() != IoKind::StorageFull && e.kind() != IoKind::QuotaExceeded && e.kind() != IoKind::FileTooLarge {
            return Error::from(e).file(&self.path);
        }
        let need = self.expected.max(reached);
        // Part of the last write may have found room.
        let written = self.file.metadata().map_or(self.flushed, |m| m.len());
        Error::request(format!(
            "no space left: {written} bytes were written, about {} more are missing of {need}; nothing was left behind",
            need.saturating_sub(written)
        ))
        .file(&self.path)
    }

    /// Appends a record; fills in the sizes of its key.
    fn put(&mut self, key: &mut Key, payload: &[u8], objlen: usize) -> Result<()> {
        let too_large = || Error::request("is larger than a record can be (2 GB)");
        let total = payload.len() + usize::from(key.keylen);
        key.nbytes = i32::try_from(total).map_err(|_| too_large().object(&key.name))?.unsigned_abs();
        key.objlen = i32::try_from(objlen).map_err(|_| too_large().object(&key.name))?.unsigned_abs();
        let mut header = Writer::new();
        key.write(&mut header);
        header.bytes.resize(usize::from(key.keylen), 0);
        self.hash_record(&header.bytes);
        self.hash_record(payload);
        self.push(&header.bytes)?;
        self.push(payload)
    }

    /// Writes an object under a name. `make` gets the length of its key, from which tags count, and gives
    /// the payload, which is compressed as asked if that makes it smaller.
    pub fn write_object(
        &mut self,
        directory: DirId,
        (class, name, title): (&str, &str, &str),
        compression: Compression,
        make: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<u64> {
        let seek_pdir = self.seek_of(directory);
        let mut key = self.checked_key(class, name, title, seek_pdir)?;
        let payload = make(usize::from(key.keylen))?;
        key.cycle = self.next_cycle(directory, name);
        let mut packed = Vec::new();
        let compressed =
            payload.len() > KEY_STORED_UP_TO && self.compressor.compress(compression, &payload, &mut packed)?;
        self.put(&mut key, if compressed { &packed } else { &payload }, payload.len())?;
        let seek = key.seek_key;
        self.add_key(directory, key);
        Ok(seek)
    }

    /// Copies a record whose payload stays as it is. Its tags count from the key, so the key keeps its
    /// length: such records are best written while positions are below two gigabytes.
    pub fn copy_object(&mut self, directory: DirId, source: &Key, payload: &[u8]) -> Result<()> {
        let mut key = source.clone();
        key.seek_key = self.position();
        key.seek_pdir = self.seek_of(directory);
        if !key.is_big() && key.seek_key.max(key.seek_pdir) > START_BIG_FILE {
            return Err(Error::unsupported("lies beyond 2 GB and its key has no room for that").object(&key.name));
        }
        key.cycle = self.next_cycle(directory, &key.name);
        self.put(&mut key, payload, source.objlen as usize)?;
        self.add_key(directory, key);
        Ok(())
    }

    /// The cycle that the next object of this name gets.
    fn next_cycle(&self, directory: DirId, name: &str) -> i16 {
        let cycles = self.directories.get(directory.0).map(|d| &d.cycles);
        cycles.and_then(|c| c.get(name)).copied().unwrap_or(0).saturating_add(1)
    }

    fn add_key(&mut self, directory: DirId, key: Key) {
        if let Some(directory) = self.directories.get_mut(directory.0) {
            directory.add_key(key);
        }
    }

    /// Writes key lists, streamer infos, free list and header, makes sure that all of it is on disk, and
    /// gives the file its name. Returns its size.
    pub fn finish(mut self) -> Result<u64> {
        let lists = self.write_key_lists()?;
        let (seek_info, nbytes_info) = self.write_infos()?;
        let (seek_free, nbytes_free) = self.write_free()?;
        let end = self.position();
        self.flush()?;
        let uuid = self.uuid();
        for (i, (seek_keys, nbytes_keys)) in lists.into_iter().enumerate() {
            self.patch_directory(i, seek_keys, nbytes_keys, uuid)?;
        }
        let nbytes_name = self.directories.first().map_or(0, |d| d.fields - d.seek);
        let header = FileHeader {
            version: self.version,
            big: end > START_BIG_FILE,
            begin: BEGIN,
            end,
            seek_free,
            nbytes_free,
            n_free: 1,
            nbytes_name: u32::try_from(nbytes_name).unwrap_or(u32::MAX),
            compress: self.compression,
            seek_info,
            nbytes_info,
            uuid,
        };
        self.write_at(0, &header.to_bytes())?;
        self.file.sync_all().map_err(|e| self.explain(e, end))?;
        self.temporary.rename(&self.path).map_err(|e| Error::from(e).file(&self.path))?;
        // The new name is on disk when the folder is; a folder that cannot be opened for that is no error.
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(end)
    }

    fn write_key_lists(&mut self) -> Result<Vec<(u64, u32)>> {
        let mut lists = Vec::new();
        for i in 0..self.directories.len() {
            let Some(directory) = self.directories.get(i) else { break };
            let (seek, name, title) = (directory.seek, directory.name.clone(), directory.title.clone());
            let mut payload = Writer::new();
            payload.i32(i32::try_from(directory.keys.len()).unwrap_or(i32::MAX));
            for key in directory.listed() {
                key.write(&mut payload);
            }
            let class = if i == 0 { "TFile" } else { "TDirectoryFile" };
            let mut key = self.checked_key(class, &name, &title, seek)?;
            self.put(&mut key, &payload.bytes, payload.bytes.len())?;
            lists.push((key.seek_key, key.nbytes));
        }
        Ok(lists)
    }

    fn write_infos(&mut self) -> Result<(u64, u32)> {
        let mut key = self.checked_key("TList", "StreamerInfo", "Doubly linked list", BEGIN)?;
        let infos: Vec<_> = self.infos.iter().map(Arc::clone).collect();
        let payload = write_record(&infos, usize::from(key.keylen));
        let mut packed = Vec::new();
        let setting = Compression::from_root_setting(self.compression).unwrap_or(Compression::NONE);
        let compressed = self.compressor.compress(setting, &payload, &mut packed)?;
        self.put(&mut key, if compressed { &packed } else { &payload }, payload.len())?;
        Ok((key.seek_key, key.nbytes))
    }

    /// The free list: one segment from the file's end on (`TFree`), whose own record ends the file.
    fn write_free(&mut self) -> Result<(u64, u32)> {
        let name = self.directories.first().map(|d| (d.name.clone(), d.title.clone())).unwrap_or_default();
        let mut key = self.checked_key("TFile", &name.0, &name.1, BEGIN)?;
        let big = self.position() + 1024 > START_BIG_FILE;
        let len = if big { 18 } else { 10 };
        let end = self.position() + u64::from(key.keylen) + len;
        let mut payload = Writer::new();
        if big {
            payload.i16(1001);
            payload.u64(end);
            payload.u64(end.max(START_BIG_FILE) + 1_000_000_000);
        } else {
            payload.i16(1);
            payload.u32(u32::try_from(end).unwrap_or(u32::MAX));
            payload.u32(u32::try_from(START_BIG_FILE).unwrap_or(u32::MAX));
        }
        self.put(&mut key, &payload.bytes, payload.bytes.len())?;
        Ok((key.seek_key, key.nbytes))
    }

    fn patch_directory(&self, i: usize, seek_keys: u64, nbytes_keys: u32, uuid: [u8; 16]) -> Result<()> {
        let Some(directory) = self.directories.get(i) else { return Ok(()) };
        let parent = directory.parent.and_then(|p| self.directories.get(p)).map_or(0, |p| p.seek);
        let record = DirectoryRecord {
            created: self.datime,
            modified: self.datime,
            nbytes_keys,
            nbytes_name: u32::try_from(directory.fields - directory.seek).unwrap_or(u32::MAX),
            seek_dir: directory.seek,
            seek_parent: parent,
            seek_keys,
            uuid,
        };
        let mut w = Writer::new();
        record.write(&mut w);
        self.write_at(directory.fields, &w.bytes)
    }

    fn uuid(&self) -> [u8; 16] {
        let low = self.hash.clone().finish();
        let mut again = self.hash.clone();
        again.write(b"basketry");
        let mut uuid = [0; 16];
        uuid[..8].copy_from_slice(&low.to_be_bytes());
        uuid[8..].copy_from_slice(&again.finish().to_be_bytes());
        // RFC 9562: version 8 (made by a rule of our own), variant 1.
        uuid[6] = uuid[6] & 0x0F | 0x80;
        uuid[8] = uuid[8] & 0x3F | 0x80;
        uuid
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RootFile;

    #[test]
    fn records_of_any_size_lie_where_the_writer_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.root");
        let mut writer = FileWriter::create(&path, false, 0, 0, "").unwrap();
        let mut places = Vec::new();
        for (i, size) in [10, BUFFER / 2 + 7, BUFFER / 2 - 1, BUFFER / 2, 3 * BUFFER, 1, BUFFER].into_iter().enumerate()
        {
            let record = vec![u8::try_from(i + 1).unwrap(); size];
            places.push((writer.position(), record.clone()));
            writer.append(&record).unwrap();
        }
        let size = writer.finish().unwrap();
        let file = RootFile::open(&path).unwrap();
        assert_eq!(file.source().size(), size);
        for (at, record) in places {
            assert!(file.source().read(at, record.len()).unwrap() == record, "{} bytes at {at}", record.len());
        }
    }

    #[test]
    fn what_is_not_finished_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = FileWriter::create(&folder.path().join("out.root"), false, 0, 0, "").unwrap();
        writer.append(&[1; 2 * BUFFER]).unwrap();
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
