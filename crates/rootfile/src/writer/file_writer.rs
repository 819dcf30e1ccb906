//! Appends records to a ROOT file: objects, directories, and records that the caller has made.

use std::hash::Hasher;
use std::path::Path;
use std::sync::Arc;

use twox_hash::XxHash64;

use crate::bytes::Writer;
use crate::codec::{Compression, Compressor, KEY_STORED_UP_TO};
use crate::directory::DirectoryRecord;
use crate::header::{BEGIN, START_BIG_FILE};
use crate::key::{DIRECTORY_CLASS, Key};
use crate::streamer::StreamerInfos;
use crate::{Error, Result};

use super::directories::{DirId, OpenDirectory};
use super::disk::Disk;
use super::place::Sink;
use super::saved::Saved;
use super::trailer::Trailer;
use super::updated::Update;

/// The ROOT version in the header of written files: 6.40/00, whose formats they follow.
pub const ROOT_VERSION: i32 = 64000;
/// Records are buffered up to this size.
pub(super) const BUFFER: usize = 256 << 10;
/// Records of this size are written at once: copying them would cost more than the system call.
const DIRECT: usize = 64 << 10;
/// Bytes at each end of a record that the UUID depends on.
const HASHED: usize = 256;

/// A ROOT file being written.
pub struct FileWriter {
    pub(super) disk: Disk,
    pub(super) flushed: u64,
    pub(super) buffer: Vec<u8>,
    pub(super) directories: Vec<OpenDirectory>,
    /// The bytes between the header and the fields of the top directory: its key, the file's name and title.
    pub(super) top_names: Vec<u8>,
    pub(super) infos: StreamerInfos,
    pub(super) version: i32,
    pub(super) compression: i32,
    pub(super) datime: u32,
    pub(super) hash: XxHash64,
    pub(super) compressor: Compressor,
    /// The state of the last AutoSave.
    pub(super) saved: Option<Saved>,
    /// The file that is updated in place.
    pub(super) update: Option<Box<Update>>,
}

impl FileWriter {
    /// Starts a file with the name `path`. `compression` is ROOT's setting, which the header records; `datime` is the date of all
    /// records, in ROOT's form ([`datime_of_epoch`](crate::datime_of_epoch)).
    ///
    /// # Errors
    ///
    /// If the file exists and `overwrite` is false, if another process writes it, or if it cannot be created.
    pub fn create(path: &Path, overwrite: bool, compression: i32, datime: u32, title: &str) -> Result<Self> {
        let disk = Disk::create(path, overwrite)?;
        Self::begin(disk, path, compression, datime, title)
    }

    /// A writer that discards all bytes, to measure the cost of writing without a disk.
    ///
    /// # Errors
    ///
    /// If `path` has no file name.
    pub fn discarding(path: &Path, compression: i32, datime: u32, title: &str) -> Result<Self> {
        Self::begin(Disk::nowhere(path), path, compression, datime, title)
    }

    /// A writer that gives all bytes to a place of the caller's. The file has the name `path` inside.
    ///
    /// # Errors
    ///
    /// If `path` has no file name, or the place refuses the first bytes.
    pub fn into_sink(path: &Path, sink: Arc<dyn Sink>, compression: i32, datime: u32, title: &str) -> Result<Self> {
        Self::begin(Disk::into_sink(path, sink), path, compression, datime, title)
    }

    fn begin(disk: Disk, path: &Path, compression: i32, datime: u32, title: &str) -> Result<Self> {
        let base = path.file_name().map(|n| n.to_string_lossy().into_owned());
        let base = base.ok_or_else(|| Error::request("has no file name").file(path))?;
        let mut writer = Self::at(disk, 0, compression, datime);
        writer.buffer.resize(usize::try_from(BEGIN).unwrap_or(100), 0);
        writer.begin_directory(None, "TFile", &base, title)?;
        // Until it is closed or saved, the file can be read by scanning its records.
        let unfinished = Trailer { end: writer.position(), ..Trailer::default() };
        writer.switch_to(&unfinished, |_| true)?;
        Ok(writer)
    }

    /// A writer without directories, whose first record begins at a position.
    pub(super) fn at(disk: Disk, position: u64, compression: i32, datime: u32) -> Self {
        Self {
            disk,
            flushed: position,
            buffer: Vec::with_capacity(BUFFER),
            directories: Vec::new(),
            top_names: Vec::new(),
            infos: StreamerInfos::new(),
            version: ROOT_VERSION,
            compression,
            datime,
            hash: XxHash64::with_seed(0),
            compressor: Compressor::new(),
            saved: None,
            update: None,
        }
    }

