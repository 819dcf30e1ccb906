//! The key: the header of every record, with the record's length, the object's class and name, and its directory.
//!
//! Layout (`TKey::Streamer`): fNbytes, version, fObjlen, fDatime, fKeylen, fCycle, fSeekKey, fSeekPdir, class,
//! name, title. A version above 1000 says that the two positions take eight bytes.

use crate::bytes::{Cursor, Writer, string_len};
use crate::header::START_BIG_FILE;
use crate::{Error, Result};

/// What is added to the version of a key with eight-byte positions.
pub const BIG_KEY: i16 = 1000;
/// Bytes that the eight-byte positions of a key take besides.
pub const BIG_KEY_ROOM: u64 = 8;
const PID_OFFSET_SHIFT: u32 = 48;
/// The version ROOT 6 writes.
const VERSION: i16 = 4;
/// Bytes of a key with empty strings in the 32-bit form, the three length bytes included.
const FIXED: usize = 4 + 2 + 4 + 4 + 2 + 2 + 4 + 4;
/// The class of a directory as ROOT writes it in keys, also for a `TDirectoryFile` (`TKey::TKey`). ROOT finds RNTuples only in
/// directories of this class (`RMiniFileReader::SearchInDirectory`).
pub(crate) const DIRECTORY_CLASS: &str = "TDirectory";
/// The class itself. ROOT takes one name for the other when it reads a key (`TKey::ReadKeyBuffer`), and some versions (5.30 is one)
/// write such a key back into the list of an updated file under the longer name with the old fKeylen: the record is as long
/// as that says, the key in the list longer.
const LONG_DIRECTORY_CLASS: &str = "TDirectoryFile";
const RENAMED: usize = LONG_DIRECTORY_CLASS.len() - DIRECTORY_CLASS.len();

/// A record's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Bytes of the whole record on disk, this header included.
    pub nbytes: u32,
    /// `TKey`'s class version, with 1000 added for eight-byte positions.
    pub version: i16,
    /// Bytes of the object before compression.
    pub objlen: u32,
    /// Date and time, packed as in `TDatime`.
    pub datime: u32,
    /// Bytes of this header.
    pub keylen: u16,
    /// The cycle: numbers objects of the same name in a directory.
    pub cycle: i16,
    /// Offset of the record.
    pub seek_key: u64,
    /// Offset of the directory that owns it.
    pub seek_pdir: u64,
    /// Added to the process-identifier numbers of references inside the object (64-bit form only).
    pub pid_offset: u16,
    /// Class of the object.
    pub class: String,
    /// Name of the object.
    pub name: String,
    /// Title of the object.
    pub title: String,
}

