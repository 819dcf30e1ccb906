//! The anchor: the object of class `ROOT::RNTuple` that a key holds. Unlike everything else in an RNTuple its numbers are
//! big-endian.
//!
//! Facts: `RMiniFile.cxx`, `RTFNTuple` and `GetNTupleProperAtOffset`. Later versions of the class append members, and the checksum
//! stays in the last eight bytes.

use rootfile::bytes::{Cursor, Writer};
use rootfile::{Error, Result};
use twox_hash::xxhash3_64::Hasher;

use super::model::{Anchor, FormatVersion, Link, Locator};

/// Bytes of the anchor's byte count and class version, which the checksum does not cover.
const FRAME: usize = 6;
/// Bytes of the checksum.
const CHECKSUM: usize = 8;
/// Bytes of an anchor of class version 2, with its checksum.
pub const ANCHOR_LEN: usize = 78;
/// The class version since the format's first release.
const CLASS_VERSION: u16 = 2;
/// The epoch of the format.
const EPOCH: u16 = 1;
/// Bit of a byte count (`kByteCountMask`).
const COUNTED: u32 = 0x4000_0000;

/// The error for an RNTuple from before the first release of the format.
pub fn pre_release() -> Error {
    Error::unsupported(
        "is an RNTuple of a pre-release format (ROOT 6.32 and before); ROOT 6.34 and later write the released format",
    )
}

/// Reads an anchor from the payload of its key, decompressed.
///
/// # Errors
///
/// If the anchor is damaged, or if it is of a pre-release or a later epoch.
pub fn parse_anchor(bytes: &[u8]) -> Result<Anchor> {
    let mut c = Cursor::new(bytes);
    c.u32()?;
    if c.u16()? < CLASS_VERSION {
        return Err(pre_release());
    }
    let members = bytes.len().checked_sub(CHECKSUM).and_then(|end| bytes.get(FRAME..end));
    let (Some(members), true, Some(checksum)) = (members, bytes.len() >= ANCHOR_LEN, bytes.last_chunk()) else {
        return Err(Error::corrupt(format!("the anchor has {} bytes of {ANCHOR_LEN}", bytes.len())));
    };
    if Hasher::oneshot(members) != u64::from_be_bytes(*checksum) {
        return Err(Error::corrupt("the anchor has a wrong checksum"));
    }
    let version = FormatVersion { epoch: c.u16()?, major: c.u16()?, minor: c.u16()?, patch: c.u16()? };
    match version.epoch {
        0 => return Err(pre_release()),
        EPOCH => {}
        later => return Err(Error::unsupported(format!("an RNTuple of format epoch {later}; epoch {EPOCH} is known"))),
    }
    let mut link = || -> Result<Link> {
        let (offset, size, len) = (c.u64()?, c.u64()?, c.u64()?);
        Ok(Link { len, locator: Locator::File { offset, size } })
    };
    Ok(Anchor { version, header: link()?, footer: link()?, max_key_size: c.u64()? })
}

/// The bytes of an anchor of class version 2.
///
/// # Errors
///
/// If header or footer are not in the file.
pub fn write_anchor(anchor: &Anchor) -> Result<Vec<u8>> {
    let mut w = Writer::new();
    w.u32(COUNTED | (ANCHOR_LEN - CHECKSUM - size_of::<u32>()) as u32);
    w.u16(CLASS_VERSION);
    for number in [anchor.version.epoch, anchor.version.major, anchor.version.minor, anchor.version.patch] {
        w.u16(number);
    }
    for link in [anchor.header, anchor.footer] {
        let Locator::File { offset, size } = link.locator else {
            return Err(Error::unsupported("an anchor names only bytes of the same file"));
        };
        for number in [offset, size, link.len] {
            w.u64(number);
        }
    }
    w.u64(anchor.max_key_size);
    let checksum = Hasher::oneshot(w.bytes.get(FRAME..).unwrap_or_default());
    w.u64(checksum);
    Ok(w.bytes)
}

#[cfg(test)]
mod tests {
    use rootfile::ErrorKind;

    use super::*;

    fn anchor(epoch: u16) -> Anchor {
        let link = |offset| Link { len: offset * 2, locator: Locator::File { offset, size: offset + 1 } };
        let version = FormatVersion { epoch, major: 0, minor: 2, patch: 1 };
        Anchor { version, header: link(100), footer: link(1 << 40), max_key_size: 1 << 30 }
    }

    #[test]
    fn round_trip() {
        let bytes = write_anchor(&anchor(1)).unwrap();
        assert_eq!((bytes.len(), &bytes[..6]), (ANCHOR_LEN, &[0x40, 0, 0, 66, 0, 2][..]));
        assert_eq!(parse_anchor(&bytes).unwrap(), anchor(1));
    }

    #[test]
    fn members_of_later_class_versions_are_skipped() {
        let mut bytes = write_anchor(&anchor(1)).unwrap();
        bytes[5] = 3;
        bytes.truncate(ANCHOR_LEN - CHECKSUM);
        bytes.extend([7; 16]);
        bytes.extend(Hasher::oneshot(&bytes[FRAME..]).to_be_bytes());
        assert_eq!(parse_anchor(&bytes).unwrap(), anchor(1));
    }

    #[test]
    fn damage_and_other_epochs() {
        let bytes = write_anchor(&anchor(1)).unwrap();
        for at in FRAME..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(matches!(parse_anchor(&changed).unwrap_err().kind(), ErrorKind::Corrupt(_)), "{at}");
            assert!(parse_anchor(&bytes[..at]).is_err(), "{at}");
        }
        for (epoch, words) in [(0, "pre-release"), (2, "epoch 2")] {
            let error = parse_anchor(&write_anchor(&anchor(epoch)).unwrap()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Unsupported(message) if message.contains(words)), "{error}");
        }
        let mut old = bytes.clone();
        old[5] = 1;
        assert!(parse_anchor(&old).unwrap_err().to_string().contains("pre-release"));
    }
}
