//! Directories: the record with the position of a directory's list of keys, and that list.
//!
//! Layout (`TDirectoryFile::Streamer`): version (1000 added for eight-byte positions), creation and
//! modification time, bytes of the key list, bytes of the name, own, parent's and key list's offset, UUID.

use crate::bytes::{Cursor, Writer};
use crate::header::START_BIG_FILE;
use crate::key::{BIG_KEY, Key};
use crate::{Error, Result};

/// The fields of a directory record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryRecord {
    /// Creation time, packed as in `TDatime`.
    pub created: u32,
    /// Modification time.
    pub modified: u32,
    /// Bytes of the key list's record.
    pub nbytes_keys: u32,
    /// Bytes before these fields in the directory's own record.
    pub nbytes_name: u32,
    /// Offset of the directory's record.
    pub seek_dir: u64,
    /// Offset of the parent directory's record, 0 for the top.
    pub seek_parent: u64,
    /// Offset of the key list's record.
    pub seek_keys: u64,
    /// The directory's UUID.
    pub uuid: [u8; 16],
}

impl DirectoryRecord {
    /// Most bytes that the fields take.
    pub(crate) const MAX_LEN: usize = 2 + 4 * 4 + 3 * 8 + 2 + 16;

    /// Reads the fields.
    ///
    /// # Errors
    ///
    /// If the bytes end too early.
    pub fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let version = c.i16()?;
        let big = version > BIG_KEY;
        let created = c.u32()?;
        let modified = c.u32()?;
        let nbytes_keys = c.u32()?;
        let nbytes_name = c.u32()?;
        let mut position = || if big { c.u64() } else { c.u32().map(u64::from) };
        let (seek_dir, seek_parent, seek_keys) = (position()?, position()?, position()?);
        let mut uuid = [0; 16];
        if version % BIG_KEY > 1
            && c.u16().is_ok()
            && let Ok(bytes) = c.bytes(16)
        {
            uuid.copy_from_slice(bytes);
        }
        Ok(Self { created, modified, nbytes_keys, nbytes_name, seek_dir, seek_parent, seek_keys, uuid })
    }

    /// The fields in a record that has room for so many bytes of them; none if that is too little.
    pub(crate) fn within(&self, room: usize) -> Option<Vec<u8>> {
        let big = self.seek_dir.max(self.seek_parent).max(self.seek_keys) > START_BIG_FILE;
        let needed = if big { Self::MAX_LEN } else { Self::MAX_LEN - 3 * 4 };
        let mut w = Writer::new();
        self.write(&mut w);
        w.bytes.truncate(room);
        (room >= needed).then_some(w.bytes)
    }

    /// Writes the fields. They always take the same number of bytes, so that they can be patched in place.
    pub fn write(&self, w: &mut Writer) {
        let big = self.seek_dir.max(self.seek_parent).max(self.seek_keys) > START_BIG_FILE;
        let start = w.pos();
        w.i16(if big { 5 + BIG_KEY } else { 5 });
        w.u32(self.created);
        w.u32(self.modified);
        w.u32(self.nbytes_keys);
        w.u32(self.nbytes_name);
        for position in [self.seek_dir, self.seek_parent, self.seek_keys] {
            if big { w.u64(position) } else { w.u32(u32::try_from(position).unwrap_or(u32::MAX)) }
        }
        w.u16(1);
        w.raw(&self.uuid);
        w.bytes.resize(start + Self::MAX_LEN, 0);
    }
}

/// Reads the payload of a key-list record: a count, then key headers.
///
/// # Errors
///
/// If the count or a key is damaged.
pub fn parse_key_list(payload: &[u8]) -> Result<Vec<Key>> {
    let mut c = Cursor::new(payload);
    // A key takes at least 26 bytes and its three string lengths.
    let n = c.count(29)?;
    let mut keys = Vec::with_capacity(n);
    for i in 0..n {
        keys.push(Key::parse(&mut c).map_err(|e| Error::corrupt(format!("key {i} of the directory's list: {e}")))?);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_round_trip() {
        for seek_keys in [4000, 7 << 32] {
            let record = DirectoryRecord {
                created: 1,
                modified: 2,
                nbytes_keys: 300,
                nbytes_name: 50,
                seek_dir: 100,
                seek_parent: 0,
                seek_keys,
                uuid: [9; 16],
            };
            let mut w = Writer::new();
            record.write(&mut w);
            assert_eq!(w.bytes.len(), DirectoryRecord::MAX_LEN);
            assert_eq!(DirectoryRecord::parse(&mut Cursor::new(&w.bytes)).unwrap(), record);
        }
    }
}
