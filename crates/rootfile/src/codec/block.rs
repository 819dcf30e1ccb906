//! The frame of a compressed block: nine bytes that name the codec and both sizes, and a walk over a payload's blocks.
//!
//! Only headers are read here. Their sizes are checked against the bytes at hand and against the highest ratio of the
//! codec, so that a wrong header is found before memory is allocated for it.

use super::{Algorithm, is_stored};
use crate::{Error, Result};

/// The first nine bytes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// The codec, from the two letters.
    pub algorithm: Algorithm,
    /// Bytes behind the header, for LZ4 including the checksum.
    pub compressed: usize,
    /// Bytes after decompression.
    pub uncompressed: usize,
}

impl BlockHeader {
    /// Bytes of a header: two letters, method, and twice three bytes of size, little-endian.
    pub const SIZE: usize = 9;

    /// Reads the header at the start of `bytes`.
    ///
    /// # Errors
    ///
    /// If the header is cut short, names an unknown codec, or states more output than the codec can make from the input
    /// ([`CodecFacts::expansion`](super::CodecFacts::expansion)).
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let Some((&[a, b, method, c0, c1, c2, u0, u1, u2], _)) = bytes.split_first_chunk::<{ Self::SIZE }>() else {
            return Err(Error::corrupt(format!("compressed block: {} bytes cannot hold its header", bytes.len())));
        };
        let algorithm = Algorithm::from_tag([a, b])
            .ok_or_else(|| Error::corrupt(format!("compressed block of an unknown codec (bytes {a:#04x} {b:#04x})")))?;
        let facts = algorithm.facts();
        if method != facts.method {
            return Err(Error::unsupported(format!("compressed block: {algorithm} with method byte {method}")));
        }
        let header = Self { algorithm, compressed: size([c0, c1, c2]), uncompressed: size([u0, u1, u2]) };
        let reach = facts.expansion.map_or(super::MAX_BLOCK, |most| header.compressed.saturating_mul(most));
        if header.uncompressed == 0 || header.uncompressed > reach {
            return Err(Error::corrupt(format!(
                "compressed block: {} bytes of {algorithm} cannot hold {} bytes",
                header.compressed, header.uncompressed
            )));
        }
        Ok(header)
    }

    /// The nine bytes, or `None` where a size does not fit its three bytes.
    pub fn to_bytes(self) -> Option<[u8; Self::SIZE]> {
        let facts = self.algorithm.facts();
        let [a, b] = facts.tag;
        let [c0, c1, c2] = three_bytes(self.compressed)?;
        let [u0, u1, u2] = three_bytes(self.uncompressed)?;
        Some([a, b, facts.method, c0, c1, c2, u0, u1, u2])
    }
}

fn size([low, middle, high]: [u8; 3]) -> usize {
    usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16
}

fn three_bytes(size: usize) -> Option<[u8; 3]> {
    match u32::try_from(size).ok()?.to_le_bytes() {
        [low, middle, high, 0] => Some([low, middle, high]),
        _ => None,
    }
}

/// One block of a payload, still compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The header.
    pub header: BlockHeader,
    /// The bytes behind the header.
    pub payload: &'a [u8],
}

/// Iterates over the blocks of an object of `objlen` bytes; there are none if the payload is the object itself
/// ([`is_stored`]). Ends behind the last block of the object or at the first error. Without an error the blocks are
/// complete and their sizes add up to exactly `objlen`.
///
/// Bytes behind the last block are ignored: ROOT does not read them, and RNTuple anchors have a checksum there.
///
/// ```
/// use rootfile::codec::{Algorithm, Compressor, blocks};
///
/// let (data, mut packed) = (vec![7; 1000], Vec::new());
/// Compressor::new().compress("lz4:1".parse()?, &data, &mut packed)?;
/// for block in blocks(&packed, data.len()) {
///     let header = block?.header;
///     assert_eq!((header.algorithm, header.uncompressed), (Algorithm::Lz4, 1000));
/// }
/// # Ok::<(), rootfile::Error>(())
/// ```
pub fn blocks(record: &[u8], objlen: usize) -> Blocks<'_> {
    Blocks { rest: record, left: if is_stored(record.len(), objlen) { 0 } else { objlen } }
}

/// The iterator of [`blocks`].
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Blocks<'a> {
    fn take_one(&mut self) -> Result<Block<'a>> {
        if self.rest.is_empty() {
            return Err(Error::corrupt(format!("compressed blocks end {} bytes short of the object", self.left)));
        }
        let header = BlockHeader::parse(self.rest)?;
        let body = self.rest.get(BlockHeader::SIZE..).unwrap_or_default();
        let (payload, rest) = body.split_at_checked(header.compressed).ok_or_else(|| {
            Error::corrupt(format!("compressed block of {} bytes is cut off after {}", header.compressed, body.len()))
        })?;
        self.left = self.left.checked_sub(header.uncompressed).ok_or_else(|| {
            Error::corrupt(format!("compressed block of {} bytes, the object has {}", header.uncompressed, self.left))
        })?;
        self.rest = rest;
        Ok(Block { header, payload })
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let block = self.take_one();
        if block.is_err() {
            self.left = 0;
        }
        Some(block)
    }
}

impl std::iter::FusedIterator for Blocks<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    const ZSTD: [u8; 9] = *b"ZS\x01\x03\0\0\x05\0\0";

    #[test]
    fn header_round_trip() {
        let header = BlockHeader { algorithm: Algorithm::Zstd, compressed: 3, uncompressed: 5 };
        assert_eq!(BlockHeader::parse(&ZSTD).unwrap(), header);
        assert_eq!(header.to_bytes().unwrap(), ZSTD);
        assert_eq!(BlockHeader { uncompressed: 1 << 24, ..header }.to_bytes(), None);
    }

    #[test]
    fn impossible_headers() {
        for bytes in [
            &ZSTD[..8],
            b"",
            b"QQ\x08\x03\0\0\x05\0\0",
            b"ZS\x02\x03\0\0\x05\0\0",
            b"XZ\x01\x03\0\0\x05\0\0",
            b"ZS\x01\x03\0\0\0\0\0",
            b"ZL\x08\x03\0\0\xff\xff\xff",
            b"L4\x01\x03\0\0\xff\xff\0",
        ] {
            assert!(BlockHeader::parse(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn walks_what_the_object_needs_and_stops_at_the_first_error() {
        let one = [&ZSTD[..], b"abc"].concat();
        let two = [&one[..], &one, b"checksum"].concat();
        let walk = |record, objlen| blocks(record, objlen).map(|b| b.map(|b| b.payload)).collect::<Result<Vec<_>>>();
        assert!(walk(&two, two.len()).unwrap().is_empty());
        assert!(walk(&one, 13).is_err());
        // Small objects make a record longer than they are, so the claims are raised to be looked at.
        let large = |n: usize| {
            let mut block = one.clone();
            block[7] = u8::try_from(n >> 8).unwrap();
            block
        };
        let record = [large(0x100), large(0x200), b"checksum".to_vec()].concat();
        assert_eq!(walk(&record, 0x30a).unwrap(), [b"abc", b"abc"]);
        assert_eq!(walk(&record, 0x105).unwrap(), [b"abc"]);
        for (end, objlen) in [(record.len(), 0x309), (record.len(), 0x30b), (23, 0x30a), (12, 0x30a), (0, 1)] {
            let mut walk = blocks(record.get(..end).unwrap(), objlen);
            assert!(walk.by_ref().any(|b| b.is_err()), "{end} {objlen}");
            assert!(walk.next().is_none());
        }
    }
}
