//! Compares data that a file has twice: keys in lists with the keys of their records, and the positions and sizes of
//! lists and streamer infos.
//!
//! ROOT writes both copies of a key from one object. If they differ, one is damaged, and an object would be lost or
//! taken for another. No payload is read here.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::{FreeSegment, RootFile, Walk, is_directory, read_top};
use crate::Result;
use crate::bytes::Cursor;
use crate::directory::DirectoryRecord;
use crate::key::Key;

/// How much longer a key is whose class is `TDirectoryFile` and not `TDirectory`.
const RENAMED: u16 = 4;

/// A contradiction in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Path of the object or directory, with its cycle; a description where there is no path.
    pub object: String,
    /// Index of the directory in [`Walk::directories`], and of the key in it; none if no single key is meant.
    pub key: Option<(usize, usize)>,
    /// Path of the directory or object, without a cycle; empty for the whole file.
    pub path: String,
    /// Offset of the record.
    pub offset: u64,
    /// The contradiction, as a message.
    pub contradiction: String,
    /// Whether the difference is harmless: only a title differs.
    pub harmless: bool,
}

impl RootFile {
    /// Compares the keys of directories with their records, and the other data that a file has twice.
    pub fn audit(&self, walk: &Walk) -> Vec<Mismatch> {
        // This listing was made from the records.
        if self.listing.is_some() {
            return Vec::new();
        }
        let mut audit = Audit { file: self, walk, found: Vec::new() };
        audit.streamer_infos();
        if let Some(problem) = &self.list_problem {
            audit.file("top directory", self.top.seek, format!("the list of keys cannot be read ({problem})"));
        }
        let mut seen: HashMap<u64, (usize, usize)> = HashMap::new();
        for (d, directory) in walk.directories.iter().enumerate() {
            if !(directory.path.is_empty() && self.recovered) {
                audit.list(d);
            }
            for (k, key) in directory.keys.iter().enumerate() {
                if audit.is_of_record((d, k))
                    && let Some(first) = seen.insert(key.seek_key, (d, k))
                {
                    let other = audit.name_of(first);
                    audit.key((d, k), format!("the key points to the same record as the key of {other}"));
                }
            }
        }
        audit.found
    }
}

struct Audit<'a> {
    file: &'a RootFile,
    walk: &'a Walk,
    found: Vec<Mismatch>,
}

