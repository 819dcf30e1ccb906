//! An open ROOT file: its header, directories, streamer infos, and the payload of any record.
//!
//! Opening reads what every use needs: the header, the top directory and the streamer infos. Subdirectories and objects
//! are read on request. A file that was never closed is read by scanning its records, as ROOT does.

mod audit;
mod committed;
mod places;
mod scan;
mod unclosed;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use twox_hash::xxhash3_64;

use crate::address::{self, Credentials};
use crate::bytes::Cursor;
use crate::codec::{Decompressor, is_stored};
use crate::directory::{DirectoryRecord, parse_key_list};
use crate::free::{FreeSegment, parse_free_list};
use crate::header::FileHeader;
use crate::key::Key;
use crate::pool::{FilePool, InfosHash};
use crate::reach::{Follow, Reach};
use crate::source::Source;
use crate::streamer::{StreamerInfos, parse_record};
use crate::{Error, Result};

pub use self::unclosed::hear_of_unclosed;

pub use audit::Mismatch;
pub(crate) use committed::CommittedDirectory;
pub use committed::{Committed, Run};
pub use places::{Holder, Place, Role};

/// Bytes that are read first for a key header of unknown length.
const KEY_GUESS: usize = 1024;

/// A ROOT file opened for reading.
pub struct RootFile {
    source: Arc<dyn Source>,
    header: FileHeader,
    infos: Arc<StreamerInfos>,
    infos_problem: Option<Error>,
    top: Directory,
    recovered: bool,
    /// Why the list of keys cannot be read, if there is one.
    list_problem: Option<Error>,
    /// The offset at which a scan of the records ended.
    scanned_to: u64,
    /// Directories that replace the file's own lists of keys.
    listing: Option<Vec<Directory>>,
    /// How far the addresses in it reach.
    reach: Reach,
}

/// A directory and the keys in it.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Path from the top, `""` for the top itself, `a/b` for a directory below.
    pub path: String,
    /// Title.
    pub title: String,
    /// Offset of its record.
    pub seek: u64,
    /// Its keys, all cycles, in the order of the list.
    pub keys: Vec<Key>,
}

impl Directory {
    /// Path of an object in this directory.
    pub fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// Its keys, those of each name together, the highest cycle first. Names are in the order of the list. ROOT lists
    /// keys so; uproot lists them as they were written.
    pub fn newest_first(&self) -> Vec<&Key> {
        let mut places = HashMap::new();
        for (place, key) in self.keys.iter().enumerate() {
            places.entry(key.name.as_str()).or_insert(place);
        }
        let mut keys: Vec<&Key> = self.keys.iter().collect();
        keys.sort_by_cached_key(|key| (places.get(key.name.as_str()), Reverse(key.cycle)));
        keys
    }
}

/// All directories of a file, and the errors of those that cannot be read.
#[derive(Debug, Default)]
pub struct Walk {
    /// Directories, parents first.
    pub directories: Vec<Directory>,
    /// Directories that could not be read, with the reason.
    pub problems: Vec<Error>,
}

impl FilePool {
    /// Opens a ROOT file through the pool.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a ROOT file.
    pub fn open(self: &Arc<Self>, path: &Path) -> Result<RootFile> {
        Ok(self.open_as(path, Credentials::Users)?.with_reach(Reach::of_named(self.follow())))
    }

    /// Opens the ROOT file that a source holds. Its streamer infos are shared with equal ones of the pool's other files.
    ///
    /// # Errors
    ///
    /// As for [`RootFile::open`].
    pub fn open_source(&self, source: Arc<dyn Source>) -> Result<RootFile> {
        RootFile::from_shared(source, Some(self))
    }

    /// Opens one with these credentials, whose addresses reach nothing on other machines.
    pub(crate) fn open_as(self: &Arc<Self>, path: &Path, credentials: Credentials) -> Result<RootFile> {
        RootFile::from_shared(self.source_as(path, credentials)?, Some(self))
    }
}

