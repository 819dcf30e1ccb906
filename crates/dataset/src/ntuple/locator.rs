//! Locators and envelope links, as envelopes store them.
//!
//! Facts: `RNTupleSerialize.cxx`, `DeserializeLocator`. The first word of a locator that is not a plain one is the *negative* of
//! what the specification's picture shows as bits: ROOT negates the whole word, not only its sign bit.

use rootfile::{Error, Result};

use super::frame::{Reader, Writer};
use super::model::{Link, Locator};

/// The type of a locator with a size of 64 bits.
const LARGE: u8 = 1;
/// Bytes of the word in front.
const HEAD: usize = 4;
/// Fewest bytes of a locator.
pub const LEAST_LOCATOR: usize = HEAD;

/// The next locator.
///
/// # Errors
///
/// If it is cut off or gives an impossible size of itself.
#[inline]
pub fn read_locator(r: &mut Reader<'_>) -> Result<Locator> {
    let head = r.i32()?;
    if let Ok(size) = u64::try_from(head) {
        return Ok(Locator::File { offset: r.u64()?, size });
    }
    let [low, high, _reserved, kind] = head.unsigned_abs().to_le_bytes();
    let len = usize::from(u16::from_le_bytes([low, high]));
    let payload = len.checked_sub(HEAD).ok_or_else(|| r.corrupt(format_args!("a locator of {len} bytes")))?;
    let mut payload = r.part(payload)?;
    Ok(match kind {
        LARGE => {
            let size = payload.u64()?;
            Locator::File { offset: payload.u64()?, size }
        }
        kind => Locator::Unknown { kind },
    })
}

/// The next envelope link.
///
/// # Errors
///
/// If it is cut off.
pub fn read_link(r: &mut Reader<'_>) -> Result<Link> {
    Ok(Link { len: r.u64()?, locator: read_locator(r)? })
}

/// Appends a locator.
///
/// # Errors
///
/// If it does not point into a file: its bytes are not known.
pub fn write_locator(w: &mut Writer, locator: &Locator) -> Result<()> {
    match *locator {
        Locator::File { offset, size } => {
            if let Ok(size) = i32::try_from(size) {
                w.i32(size);
            } else {
                w.i32(-(i32::from(LARGE) << 24 | 20));
                w.u64(size);
            }
            w.u64(offset);
            Ok(())
        }
        Locator::Unknown { kind } => Err(Error::unsupported(format!("a locator of type {kind:#04x} cannot be copied"))),
    }
}

/// Appends an envelope link.
///
/// # Errors
///
/// If the locator cannot be written.
pub fn write_link(w: &mut Writer, link: &Link) -> Result<()> {
    w.u64(link.len);
    write_locator(w, &link.locator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<(Locator, usize)> {
        let mut r = Reader::new("test", bytes, 0);
        Ok((read_locator(&mut r)?, r.remaining()))
    }

    #[test]
    fn plain_and_large() {
        for size in [0, 5, (1 << 31) - 1, 1 << 31, u64::MAX] {
            let locator = Locator::File { offset: 0x1_2345_6789, size };
            let mut w = Writer::default();
            write_locator(&mut w, &locator).unwrap();
            assert_eq!(w.bytes.len(), if size < 1 << 31 { 12 } else { 20 });
            assert_eq!(read(&w.bytes).unwrap(), (locator, 0));
        }
    }

    #[test]
    fn the_head_of_a_large_locator_is_negated_as_a_whole() {
        let mut w = Writer::default();
        write_locator(&mut w, &Locator::File { offset: 1, size: 1 << 40 }).unwrap();
        assert_eq!(w.bytes[..4], 0xfeff_ffecu32.to_le_bytes());
    }

    #[test]
    fn unknown_types_are_skipped_by_size() {
        // Type 2 (DAOS), reserved byte 5, 16 bytes in all.
        let head = -(2 << 24 | 5 << 16 | 16);
        let bytes = [&i32::to_le_bytes(head)[..], &[7; 12], b"more"].concat();
        assert_eq!(read(&bytes).unwrap(), (Locator::Unknown { kind: 2 }, 4));
        assert!(read(&bytes[..15]).is_err());
        // Impossible sizes: fewer bytes than the head itself, a large locator without its offset.
        for head in [-(2 << 24 | 3), -(1 << 24 | 12), i32::MIN] {
            assert!(read(&[&head.to_le_bytes()[..], &[0; 40]].concat()).is_err());
        }
        assert!(write_locator(&mut Writer::default(), &Locator::Unknown { kind: 2 }).is_err());
    }
}
