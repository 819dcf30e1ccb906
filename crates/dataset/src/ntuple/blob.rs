//! The bytes that locators name. A block is in one key of class `RBlob`, or in several if it is larger than the anchor's
//! limit of a key: then the first key has the first part and, at its end, the offsets of the other parts.
//!
//! Facts: `RMiniFile.cxx`, `TryReadBuffer` and `ComputeNumChunks`. The keys themselves are not read: their sizes of objects mean
//! nothing, and one key may have many pages.

use rootfile::codec::Decompressor;
use rootfile::{Error, RangeBuffer, RangeBytes, RangeReader, Result, Source};

use super::model::{Link, Locator};

/// Bytes of an offset in the first part.
const OFFSET: u64 = 8;

/// Reads the bytes of a block. A page's checksum follows the page and is not part of the locator's size: a caller that wants
/// it asks for eight bytes more.
///
/// # Errors
///
/// If the locator is not into a file, or if its bytes cannot be read.
pub fn read_blob((bytes, file): (&mut dyn RangeBytes, u32), locator: &Locator, max_key_size: u64) -> Result<Vec<u8>> {
    let (offset, size) = match *locator {
        Locator::File { offset, size } => (offset, size),
        Locator::Unknown { kind } => {
            return Err(Error::unsupported(format!(
                "a block that is not in the file, but in storage of type {kind:#04x}"
            )));
        }
    };
    let len = usize::try_from(size).unwrap_or(usize::MAX);
    let range = |offset: u64, size: u64| offset..offset.saturating_add(size);
    let parts = match part_count(size, max_key_size) {
        None => return bytes.read(file, range(offset, size)),
        Some(parts) => parts,
    };
    let offsets_len = (parts - 1).saturating_mul(OFFSET);
    let damaged = || Error::corrupt(format!("a block of {size} bytes cannot be in keys of {max_key_size}")).at(offset);
    let first_len = max_key_size.checked_sub(offsets_len).ok_or_else(damaged)?;
    if size > bytes.size(file) {
        return Err(damaged());
    }
    // The first part ends with the offsets, which the second part then overwrites.
    let mut block = bytes.read(file, range(offset, max_key_size))?;
    let first_len = usize::try_from(first_len).unwrap_or(usize::MAX);
    let offsets = block.split_off(first_len.min(block.len()));
    block.resize(len, 0);
    let rest = block.get_mut(first_len..).unwrap_or_default();
    let part_len = usize::try_from(max_key_size).unwrap_or(usize::MAX);
    let mut offsets = offsets.chunks_exact(OFFSET as usize);
    for part in rest.chunks_mut(part_len) {
        let at = offsets.next().and_then(|bytes| bytes.first_chunk()).ok_or_else(damaged)?;
        let at = u64::from_le_bytes(*at);
        bytes.read_into(file, at, part).map_err(|e| e.at(at))?;
    }
    Ok(block)
}

/// Whether a block is in one key. Larger ones are divided.
pub fn is_one_key(size: u64, max_key_size: u64) -> bool {
    max_key_size == 0 || size <= max_key_size
}

/// The number of parts of a block; none if it is in one key.
fn part_count(size: u64, max_key_size: u64) -> Option<u64> {
    if is_one_key(size, max_key_size) {
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
    let mut buffer = RangeBuffer::default();
    let mut bytes = RangeReader::of(source, &mut buffer);
    unpack_block(read_blob((&mut bytes, 0), &link.locator, max_key_size)?, link.len)
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

    fn blob(file: &MemoryFile, locator: &Locator, max_key_size: u64) -> Result<Vec<u8>> {
        read_blob((&mut RangeReader::of(file, &mut RangeBuffer::default()), 0), locator, max_key_size)
    }

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
                let read = blob(&MemoryFile(file), &locator, max as u64).unwrap();
                assert!(read == block, "{max} {len}");
            }
        }
    }

    #[test]
    fn impossible_blocks() {
        let file = MemoryFile(vec![0; 100]);
        let read = |offset, size, max| blob(&file, &Locator::File { offset, size }, max);
        assert_eq!(read(0, 100, 0).unwrap().len(), 100);
        for (offset, size, max) in
            [(1, 100, 0), (0, u64::MAX, 0), (0, u64::MAX, 1), (0, 100, 8), (0, 60, 7), (0, 200, 50)]
        {
            assert!(read(offset, size, max).is_err(), "{offset} {size} {max}");
        }
        // The offset of the second part is beyond the file.
        let damaged = MemoryFile(vec![0xff; 100]);
        assert!(blob(&damaged, &Locator::File { offset: 0, size: 60 }, 40).is_err());
        assert!(blob(&file, &Locator::Unknown { kind: 2 }, 0).unwrap_err().to_string().contains("0x02"));
    }

    #[test]
    fn a_stored_block_has_its_length() {
        assert_eq!(unpack_block(b"stored".to_vec(), 6).unwrap(), b"stored");
        assert!(unpack_block(b"stored".to_vec(), 5).is_err());
        assert!(unpack_block(b"stored".to_vec(), 7).is_err());
        assert!(unpack_block(b"stored".to_vec(), u64::MAX).is_err());
    }
}