impl RootFile {
    /// Opens a local file, or a URL if an opener for URLs is registered.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is not a ROOT file, or if no keys can be found in it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_source(address::open_source(path.as_ref())?)
    }

    /// Opens the ROOT file that a source holds.
    ///
    /// # Errors
    ///
    /// As for [`RootFile::open`].
    pub fn from_source(source: Arc<dyn Source>) -> Result<Self> {
        Self::from_shared(source, None)
    }

    /// Opens a file that may share streamer infos with other files of the pool.
    fn from_shared(source: Arc<dyn Source>, pool: Option<&FilePool>) -> Result<Self> {
        let name = source.name().to_path_buf();
        Self::read(source, pool).map_err(|e| e.file(name))
    }

    fn read(source: Arc<dyn Source>, pool: Option<&FilePool>) -> Result<Self> {
        let size = source.size();
        let (mut file, record, top_nbytes) = Self::begin(source)?;
        match file.check_length().and_then(|()| file.read_keys(record.seek_keys, record.nbytes_keys)) {
            Ok(keys) => file.top.keys = keys,
            Err(e) => {
                file.recover()?;
                // A file that was begun and has no records is empty; a file with records but without keys has lost
                // them.
                if file.top.keys.is_empty() && size > file.header.begin + u64::from(top_nbytes) {
                    return Err(e);
                }
                // A file that was never closed has neither position nor length of a list.
                let written = record.seek_keys != 0 || record.nbytes_keys != 0;
                file.list_problem = (written && file.header.end <= size).then_some(e);
                file.unclosed().iter().for_each(|message| unclosed::tell(file.name(), message));
            }
        }
        if file.header.seek_info > 0 {
            match file.read_infos(file.header.seek_info, pool) {
                Ok(infos) => file.infos = infos,
                Err(e) => file.infos_problem = Some(e),
            }
        }
        Ok(file)
    }

    /// Reads header and top directory, without keys. Also returns the directory's record and its length.
    fn begin(source: Arc<dyn Source>) -> Result<(Self, DirectoryRecord, u32)> {
        let first = source.read(0, usize::try_from(source.size().min(512)).unwrap_or(512))?;
        let header = FileHeader::parse(&first)?;
        let (top, record, nbytes) = read_top(&*source, &header).map_err(|e| e.object("top directory"))?;
        let file = Self {
            source,
            infos: Arc::default(),
            infos_problem: None,
            top,
            recovered: false,
            list_problem: None,
            scanned_to: 0,
            header,
            listing: None,
            reach: Reach::default(),
        };
        Ok((file, record, nbytes))
    }

    fn read_infos(&self, at: u64, pool: Option<&FilePool>) -> Result<Arc<StreamerInfos>> {
        let in_infos = |e: Error| e.object("streamer infos").at(at);
        let key = self.key_at(at).map_err(in_infos)?;
        let raw = self.raw_payload(&key).map_err(in_infos)?;
        let keylen = usize::from(key.keylen);
        let hash = infos_hash(&raw, &key);
        let parse = || {
            let payload = self.unpacked(&key, raw).map_err(in_infos)?;
            let mut infos = StreamerInfos::new();
            for info in parse_record(&payload, keylen).map_err(in_infos)? {
                infos.add(Arc::new(info));
            }
            Ok(infos)
        };
        match pool {
            Some(pool) => pool.shared_infos(hash, parse),
            None => parse().map(Arc::new),
        }
    }

    /// Reads the key header at an offset.
    ///
    /// # Errors
    ///
    /// If the offset lies outside of the file, or if there is no key.
    pub fn key_at(&self, offset: u64) -> Result<Key> {
        let left = self.source.size().saturating_sub(offset);
        let guess = usize::try_from(left).unwrap_or(KEY_GUESS).min(KEY_GUESS);
        let parse = |data: &[u8]| Key::parse(&mut Cursor::new(data)).map_err(|e| e.at(offset));
        let data = self.source.read(offset, guess)?;
        let mut key = match parse(&data) {
            // A header with long names may take up to 64 kB.
            Err(_) if left > guess as u64 => {
                let more = usize::try_from(left.min(1 << 16)).unwrap_or(guess);
                parse(&self.source.read(offset, more)?)?
            }
            other => other?,
        };
        key.seek_key = offset;
        Ok(key)
    }

    fn read_keys(&self, seek: u64, nbytes: u32) -> Result<Vec<Key>> {
        if seek < self.header.begin {
            return Err(Error::corrupt(
                "the directory's list of keys was never written: the file was not closed, or is being written",
            ));
        }
        let in_list = |e: Error| e.object("list of keys").at(seek);
        let key = self.key_at(seek).map_err(in_list)?;
        // The directory has the length of the list. The sizes in the list's own key are wrong in some files.
        let start = seek + u64::from(key.keylen);
        let len = (nbytes as usize).saturating_sub(usize::from(key.keylen));
        parse_key_list(&self.source.read(start, len).map_err(in_list)?).map_err(in_list)
    }

    /// Finds the keys of a file without a list of them by walking its records (`TFile::Recover`).
    fn recover(&mut self) -> Result<()> {
        self.recovered = true;
        let top = self.top.seek;
        let (mut found, mut infos) = (Vec::new(), None);
        self.scanned_to = self.walk_records(self.header.begin, |key| {
            if key.name == "StreamerInfo" {
                infos = Some((key.seek_key, key.nbytes));
            } else if key.seek_pdir == top && key.class != "TFile" && key.class != "TBasket" && !key.class.is_empty() {
                found.push(key);
            }
        })?;
        self.top.keys = found;
        if let Some((seek, nbytes)) = infos {
            (self.header.seek_info, self.header.nbytes_info) = (seek, nbytes);
        }
        // The last of several equal keys wins.
        let mut seen = HashSet::new();
        let mut last: Vec<bool> =
            self.top.keys.iter().rev().map(|k| seen.insert((&k.name, k.cycle, &k.class))).collect();
        self.top.keys.retain(|_| last.pop().unwrap_or(true));
        self.top.keys = self.top.newest_first().into_iter().cloned().collect();
        Ok(())
    }

    /// This file, with addresses that are followed so far.
    #[must_use]
    pub fn following(self, follow: Follow) -> Self {
        self.with_reach(Reach::of_named(follow))
    }

    fn with_reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// The file's bytes.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Its name, for messages.
    pub fn name(&self) -> &Path {
        self.source.name()
    }

    /// Its header.
    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Its streamer infos.
    pub fn infos(&self) -> &StreamerInfos {
        &self.infos
    }

    /// The same, shared with other files of its pool that have equal ones.
    pub fn shared_infos(&self) -> &Arc<StreamerInfos> {
        &self.infos
    }

    /// The error, if the streamer infos cannot be read.
    pub fn infos_problem(&self) -> Option<&Error> {
        self.infos_problem.as_ref()
    }

    /// Refuses a file that is cut short: it may lack objects without a trace.
    ///
    /// # Errors
    ///
    /// The file has fewer bytes than its header says.
    pub fn check_length(&self) -> Result<()> {
        let (size, end) = (self.source.size(), self.header.end);
        match size < end {
            true => Err(self.incomplete(&format!("is cut short: it has {size} bytes of {end}"))),
            false => Ok(()),
        }
    }

    /// Refuses a file that is cut short or was not closed.
    ///
    /// # Errors
    ///
    /// As for [`RootFile::check_length`], or the keys come from a scan.
    pub fn check_closed(&self) -> Result<()> {
        self.check_length()?;
        match self.recovered {
            true => Err(self.incomplete("was not closed: its list of keys is missing")),
            false => Ok(()),
        }
    }

    fn incomplete(&self, why: &str) -> Error {
        let why = format!("the file {why}; `basketry recover` makes a whole file of what is there");
        Error::corrupt(why).file(self.name())
    }

    /// Whether the keys come from a scan, because the file was not closed.
    pub fn recovered(&self) -> bool {
        self.recovered
    }

    /// The offset at which the scan of the records ended; none if the keys come from lists.
    pub fn scanned_to(&self) -> Option<u64> {
        self.recovered.then_some(self.scanned_to)
    }

    /// What is said of a file whose keys come from a scan, because it was not closed.
    pub fn unclosed(&self) -> Option<String> {
        let end = self.scanned_to()?;
        let rest = match self.source.size().saturating_sub(end) {
            0 => String::new(),
            rest => format!("; its last {rest} bytes, from byte {end}, hold no whole record"),
        };
        Some(format!("the file was not closed: its keys were found by reading its records{rest}"))
    }

    /// The top directory.
    pub fn top(&self) -> &Directory {
        &self.top
    }

    /// All directories, parents first. `problems` has the errors of directories that cannot be read.
    pub fn walk(&self) -> Walk {
        if let Some(listing) = &self.listing {
            return Walk { directories: listing.clone(), problems: Vec::new() };
        }
        let mut walk = Walk::default();
        let mut seen: HashSet<u64> = HashSet::from([self.top.seek]);
        // A limit for all lists and paths together. Directories that share one list or nest could otherwise use any
        // amount of memory.
        let mut room = self.source.size().saturating_mul(4);
        // Depth first: subdirectories follow their directory.
        let mut next = vec![self.top.clone()];
        while let Some(parent) = next.pop() {
            let from = next.len();
            for key in parent.keys.iter().filter(|k| is_directory(&k.class)) {
                if !seen.insert(key.seek_key) {
                    continue;
                }
                let path = parent.path_of(&key.name);
                match self.read_directory(key, path.clone(), &mut room) {
                    Ok(directory) => next.push(directory),
                    Err(e) => walk.problems.push(e.object(path).file(self.name())),
                }
            }
            if let Some(found) = next.get_mut(from..) {
                found.reverse();
            }
            walk.directories.push(parent);
        }
        walk
    }

    fn read_directory(&self, key: &Key, path: String, room: &mut u64) -> Result<Directory> {
        let payload = self.payload(key)?;
        let record = DirectoryRecord::parse(&mut Cursor::new(&payload))?;
        let bytes_listed = u64::from(record.nbytes_keys) + path.len() as u64;
        *room = room
            .checked_sub(bytes_listed)
            .ok_or_else(|| Error::corrupt("directories list more than the file holds"))?;
        let keys = if record.nbytes_keys == 0 || record.seek_keys == 0 {
            Vec::new()
        } else {
            self.read_keys(record.seek_keys, record.nbytes_keys)?
        };
        Ok(Directory { path, title: key.title.clone(), seek: key.seek_key, keys })
    }

    /// The free segments of the file: the gaps between records, and everything behind the last record.
    ///
    /// # Errors
    ///
    /// If the file's free list cannot be read.
    pub fn free_segments(&self) -> Result<Vec<FreeSegment>> {
        let key = self.key_at(self.header.seek_free).map_err(|e| e.object("free list"))?;
        parse_free_list(&self.payload(&key)?).map_err(|e| e.object("free list").at(key.seek_key))
    }

    /// The payload of a record as stored, compressed or not.
    ///
    /// # Errors
    ///
    /// If the record lies outside of the file, or if the file cannot be read.
    pub fn raw_payload(&self, key: &Key) -> Result<Vec<u8>> {
        let at = key.seek_key.saturating_add(u64::from(key.keylen));
        self.source.read(at, key.payload_len() as usize).map_err(|e| e.object(&key.name))
    }

    /// The payload of a record, decompressed.
    ///
    /// # Errors
    ///
    /// If the record cannot be read or decompressed.
    pub fn payload(&self, key: &Key) -> Result<Vec<u8>> {
        self.unpacked(key, self.raw_payload(key)?)
    }

    fn unpacked(&self, key: &Key, mut raw: Vec<u8>) -> Result<Vec<u8>> {
        if is_stored(raw.len(), key.objlen as usize) {
            raw.truncate(key.objlen as usize);
            return Ok(raw);
        }
        let mut out = Vec::new();
        Decompressor::new()
            .decompress(&raw, key.objlen as usize, &mut out)
            .map_err(|e| e.object(&key.name).at(key.seek_key).file(self.name()))?;
        Ok(out)
    }
}

