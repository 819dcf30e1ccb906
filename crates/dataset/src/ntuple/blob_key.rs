//! The key in front of a block that is written: class `RBlob`, no name, in no directory's list. One key may hold many pages, one
//! after the other.
//!
//! Facts: `RMiniFile.cxx`, `RTFKey` and `ReserveBlobKey`: the key names the top directory, and its object is as long as its bytes.

use rootfile::bytes::Writer;
use rootfile::{BEGIN, Error, Key, Result};

/// Most bytes of a key that ROOT writes and readers expect where the anchor says nothing else
/// (`RNTupleWriteOptions::kDefaultMaxKeySize`).
pub const MAX_KEY_SIZE: u64 = 0x4000_0000;

/// The bytes of a key for `len` bytes, to be written at `position`. The block follows.
///
/// # Errors
///
/// If the block is larger than [`MAX_KEY_SIZE`].
pub fn blob_key(position: u64, len: u64, datime: u32) -> Result<Vec<u8>> {
    let mut key = Key::new("RBlob", "", "", position, BEGIN);
    let too_large = || Error::unsupported(format!("a block of {len} bytes does not fit into a key"));
    let objlen = u32::try_from(len).ok().filter(|_| len <= MAX_KEY_SIZE).ok_or_else(too_large)?;
    (key.objlen, key.nbytes) = (objlen, objlen + u32::from(key.keylen));
    key.datime = datime;
    let mut w = Writer::new();
    key.write(&mut w);
    Ok(w.bytes)
}

#[cfg(test)]
mod tests {
    use rootfile::bytes::Cursor;

    use super::*;

    #[test]
    fn keys_near_and_far() {
        for position in [100, 3 << 30] {
            let bytes = blob_key(position, 5000, 77).unwrap();
            let key = Key::parse(&mut Cursor::new(&bytes)).unwrap();
            assert_eq!((key.class.as_str(), key.seek_key, key.objlen, key.datime), ("RBlob", position, 5000, 77));
            assert_eq!((usize::from(key.keylen), key.nbytes as usize), (bytes.len(), bytes.len() + 5000));
        }
        assert!(blob_key(100, MAX_KEY_SIZE + 1, 0).is_err());
    }
}
