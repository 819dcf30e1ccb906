//! Gives a finished basket its place in a file: the two positions in its key, which are known when the record is appended.

use rootfile::{Error, Result, START_BIG_FILE};

/// Offset of fSeekKey in a key: behind fNbytes, version, fObjlen, fDatime, fKeylen and fCycle.
const SEEK_KEY: usize = 18;

/// Where a basket goes.
#[derive(Clone, Copy, Debug)]
pub struct BasketPlace {
    /// Offset of its record.
    pub seek: u64,
    /// Offset of the directory of its tree.
    pub seek_pdir: u64,
    /// The number that is added to process identifiers inside: the top two bytes of the directory's position.
    pub pid_offset: u16,
}

/// Writes a place into the key at the start of a record. `big` says whether its positions take eight bytes.
///
/// # Errors
///
/// If the record is too short for a key, or if the key has no room for the positions.
pub fn place(record: &mut [u8], at: BasketPlace, big: bool) -> Result<()> {
    let short = || Error::corrupt("a record is too short for its key");
    let BasketPlace { seek, seek_pdir, pid_offset } = at;
    if big {
        let slot = record.get_mut(SEEK_KEY..SEEK_KEY + 16).ok_or_else(short)?;
        slot[..8].copy_from_slice(&seek.to_be_bytes());
        slot[8..].copy_from_slice(&(seek_pdir | u64::from(pid_offset) << 48).to_be_bytes());
    } else {
        let slot = record.get_mut(SEEK_KEY..SEEK_KEY + 8).ok_or_else(short)?;
        if seek.max(seek_pdir) > START_BIG_FILE {
            return Err(Error::unsupported("a record with 32-bit positions would lie beyond 2 GB"));
        }
        slot[..4].copy_from_slice(&u32::try_from(seek).unwrap_or(0).to_be_bytes());
        slot[4..].copy_from_slice(&u32::try_from(seek_pdir).unwrap_or(0).to_be_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rootfile::bytes::{Cursor, Writer};

    use super::super::BasketHeader;
    use super::*;

    #[test]
    fn a_placed_basket_says_where_it_is() {
        let header = BasketHeader::new("b", "t", 100, 200);
        for (header, big) in [(header.smallest(), false), (header, true)] {
            assert_eq!(header.key.is_big(), big);
            let mut w = Writer::new();
            header.write(&mut w);
            let at = BasketPlace { seek: 4711, seek_pdir: 300, pid_offset: if big { 7 } else { 0 } };
            place(&mut w.bytes, at, big).unwrap();
            let placed = BasketHeader::parse(&mut Cursor::new(&w.bytes)).unwrap().key;
            assert_eq!((placed.seek_key, placed.seek_pdir, placed.pid_offset), (4711, 300, at.pid_offset));
            let far = BasketPlace { seek: START_BIG_FILE + 1, ..at };
            assert_eq!(place(&mut w.bytes, far, big).is_ok(), big, "four bytes have no room");
            assert!(place(&mut w.bytes[..20], at, big).is_err());
        }
    }
}