    /// Writes all records so far to disk, and returns when they are there.
    ///
    /// # Errors
    ///
    /// If the system cannot write them.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.disk.sync()
    }

    /// The hidden file that has all records until the file is complete and gets its name. `None` if they are discarded.
    pub fn hidden_path(&self) -> Option<&Path> {
        self.disk.hidden_path()
    }

    /// The top directory.
    pub fn top(&self) -> DirId {
        DirId(0)
    }

    /// Adds a directory.
    ///
    /// # Errors
    ///
    /// If name and title are too long for a key, or if writing fails.
    pub fn mkdir(&mut self, parent: DirId, name: &str, title: &str) -> Result<DirId> {
        match self.update {
            Some(_) => self.directory_in_update(parent.0, name, title),
            None => self.begin_directory(Some(parent.0), DIRECTORY_CLASS, name, title),
        }
    }

    fn begin_directory(&mut self, parent: Option<usize>, class: &str, name: &str, title: &str) -> Result<DirId> {
        let seek = self.position();
        let seek_parent = parent.and_then(|p| self.directories.get(p)).map_or(0, |p| p.seek);
        let mut key = self.checked_key(class, name, title, seek_parent)?;
        let mut payload = Writer::new();
        if parent.is_none() {
            payload.string(name);
            payload.string(title);
        }
        let names = payload.pos();
        let fields = seek + u64::from(key.keylen) + names as u64;
        payload.bytes.resize(names + DirectoryRecord::MAX_LEN, 0);
        let mut header = self.put_behind(&mut key, &payload.bytes, payload.bytes.len())?;
        match parent.and_then(|p| self.directories.get_mut(p)) {
            Some(parent) => parent.add_key(key),
            None => {
                header.extend(payload.bytes.drain(..names));
                self.top_names = header;
            }
        }
        self.directories.push(OpenDirectory::new(name, title, seek_parent, seek, fields));
        Ok(DirId(self.directories.len() - 1))
    }

    /// Offset of the next record.
    pub fn position(&self) -> u64 {
        self.flushed + self.buffer.len() as u64
    }

    /// Offset of a directory's record, which its keys have as `seek_pdir`.
    pub fn seek_of(&self, directory: DirId) -> u64 {
        self.directories.get(directory.0).map_or(BEGIN, |d| d.seek)
    }

    /// The compression that the header names as the default of records.
    pub fn compression(&self) -> Compression {
        Compression::from_root_setting(self.compression).unwrap_or(Compression::NONE)
    }

    /// Sets the newest cycle of a name: the next object of that name gets the cycle after it.
    pub fn set_cycle(&mut self, directory: DirId, name: &str, cycle: i16) {
        if let Some(directory) = self.directories.get_mut(directory.0) {
            directory.set_cycle(name, cycle);
        }
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
    pub(super) fn checked_key(&self, class: &str, name: &str, title: &str, seek_pdir: u64) -> Result<Key> {
        let mut key = Key::new(class, name, title, self.position(), seek_pdir);
        check_length(&key)?;
        key.datime = self.datime;
        Ok(key)
    }

    /// Sets the ROOT version in the header, for contents that readers decode by that version.
    pub fn set_version(&mut self, version: i32) {
        self.version = version;
    }

    /// Appends complete records. The caller has made their keys for [`FileWriter::position`].
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn append(&mut self, records: &[u8]) -> Result<()> {
        self.hash_record(records);
        self.push(records)
    }

    /// Appends complete records that lie in parts, one behind the other, without joining them in memory.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn append_parts(&mut self, parts: &[&[u8]]) -> Result<()> {
        parts.iter().for_each(|part| self.hash_record(part));
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if len < DIRECT {
            return parts.iter().try_for_each(|part| self.push(part));
        }
        self.flush()?;
        self.disk.write_parts_at(self.flushed, parts)?;
        self.flushed += len as u64;
        Ok(())
    }

    pub(super) fn hash_record(&mut self, record: &[u8]) {
        self.hash.write(&record.len().to_le_bytes());
        if record.len() <= 2 * HASHED {
            self.hash.write(record);
        } else {
            self.hash.write(&record[..HASHED]);
            self.hash.write(&record[record.len() - HASHED..]);
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER || bytes.len() >= DIRECT {
            self.flush()?;
        }
        if bytes.len() >= DIRECT {
            self.disk.write_at(self.flushed, bytes)?;
            self.flushed += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let written = self.disk.write_at(self.flushed, &buffer);
        self.flushed += buffer.len() as u64;
        self.buffer = buffer;
        self.buffer.clear();
        written
    }

    /// Overwrites bytes.
    pub(super) fn write_at(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        let waiting = at.checked_sub(self.flushed).and_then(|at| usize::try_from(at).ok());
        match waiting.and_then(|at| self.buffer.get_mut(at..at + bytes.len())) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.disk.write_at(at, bytes)?,
        }
        Ok(())
    }

    /// Writes a record: behind the others, or in a gap of a file that is updated. Sets its position and the sizes in its key.
    pub(super) fn put(&mut self, key: &mut Key, payload: &[u8], objlen: usize) -> Result<()> {
        let Some(update) = &mut self.update else { return self.put_behind(key, payload, objlen).map(drop) };
        let mut gaps = std::mem::take(&mut update.gaps);
        let written = self.put_in_gap(key, payload, objlen, &mut gaps);
        if let Some(update) = &mut self.update {
            update.gaps = gaps;
        }
        written
    }

    /// Appends a record. Sets the sizes in its key and returns the key's bytes.
    pub(super) fn put_behind(&mut self, key: &mut Key, payload: &[u8], objlen: usize) -> Result<Vec<u8>> {
        let header = self.key_header(key, payload, objlen)?;
        self.push(&header)?;
        self.push(payload)?;
        Ok(header)
    }

    /// Sets the sizes in a record's key and returns the key's bytes.
    pub(super) fn key_header(&mut self, key: &mut Key, payload: &[u8], objlen: usize) -> Result<Vec<u8>> {
        check_length(key)?;
        let too_large = || Error::request("is larger than a record can be (2 GB)");
        let total = payload.len() + usize::from(key.keylen);
        key.nbytes = i32::try_from(total).map_err(|_| too_large().object(&key.name))?.unsigned_abs();
        key.objlen = i32::try_from(objlen).map_err(|_| too_large().object(&key.name))?.unsigned_abs();
        let mut header = Writer::new();
        key.write(&mut header);
        header.bytes.resize(usize::from(key.keylen), 0);
        self.hash_record(&header.bytes);
        self.hash_record(payload);
        Ok(header.bytes)
    }

    /// Writes an object and returns the offset of its record. `make` gets the length of the object's key, from which tags count,
    /// and returns the payload. The payload is compressed if that makes it smaller.
    ///
    /// # Errors
    ///
    /// If `make` fails, if the record would exceed 2 GB, if name and title are too long for a key, or if writing fails.
    pub fn write_object(
        &mut self,
        directory: DirId,
        (class, name, title): (&str, &str, &str),
        compression: Compression,
        make: impl FnOnce(usize) -> Result<Vec<u8>>,
    ) -> Result<u64> {
        let seek_pdir = self.claim(directory)?;
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

    /// Copies a record with its payload unchanged. Tags in the payload count from the key, so the key keeps its length: write
    /// such records while positions are below 2 GB.
    ///
    /// # Errors
    ///
    /// If the key has four-byte positions and the record would lie beyond 2 GB, or if writing fails.
    pub fn copy_object(&mut self, directory: DirId, source: &Key, payload: &[u8]) -> Result<()> {
        let mut key = source.clone();
        key.seek_pdir = self.claim(directory)?;
        key.seek_key = self.position();
        if !key.is_big() && key.seek_key.max(key.seek_pdir) > START_BIG_FILE {
            return Err(Error::unsupported("lies beyond 2 GB, but its key has four-byte positions").object(&key.name));
        }
        key.cycle = self.next_cycle(directory, &key.name);
        self.put(&mut key, payload, source.objlen as usize)?;
        self.add_key(directory, key);
        Ok(())
    }

    /// The cycle that the next object of this name gets.
    pub(super) fn next_cycle(&self, directory: DirId, name: &str) -> i16 {
        self.directories.get(directory.0).map_or(1, |d| d.next_cycle(name))
    }

    pub(super) fn add_key(&mut self, directory: DirId, key: Key) {
        if let Some(directory) = self.directories.get_mut(directory.0) {
            directory.add_key(key);
        }
    }

    pub(super) fn uuid(&self) -> [u8; 16] {
        let low = self.hash.clone().finish();
        let mut second = self.hash.clone();
        second.write(b"basketry");
        let mut uuid = [0; 16];
        uuid[..8].copy_from_slice(&low.to_be_bytes());
        uuid[8..].copy_from_slice(&second.finish().to_be_bytes());
        // RFC 9562: version 8 (made by a rule of our own), variant 1.
        uuid[6] = uuid[6] & 0x0F | 0x80;
        uuid[8] = uuid[8] & 0x3F | 0x80;
        uuid
    }
}

/// Refuses a key that is longer than its two bytes for the length say, which ROOT reads as a signed number.
fn check_length(key: &Key) -> Result<()> {
    match i16::try_from(key.header_len().max(usize::from(key.keylen))) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::request("the name and title are too long for a key (32 kB)").object(&key.name)),
    }
}
