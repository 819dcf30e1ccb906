//! Reads the bytes that locators name. A block is in one key of class `RBlob`, or in several if it is larger than the anchor's
//! limit of a key: then the first key has the first part and, at its end, the offsets of the other parts.
//!
//! Facts: `RMiniFile.cxx`, `TryReadBuffer` and `ComputeNumChunks`. The keys themselves are not read: their sizes of objects mean
//! nothing, and one key may have many pages.

use rootfile::codec::Decompressor;
use rootfile::{Error, Result, Source};

use super::model::{Link, Locator};

/// Bytes of an offset in the first part.
const OFFSET: u64 = 8;

/// Reads the bytes of a block. A page's checksum follows the page and is not part of the locator's size: a caller that wants
/// it asks for eight bytes more.
///
/// # Errors
///
/// If the locator is not into a file, or if its bytes cannot be read.
pub fn read_blob(source: &dyn Source, locator: &Locator, max_key_size: u64) -> Result<Vec<u8>> {
    let (offset, size) = match *locator {
        Locator::File { offset, size } => (offset, size),
        Locator::Unknown { kind } => {
            return Err(Error::unsupported(format!(
                "a block that is not in the file, but in storage of type {kind:#04x}"
            )));
        }
    };
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    let parts = match part_count(size, max_key_size) {
        None => return source.read(offset, len),
        Some(parts) => parts,
    };
    let offsets_len = (parts - 1).saturating_mul(OFFSET);
    let damaged = || Error::corrupt(format!("a block of {size} bytes cannot be in keys of {max_key_size}")).at(offset);
    let first_len = max_key_size.checked_sub(offsets_len).ok_or_else(damaged)?;
    if size > source.size() {
        return Err(damaged());
    }
    // The first part ends with the offsets, which the second part then overwrites.
    let mut bytes = source.read(offset, usize::try_from(max_key_size).unwrap_or(usize::MAX))?;
    let first_len = usize::try_from(first_len).unwrap_or(usize::MAX);
    let offsets = bytes.split_off(first_len.min(bytes.len()));
    bytes.resize(len, 0);
    let rest = bytes.get_mut(first_len..).unwrap_or_default();
    let part_len = usize::try_from(max_key_size).unwrap_or(usize::MAX);
    let mut offsets = offsets.chunks_exact(OFFSET as usize);
    for part in rest.chunks_mut(part_len) {
        let at = offsets.next().and_then(|bytes| bytes.first_chunk()).ok_or_else(damaged)?;
        let at = u64::from_le_bytes(*at);
        source.read_exact_at(at, part).map_err(|e| e.at(at))?;
    }
    Ok(bytes)
}

/// The number of parts of a block; none if it is in one key.
fn part_count(size: u64, max_key_size: u64) -> Option<u64> {
    if max_key_size == 0 || size <= max_key_size {
        return None;
    }
    let parts = size.div_ceil(max_key_size);
    // Room that the last part leaves for the offsets, as the first part has less data.
    let room = (max_key_size - size % max_key_size) % max_key_size;
    Some(if (parts - 1).saturating_mul(OFFSET) > room { parts.saturating_add(1) } else { parts })
}

/// Reads a compressed block.
///
/// # Errors
///
/// If its bytes cannot be read or decompressed.
pub fn read_block(source: &dyn Source, link: &Link, max_key_size: u64) -> Result<Vec<u8>> {
    unpack_block(read_blob(source, &link.locator, max_key_size)?, link.len)
}

/// Decompresses a block to `len` bytes. A block of that length is stored; unlike in a key, a longer one is an error.
///
/// # Errors
///
/// If it is damaged.
fn unpack_block(block: Vec<u8>, len: u64) -> Result<Vec<u8>> {
    let wanted = usize::try_from(len).unwrap_or(usize::MAX);
    match block.len() {
        stored if stored == wanted => Ok(block),
        longer if longer > wanted => {
            Err(Error::corrupt(format!("a compressed block of {longer} bytes for {wanted}: a block never grows")))
        }
        _ => {
            let mut out = Vec::new();
            Decompressor::new().decompress(&block, wanted, &mut out)?;
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use rootfile::MemoryFile;

    use super::*;

    /// Puts a block into parts the way `RNTupleFileWriter::WriteBlob` does: the first part last.
    fn write_blob(file: &mut Vec<u8>, block: &[u8], max_key_size: usize) -> u64 {
        let parts = part_count(block.len() as u64, max_key_size as u64).map_or(1, |n| usize::try_from(n).unwrap());
        let offsets_len = (parts - 1) * 8;
        let first = if parts == 1 { block.len() } else { max_key_size - offsets_len };
        let mut offsets = Vec::new();
        for part in block[first..].chunks(max_key_size) {
            file.extend(b"key");
            offsets.extend((file.len() as u64).to_le_bytes());
            file.extend(part);
        }
        // ROOT counts one part too many in rare cases: its offset is not written.
        offsets.resize(offsets_len, 0xee);
        file.extend(b"key");
        let at = file.len() as u64;
        file.extend(&block[..first]);
        file.extend(offsets);
        at
    }

    #[test]
    fn blocks_of_all_lengths_in_small_keys() {
        for max in [24usize, 40, 64, 1000] {
            for len in 0..max * 3 - 40 {
                let block: Vec<u8> = (0..len).map(|i| u8::try_from(i % 251).unwrap()).collect();
                let mut file = vec![9; 10];
                let offset = write_blob(&mut file, &block, max);
                let locator = Locator::File { offset, size: len as u64 };
                let read = read_blob(&MemoryFile(file), &locator, max as u64).unwrap();
                assert!(read == block, "{max} {len}");
            }
        }
    }

    #[test]
    fn impossible_blocks() {
        let file = MemoryFile(vec![0; 100]);
        let read = |offset, size, max| read_blob(&file, &Locator::File { offset, size }, max);
        assert_eq!(read(0, 100, 0).unwrap().len(), 100);
        for (offset, size, max) in
            [(1, 100, 0), (0, u64::MAX, 0), (0, u64::MAX, 1), (0, 100, 8), (0, 60, 7), (0, 200, 50)]
        {
            assert!(read(offset, size, max).is_err(), "{offset} {size} {max}");
        }
        // The offset of the second part is beyond the file.
        let damaged = MemoryFile(vec![0xff; 100]);
        assert!(read_blob(&damaged, &Locator::File { offset: 0, size: 60 }, 40).is_err());
        assert!(read_blob(&file, &Locator::Unknown { kind: 2 }, 0).unwrap_err().to_string().contains("0x02"));
    }

    #[test]
    fn a_stored_block_has_its_length() {
        assert_eq!(unpack_block(b"stored".to_vec(), 6).unwrap(), b"stored");
        assert!(unpack_block(b"stored".to_vec(), 5).is_err());
        assert!(unpack_block(b"stored".to_vec(), 7).is_err());
        assert!(unpack_block(b"stored".to_vec(), u64::MAX).is_err());
    }
}
