//! Pages: from their bytes in the file to the bytes that [`element`](super::element) decodes. The checksum is verified and
//! the page decompressed.

use std::fmt;

use rootfile::codec::Decompressor;
use rootfile::{Error, Result};

use super::element::Encoding;
use super::model::{Locator, Page};

/// Bytes of the checksum that may follow a page: XXH3 of 64 bits, little-endian.
pub const CHECKSUM: u64 = 8;

/// Which page an error concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The path of the column's field, or the name of the RNTuple.
    pub field: &'a str,
    /// The physical ID of the column.
    pub column: usize,
    /// The number of the cluster.
    pub cluster: usize,
    /// The number of the page among those of the column in the cluster.
    pub page: usize,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, column, cluster, page } = self;
        write!(f, "{field}: page {page} of column {column} in cluster {cluster}")
    }
}

impl Place<'_> {
    /// The error with this page in its message.
    #[must_use]
    pub fn blame(&self, error: Error) -> Error {
        error.object(self.to_string())
    }
}

impl Page {
    /// Bytes in the file: the compressed page and its checksum. None if the page is not in a file.
    pub fn stored_len(&self) -> Option<u64> {
        match self.locator {
            Locator::File { size, .. } => size.checked_add(if self.has_checksum { CHECKSUM } else { 0 }),
            Locator::Unknown { .. } => None,
        }
    }

    /// Verifies the checksum of `record`, the page's bytes in the file, and decompresses them. The result lies in `record` if
    /// the page is stored, else in `scratch`, which callers reuse: its content beforehand does not matter, and it only grows.
    ///
    /// `record` has [`stored_len`](Self::stored_len) bytes. Callers that fetch many pages with one read pass a part of what they
    /// read. [`Place::blame`] says in an error which page it is.
    ///
    /// # Errors
    ///
    /// If the checksum does not match, or if the bytes do not decompress to what the page's elements need.
    pub fn open<'a>(
        &self,
        encoding: &Encoding,
        record: &'a [u8],
        decompressor: &mut Decompressor,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        self.open_at(encoding, record, decompressor, scratch).map_err(|error| match self.locator {
            Locator::File { offset, .. } => error.at(offset),
            Locator::Unknown { .. } => error,
        })
    }

    fn open_at<'a>(
        &self,
        encoding: &Encoding,
        record: &'a [u8],
        decompressor: &mut Decompressor,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let stored = match self.locator {
            Locator::File { .. } => self.stored_len().and_then(|len| usize::try_from(len).ok()),
            Locator::Unknown { kind } => return Err(unknown_storage(kind)),
        };
        if stored != Some(record.len()) {
            let (len, checksum) = (record.len(), if self.has_checksum { " and its checksum" } else { "" });
            return Err(Error::request(format!("{len} bytes are not the page{checksum}")));
        }
        let packed = if self.has_checksum { verify(record)? } else { record };
        let elements = usize::try_from(self.elements).unwrap_or(usize::MAX);
        let Some(len) = encoding.page_len(elements) else {
            return Err(Error::corrupt(format!("a page with {elements} elements")));
        };
        match packed.len() {
            stored if stored == len => return Ok(packed),
            stored if stored > len => {
                return Err(Error::corrupt(format!("a page of {len} bytes is stored in {stored}")));
            }
            _ => {}
        }
        // A vector that is large enough is not zeroed again. Others grow with the blocks that prove to be sound.
        if scratch.len() < len {
            scratch.clear();
            decompressor.decompress(packed, len, scratch)?;
        } else {
            decompressor.decompress_into(packed, scratch.get_mut(..len).unwrap_or_default())?;
        }
        Ok(scratch.get(..len).unwrap_or_default())
    }
}

/// The bytes before the checksum.
fn verify(record: &[u8]) -> Result<&[u8]> {
    let Some((bytes, checksum)) = record.split_last_chunk::<{ CHECKSUM as usize }>() else {
        return Err(Error::corrupt("a page is shorter than its checksum"));
    };
    let (stated, found) = (u64::from_le_bytes(*checksum), twox_hash::XxHash3_64::oneshot(bytes));
    if stated != found {
        return Err(Error::corrupt(format!("the checksum of a page is {found:016x}, not {stated:016x}")));
    }
    Ok(bytes)
}

fn unknown_storage(kind: u8) -> Error {
    Error::unsupported(format!("a page is not in the file, but in storage of type {kind:#04x}"))
}
