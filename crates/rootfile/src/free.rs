//! The free list: the bytes of a file that belong to no record.
//!
//! Layout (`TFree`), once for each segment: version (1000 added for eight-byte positions), first and last byte.
//! The last segment begins behind the file's end and goes to 2 GB and beyond.

use crate::bytes::Cursor;
use crate::key::BIG_KEY;
use crate::{Error, Result};

/// A run of free bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeSegment {
    /// Its first byte.
    pub first: u64,
    /// Its last byte.
    pub last: u64,
}

/// Reads the payload of the free list's record.
pub fn parse_free_list(payload: &[u8]) -> Result<Vec<FreeSegment>> {
    let mut c = Cursor::new(payload);
    let mut segments = Vec::new();
    while c.remaining() >= 10 {
        let position = match c.i16()? > BIG_KEY {
            true => Cursor::u64,
            false => |c: &mut Cursor<'_>| c.u32().map(u64::from),
        };
        let (first, last) = (position(&mut c)?, position(&mut c)?);
        if first > last {
            return Err(Error::corrupt(format!("a free segment from byte {first} to {last}")));
        }
        segments.push(FreeSegment { first, last });
    }
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Writer;

    #[test]
    fn both_forms_are_read() {
        let mut w = Writer::new();
        w.i16(1);
        w.u32(300);
        w.u32(399);
        w.i16(1001);
        w.u64(5 << 32);
        w.u64(6 << 32);
        let segments = parse_free_list(&w.bytes).unwrap();
        assert_eq!(segments, [FreeSegment { first: 300, last: 399 }, FreeSegment { first: 5 << 32, last: 6 << 32 }]);
        w.i16(1);
        w.u32(2);
        w.u32(1);
        assert!(parse_free_list(&w.bytes).is_err());
    }
}