impl Key {
    /// Reads a key header. Does not check whether the record lies in the file. If the key of a directory was renamed without
    /// its length, the class is the one in the directory's record.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or if the sizes contradict each other.
    pub fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let start = c.pos();
        let mut key = Self::parse_unplaced(c)?;
        let mut fields = c.pos() - start;
        if key.class == LONG_DIRECTORY_CLASS && fields.checked_sub(RENAMED) == Some(usize::from(key.keylen)) {
            DIRECTORY_CLASS.clone_into(&mut key.class);
            fields -= RENAMED;
        }
        if u32::from(key.keylen) > key.nbytes || usize::from(key.keylen) < fields {
            return Err(Error::corrupt(format!(
                "a record of {} bytes with a key of {} bytes by its own size, and {fields} by its fields",
                key.nbytes, key.keylen
            )));
        }
        Ok(key)
    }

    /// Reads the key of an object without a record of its own. Its fNbytes has no meaning.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or if the sizes contradict each other.
    pub fn parse_unplaced(c: &mut Cursor<'_>) -> Result<Self> {
        let nbytes = c.i32()?;
        let version = c.i16()?;
        let objlen = c.i32()?;
        let datime = c.u32()?;
        let keylen = c.u16()?;
        let cycle = c.i16()?;
        let (seek_key, seek_pdir) =
            if version > BIG_KEY { (c.u64()?, c.u64()?) } else { (u64::from(c.u32()?), u64::from(c.u32()?)) };
        // In the 64-bit form the top two bytes are the offset of process identifiers (`kPidOffsetShift`).
        let pid_offset = u16::try_from(seek_pdir >> PID_OFFSET_SHIFT).unwrap_or_default();
        let seek_pdir = seek_pdir & ((1 << PID_OFFSET_SHIFT) - 1);
        let class = c.string()?;
        let name = c.string()?;
        let title = c.string()?;
        Ok(Self {
            nbytes: u32::try_from(nbytes).map_err(|_| Error::corrupt(format!("a key of {nbytes} bytes")))?,
            version,
            objlen: u32::try_from(objlen).map_err(|_| Error::corrupt(format!("an object of {objlen} bytes")))?,
            datime,
            keylen,
            cycle,
            seek_key,
            seek_pdir,
            pid_offset,
            class,
            name,
            title,
        })
    }

    /// A key for a record to be written at `seek_key`; `nbytes` and `objlen` are set when its size is known.
    pub fn new(class: &str, name: &str, title: &str, seek_key: u64, seek_pdir: u64) -> Self {
        let big = seek_key > START_BIG_FILE || seek_pdir > START_BIG_FILE;
        let mut key = Self {
            nbytes: 0,
            version: if big { VERSION + BIG_KEY } else { VERSION },
            objlen: 0,
            datime: 0,
            keylen: 0,
            cycle: 1,
            seek_key,
            seek_pdir,
            pid_offset: 0,
            class: class.to_owned(),
            name: name.to_owned(),
            title: title.to_owned(),
        };
        // The format has no room for a header beyond 64 kB; the writer refuses such names.
        key.keylen = u16::try_from(key.header_len()).unwrap_or(u16::MAX);
        key
    }

    /// Whether positions take eight bytes.
    pub fn is_big(&self) -> bool {
        self.version > BIG_KEY
    }

    /// Bytes that the fields of this header take (at most `keylen`).
    pub fn header_len(&self) -> usize {
        let strings = string_len(&self.class) + string_len(&self.name) + string_len(&self.title);
        FIXED + if self.is_big() { 8 } else { 0 } + strings
    }

    /// Bytes of the longest name that a key of this length has room for.
    pub fn longest_name(&self) -> usize {
        crate::text::encode(&self.name).len() + usize::from(self.keylen).saturating_sub(self.header_len())
    }

    /// Bytes of the payload on disk, compressed or not.
    pub fn payload_len(&self) -> u32 {
        self.nbytes.saturating_sub(u32::from(self.keylen))
    }

    /// Writes the header.
    pub fn write(&self, w: &mut Writer) {
        w.u32(self.nbytes);
        w.i16(self.version);
        w.u32(self.objlen);
        w.u32(self.datime);
        w.u16(self.keylen);
        w.i16(self.cycle);
        if self.is_big() {
            w.u64(self.seek_key);
            w.u64(self.seek_pdir | u64::from(self.pid_offset) << PID_OFFSET_SHIFT);
        } else {
            w.u32(u32::try_from(self.seek_key).unwrap_or(u32::MAX));
            w.u32(u32::try_from(self.seek_pdir).unwrap_or(u32::MAX));
        }
        w.string(&self.class);
        w.string(&self.name);
        w.string(&self.title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_round_trip() {
        for seek in [1234, 5 << 33] {
            let mut key = Key::new("TTree", "Events", &"long title ".repeat(40), seek, 100);
            key.nbytes = 4000;
            let mut w = Writer::new();
            key.write(&mut w);
            assert_eq!(w.bytes.len(), usize::from(key.keylen));
            assert_eq!(Key::parse(&mut Cursor::new(&w.bytes)).unwrap(), key);
        }
    }

    #[test]
    fn only_a_renamed_directory_may_take_more_than_it_says() {
        let listed = |class: &str, short: u16| {
            let mut key = Key::new(class, "a", "a", 314, 100);
            key.keylen -= short;
            key.nbytes = 101;
            let mut w = Writer::new();
            key.write(&mut w);
            let mut c = Cursor::new(&w.bytes);
            Key::parse(&mut c).map(|key| (key, c.pos() == w.bytes.len()))
        };
        let (key, to_the_end) = listed("TDirectoryFile", 4).unwrap();
        assert_eq!((key.class.as_str(), key.keylen, key.header_len()), ("TDirectory", 41, 41));
        assert!(to_the_end, "the next key of the list begins behind all fields");
        assert_eq!(listed("TDirectoryFile", 0).unwrap().0.class, "TDirectoryFile");
        for (class, short) in [("TDirectoryFile", 3), ("TDirectoryFile", 5), ("TDirectory", 4), ("TH1F", 4)] {
            listed(class, short).unwrap_err();
        }
    }
}