impl Audit<'_> {
    fn file(&mut self, object: &str, offset: u64, contradiction: String) {
        let object = object.to_owned();
        self.found.push(Mismatch { object, key: None, path: String::new(), offset, contradiction, harmless: false });
    }

    fn place(&self, (d, k): (usize, usize)) -> Option<(String, &Key)> {
        let directory = self.walk.directories.get(d)?;
        let key = directory.keys.get(k)?;
        Some((directory.path_of(&key.name), key))
    }

    fn name_of(&self, at: (usize, usize)) -> String {
        self.place(at).map_or_else(String::new, |(path, key)| format!("{path};{}", key.cycle))
    }

    fn key(&mut self, at: (usize, usize), contradiction: String) {
        self.say(at, contradiction, false);
    }

    fn say(&mut self, at: (usize, usize), contradiction: String, harmless: bool) {
        let object = self.name_of(at);
        let Some((path, key)) = self.place(at) else { return };
        let offset = key.seek_key;
        self.found.push(Mismatch { object, key: Some(at), path, offset, contradiction, harmless });
    }

    /// The header says where the streamer infos are, and how long their record is.
    fn streamer_infos(&mut self) {
        const NAME: &str = "streamer infos";
        let header = self.file.header();
        let (seek, nbytes) = (header.seek_info, header.nbytes_info);
        if let Some(problem) = self.file.infos_problem() {
            self.file(NAME, seek, format!("they cannot be read ({problem})"));
        } else if (seek == 0) != (nbytes == 0) && !self.file.recovered {
            self.file(NAME, seek, format!("the header says that their {nbytes} bytes begin at byte {seek}"));
        } else if seek > 0 && !self.file.recovered {
            let Ok(key) = self.file.key_at(seek) else { return };
            if key.nbytes != nbytes || key.class != "TList" || key.name != "StreamerInfo" {
                let (class, name, found) = (&key.class, &key.name, key.nbytes);
                let contradiction =
                    format!("the header expects {nbytes} bytes; the record has {found}, of a {class} {name:?}");
                self.file(NAME, seek, contradiction);
            }
        }
    }

    /// A directory's record against its list of keys.
    fn list(&mut self, d: usize) {
        let Some(directory) = self.walk.directories.get(d) else { return };
        let contradiction = match self.list_of(directory.seek, directory.path.is_empty()) {
            Ok(None) => return,
            Ok(Some(contradiction)) => contradiction,
            Err(e) => e.to_string(),
        };
        let object = if directory.path.is_empty() { "top directory" } else { &directory.path }.to_owned();
        let (path, offset) = (directory.path.clone(), directory.seek);
        self.found.push(Mismatch { object, key: None, path, offset, contradiction, harmless: false });
    }

    fn list_of(&self, seek: u64, is_top: bool) -> Result<Option<String>> {
        let source = self.file.source();
        let record = if is_top {
            read_top(&**source, self.file.header())?.1
        } else {
            let key = self.file.key_at(seek)?;
            DirectoryRecord::parse(&mut Cursor::new(&self.file.payload(&key)?))?
        };
        if record.seek_dir != seek {
            let said = record.seek_dir;
            return Ok(Some(format!("the directory's record gives its own position as byte {said}")));
        }
        let (at, nbytes) = (record.seek_keys, record.nbytes_keys);
        if (at == 0) != (nbytes == 0) {
            return Ok(Some(format!("the directory's record says that a list of {nbytes} bytes is at byte {at}")));
        }
        if at == 0 {
            return Ok(None);
        }
        let list = self.file.key_at(at)?;
        // ROOT names the directory itself (TDirectoryFile::WriteKeys), uproot the directory around it, and tools that repair
        // files name none.
        if ![seek, record.seek_parent, 0].contains(&list.seek_pdir) {
            let other = list.seek_pdir;
            return Ok(Some(format!("the list of keys at byte {at} is that of the directory at byte {other}")));
        }
        let start = at.saturating_add(u64::from(list.keylen));
        let len = (nbytes as usize).saturating_sub(usize::from(list.keylen));
        let payload = source.read(start, len)?;
        let mut c = Cursor::new(&payload);
        let n = c.count(29)?;
        let mut listed = HashSet::new();
        for _ in 0..n {
            listed.insert(Key::parse(&mut c)?.seek_key);
        }
        // Bytes behind a list may be left over from a longer list (uproot reserves more than a list needs). A key there
        // whose object still exists means that the count is wrong.
        if let Ok(next) = Key::parse(&mut c)
            && next.seek_pdir == seek
            && !listed.contains(&next.seek_key)
            && self.is_in_use(&next)
        {
            let name = &next.name;
            return Ok(Some(format!(
                "the list of keys at byte {at} counts {n} keys, and one of {name:?} follows them"
            )));
        }
        Ok(None)
    }

    /// Whether the record of a key agrees with the key, and is not in the free list.
    fn is_in_use(&self, key: &Key) -> bool {
        let same = |record: &Key| record.class == key.class && record.name == key.name && record.nbytes == key.nbytes;
        let is_free = |s: &FreeSegment| s.first <= key.seek_key && key.seek_key <= s.last;
        self.file.key_at(key.seek_key).is_ok_and(|record| same(&record))
            && !self.file.free_segments().is_ok_and(|free| free.iter().any(is_free))
    }

    /// Compares a key in a list with the key of its record. Returns whether they agree.
    fn is_of_record(&mut self, at: (usize, usize)) -> bool {
        match self.contradiction(at) {
            Some((contradiction, harmless)) => {
                self.say(at, contradiction, harmless);
                harmless
            }
            None => true,
        }
    }

    /// How a key in a list differs from the key of its record, and whether the difference is harmless.
    fn contradiction(&self, at: (usize, usize)) -> Option<(String, bool)> {
        let (_, listed) = self.place(at)?;
        let directory = self.walk.directories.get(at.0)?;
        let source = self.file.source();
        let room = source.size().saturating_sub(listed.seek_key);
        if room < u64::from(listed.nbytes) {
            let (seek, size) = (listed.seek_key, source.size());
            let contradiction =
                format!("its {} bytes at byte {seek} go beyond the file, which has {size}", listed.nbytes);
            return Some((contradiction, false));
        }
        let read = |len: usize| {
            let len = len.min(usize::try_from(room).unwrap_or(usize::MAX));
            Key::parse(&mut Cursor::new(&source.read(listed.seek_key, len)?))
        };
        // The key of another record may be longer: the second reading gets its name.
        let record = read(usize::from(listed.keylen).max(listed.header_len())).or_else(|_| read(1 << 16));
        let record = match record {
            Ok(record) => record,
            Err(e) => return Some((format!("no record begins where the list of keys says ({e})"), false)),
        };
        let mut differ = String::new();
        let renamed = is_directory(&listed.class) && is_directory(&record.class);
        if !renamed {
            compare(&mut differ, "class", &listed.class, &record.class);
        }
        compare(&mut differ, "name", &listed.name, &record.name);
        compare(&mut differ, "cycle", &listed.cycle, &record.cycle);
        compare(&mut differ, "size", &listed.nbytes, &record.nbytes);
        compare(&mut differ, "object size", &listed.objlen, &record.objlen);
        if !renamed || listed.keylen.abs_diff(record.keylen) != RENAMED {
            compare(&mut differ, "key length", &listed.keylen, &record.keylen);
        }
        compare(&mut differ, "position", &listed.seek_key, &record.seek_key);
        compare(&mut differ, "parent directory", &listed.seek_pdir, &record.seek_pdir);
        compare(&mut differ, "process identifier", &listed.pid_offset, &record.pid_offset);
        if !differ.is_empty() {
            let contradiction = format!("the key in the list of keys is not the key of its record: {differ}");
            return Some((contradiction, false));
        }
        let elsewhere = |d: &super::Directory| d.seek == listed.seek_pdir;
        if listed.seek_pdir != directory.seek && self.walk.directories.iter().any(elsewhere) {
            let (here, there) = (directory.seek, listed.seek_pdir);
            let contradiction =
                format!("it lies in the directory at byte {here}, its key names the one at byte {there}");
            // Readers do not use it. Where a directory got another place, ROOT may give the old one to a new directory.
            return Some((contradiction, true));
        }
        let (ours, theirs) = (&listed.title, &record.title);
        // References find their process by this title.
        let harmless = listed.class != "TProcessID";
        (ours != theirs)
            .then(|| (format!("its title is {ours:?} in the list of keys and {theirs:?} in its record"), harmless))
    }
}

/// Appends a difference between the two copies of a key to a message.
fn compare<T: PartialEq + std::fmt::Debug>(differ: &mut String, field: &str, listed: &T, there: &T) {
    if listed != there {
        let comma = if differ.is_empty() { "" } else { ", " };
        let _ = write!(differ, "{comma}{field} {listed:?} (record: {there:?})");
    }
}