/// A hash of a record of streamer infos. Tags in the record count from the key, so the key's length is included.
fn infos_hash(raw: &[u8], key: &Key) -> InfosHash {
    let lengths = u64::from(key.objlen) << 16 | u64::from(key.keylen);
    InfosHash(xxhash3_64::Hasher::oneshot(raw), xxhash3_64::Hasher::oneshot_with_seed(lengths, raw))
}

/// Whether a class is one of ROOT's directories in a file.
pub fn is_directory(class: &str) -> bool {
    class == "TDirectory" || class == "TDirectoryFile"
}

/// The top directory's record: a key, the file's name and title, and the directory's fields. Also returns its length.
fn read_top(source: &dyn Source, header: &FileHeader) -> Result<(Directory, DirectoryRecord, u32)> {
    let left = usize::try_from(source.size().saturating_sub(header.begin)).unwrap_or(usize::MAX);
    let data = source.read(header.begin, left.min(8192))?;
    let mut c = Cursor::new(&data);
    let key = Key::parse(&mut c)?;
    let mut names = Cursor::at(&data, usize::from(key.keylen));
    names.string()?;
    let title = names.string()?;
    // The fields start at `fNbytesName`, which agrees with the strings in all undamaged files.
    let at = usize::try_from(header.nbytes_name).unwrap_or(usize::MAX);
    let mut fields = if at == names.pos() || at == 0 { names } else { Cursor::at(&data, at) };
    let record = DirectoryRecord::parse(&mut fields)?;
    Ok((Directory { path: String::new(), title, seek: header.begin, keys: Vec::new() }, record, key.nbytes))
}
