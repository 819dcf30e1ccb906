//! Envelopes: blocks of metadata with their type, their length and a checksum. Bytes: `u64` type (low 16 bits) and length,
//! payload, `u64` XXH3-64. The length includes the checksum, the checksum covers all before it.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeEnvelope`.

use rootfile::{Error, Result};
use twox_hash::xxhash3_64::Hasher;

use super::frame::{Reader, Writer};

/// Bytes of type and length; also those of the checksum.
const WORD: usize = 8;

/// The types of envelopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvelopeKind {
    /// Name and schema.
    Header,
    /// What was added to the schema, and the cluster groups.
    Footer,
    /// The clusters of a group, and their pages.
    PageList,
}

impl EnvelopeKind {
    fn code(self) -> u16 {
        match self {
            Self::Header => 1,
            Self::Footer => 2,
            Self::PageList => 3,
        }
    }

    /// Its name, for errors.
    pub fn name(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Footer => "footer",
            Self::PageList => "page list",
        }
    }
}

/// The payload of an envelope, and the checksum.
///
/// # Errors
///
/// If the bytes are an envelope of another type, are cut off, or do not have their checksum.
pub fn open_envelope(kind: EnvelopeKind, bytes: &[u8]) -> Result<(Reader<'_>, u64)> {
    let mut start = Reader::new(kind.name(), bytes, 0);
    let word = start.u64()?;
    if word & 0xffff != u64::from(kind.code()) {
        return Err(start.corrupt(format_args!("an envelope of type {}, not {}", word & 0xffff, kind.code())));
    }
    let len = usize::try_from(word >> 16).unwrap_or(usize::MAX);
    // As in ROOT, bytes behind the envelope do not matter.
    let split =
        len.checked_sub(WORD).filter(|end| *end >= WORD).and_then(|end| bytes.get(..len)?.split_at_checked(end));
    let Some((sealed, checksum)) = split else {
        return Err(start.corrupt(format_args!("an envelope of {len} bytes in {}", bytes.len())));
    };
    let checksum = checksum.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if Hasher::oneshot(sealed) != checksum {
        return Err(Error::corrupt(format!("{}: wrong checksum", kind.name())));
    }
    Ok((Reader::new(kind.name(), sealed, WORD), checksum))
}

/// An envelope of what `payload` writes.
///
/// # Errors
///
/// Those of `payload`.
pub fn seal_envelope(kind: EnvelopeKind, payload: impl FnOnce(&mut Writer) -> Result<()>) -> Result<Vec<u8>> {
    let mut w = Writer::default();
    w.u64(0);
    payload(&mut w)?;
    let len = (w.bytes.len() + WORD) as u64;
    if len >> 48 != 0 {
        return Err(Error::unsupported(format!("{}: {len} bytes, an envelope has less than 2^48", kind.name())));
    }
    let word = u64::from(kind.code()) | len << 16;
    if let Some(slot) = w.bytes.first_chunk_mut() {
        *slot = word.to_le_bytes();
    }
    w.u64(Hasher::oneshot(&w.bytes));
    Ok(w.bytes)
}

/// The checksum of a sealed envelope.
pub fn envelope_checksum(envelope: &[u8]) -> u64 {
    envelope.last_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_envelope_opens() {
        let bytes = seal_envelope(EnvelopeKind::Footer, |w| {
            w.u32(42);
            Ok(())
        })
        .unwrap();
        assert_eq!(bytes.len(), 20);
        let padded = [&bytes[..], &[9; 3]].concat();
        for bytes in [&bytes, &padded] {
            let (mut payload, checksum) = open_envelope(EnvelopeKind::Footer, bytes).unwrap();
            assert_eq!((payload.u32().unwrap(), payload.remaining()), (42, 0));
            assert_eq!(checksum, envelope_checksum(&padded[..20]));
        }
        assert!(open_envelope(EnvelopeKind::Header, &bytes).is_err());
    }

    #[test]
    fn any_changed_or_missing_byte_is_noticed() {
        let bytes = seal_envelope(EnvelopeKind::Header, |w| w.string("x")).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(open_envelope(EnvelopeKind::Header, &changed).is_err(), "{at}");
            assert!(open_envelope(EnvelopeKind::Header, &bytes[..at]).is_err(), "{at}");
        }
    }

    /// The hash takes another path up to 16, 128 and 240 bytes; then it works in stripes of 64, blocks of 1024. The values are
    /// those of the C library, for bytes `i * 7 + 1`.
    #[test]
    fn the_hash_is_that_of_the_reference() {
        let reference = [
            (0, 0x2d06800538d394c2),
            (1, 0xe12ef9d2eb86ceeb),
            (3, 0x5c83885a0fb5d516),
            (4, 0x244f36de481e7522),
            (8, 0x96cc97a6768fd7a9),
            (9, 0x4781d83b8e99d495),
            (16, 0x913bd4a8038027a7),
            (17, 0x2bf6f66973a6179d),
            (64, 0x13886553e7dc3fa3),
            (128, 0xc4399c7829d0628f),
            (129, 0x8433489056750b32),
            (240, 0x3c0bb96864e543a1),
            (241, 0xbff7215089202d8f),
            (255, 0x1729eaa78df50a51),
            (256, 0xc03402b5dce3dbfa),
            (257, 0x78ebbc62dbd8326d),
            (320, 0xbf05d0b163fbdec9),
            (321, 0x2367125ec3434490),
            (449, 0x361d838e0deebd63),
            (1024, 0xac8e32e4ea3ba062),
            (1025, 0xc856c953bbdbc807),
            (4097, 0x51d3a2e205b451b8),
        ];
        for (len, hash) in reference {
            let bytes: Vec<u8> = (0..len).map(|i| u8::try_from((i * 7 + 1) % 256).unwrap()).collect();
            assert_eq!(Hasher::oneshot(&bytes), hash, "{len}");
        }
    }
}
