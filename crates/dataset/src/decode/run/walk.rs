//! A position in bytes with the classes that may follow, for code that looks at the form of objects without decoding
//! them; and how a class's version is read.

use rootfile::Result;
use rootfile::bytes::Cursor;

use crate::decode::program::class_reader::{ClassReader, ClassVersion, find, no_reader};

/// A position in bytes, and the readers of the classes that may follow.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    pub cursor: Cursor<'a>,
    pub readers: &'a [ClassReader],
}

/// The version of a class that an object has whose frame says this: a number, and a checksum behind a 0.
pub(crate) fn version_said<'a>(said: &[u8], readers: &'a [ClassReader], reader: usize) -> Result<&'a ClassVersion> {
    let mut cursor = Cursor::new(said);
    let version = cursor.i16()?;
    let checksum = read_checksum(&mut cursor, readers, version, reader)?;
    find(readers.get(reader).ok_or_else(no_reader)?, version.into(), checksum)
}

/// Reads the checksum that follows a version of 0: classes without a version of their own have one.
pub(super) fn read_checksum(
    cursor: &mut Cursor<'_>,
    readers: &[ClassReader],
    version: i16,
    reader: usize,
) -> Result<u32> {
    if version > 0 {
        return Ok(0);
    }
    let reader = readers.get(reader).ok_or_else(no_reader)?;
    let checksum = cursor.clone().u32().unwrap_or(0);
    if reader.any_version || reader.versions.iter().any(|v| v.checksum == checksum) {
        cursor.skip(4)?;
        return Ok(checksum);
    }
    match reader.versions.as_slice() {
        // The writer computed the checksum by other rules.
        [only] if only.version != 0 => {
            cursor.skip(4)?;
            Ok(only.checksum)
        }
        _ => Ok(0),
    }
}
