//! A basket's header read in place, and checked against the tree without decompressing the payload.

use rootfile::bytes::Cursor;
use rootfile::{Error, Result};

use super::header::{BasketHeader, FLAG_GENERATED, GENERATE_OFFSET_MAP, has_boundaries};

/// The header of a basket, read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peek<'a> {
    /// Bytes of the record.
    pub nbytes: u32,
    /// Bytes of the payload before compression.
    pub objlen: u32,
    /// Bytes of the header.
    pub keylen: u16,
    /// Offset of the record.
    pub seek: u64,
    /// Number of entries.
    pub nev_buf: u32,
    /// Length of the offset array, or of each entry if there is no array.
    pub nev_buf_size: u32,
    /// fIOBits.
    pub io_bits: u8,
    /// Where the last entry ends, from the start of the key.
    pub last: u32,
    /// The parts of the record: 80 if offsets are omitted.
    pub flag: i8,
    /// The number that is added to process identifiers inside.
    pub pid_offset: u16,
    /// Whether positions take eight bytes.
    pub big: bool,
    /// Class, name of the branch and name of the tree.
    pub names: [&'a [u8]; 3],
    /// Bytes that the fields take: equal to the key's length in a sound basket.
    fields: usize,
}

/// The tree's data about one of its baskets.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Offset of the record.
    pub seek: u64,
    /// Bytes of the record.
    pub nbytes: u32,
    /// Entries.
    pub entries: u64,
}

impl BasketHeader {
    /// Reads the header at the start of a record in place.
    ///
    /// # Errors
    ///
    /// If the bytes end too early.
    pub fn peek(record: &[u8]) -> Result<Peek<'_>> {
        let mut c = Cursor::new(record);
        let nbytes = c.u32()?;
        let version = c.i16()?;
        let objlen = c.u32()?;
        c.u32()?;
        let keylen = c.u16()?;
        c.u16()?;
        let big = version > rootfile::BIG_KEY;
        let (seek, pid_offset) = if big {
            // The top two bytes of the eight-byte fSeekPdir.
            let seek = c.u64()?;
            (seek, u16::try_from(c.u64()? >> 48).unwrap_or_default())
        } else {
            let seek = c.u32()?;
            c.u32()?;
            (u64::from(seek), 0)
        };
        let names = [c.string_bytes()?, c.string_bytes()?, c.string_bytes()?];
        c.i16()?;
        c.i32()?;
        let size = c.i32()?;
        let io_bits = if size < 0 { c.u8()? } else { 0 };
        let nev_buf_size = size.unsigned_abs();
        let (nev_buf, last, flag) = (c.u32()?, c.u32()?, c.i8()?);
        let fields = c.pos();
        Ok(Peek {
            nbytes,
            objlen,
            keylen,
            seek,
            nev_buf,
            nev_buf_size,
            io_bits,
            last,
            flag,
            pid_offset,
            big,
            names,
            fields,
        })
    }
}

impl Peek<'_> {
    /// Whether the record says where each entry ends, or leaves that to the branch's counter. Else all entries have one length.
    pub fn has_boundaries(&self) -> bool {
        has_boundaries(self.flag, self.objlen.into(), self.keylen.into(), self.last.into())
    }

    /// Checks the header against itself and against the tree. All baskets that ROOT has written pass; a renamed branch leaves its
    /// old name in its baskets, so names are not compared. Returns whether only the payload can show if the header is right.
    ///
    /// # Errors
    ///
    /// If the header contradicts itself or the tree.
    pub fn check(&self, listed: &Listed) -> Result<bool> {
        let Self { nbytes, objlen, keylen, seek, nev_buf, nev_buf_size, io_bits, last, flag, fields, .. } = *self;
        let keylen = u32::from(keylen);
        if self.names.first().is_none_or(|class| *class != b"TBasket") {
            let class = String::from_utf8_lossy(self.names.first().copied().unwrap_or_default()).into_owned();
            return Err(Error::corrupt(format!("the record here is a {class:?}, where the tree lists a basket")));
        }
        if nbytes != listed.nbytes || u64::from(nev_buf) != listed.entries {
            return Err(Error::corrupt(format!(
                "the basket here is not the one that the tree lists: it has {nev_buf} entries in {nbytes} bytes, the \
                 tree says {} in {}",
                listed.entries, listed.nbytes
            )));
        }
        if seek != listed.seek {
            return Err(Error::corrupt(format!("the basket's own position is byte {seek}")));
        }
        let stored = nbytes.checked_sub(keylen);
        let end = u64::from(keylen) + u64::from(objlen);
        // Behind the entries there is nothing, or a count and one offset more than entries, and perhaps as many
        // displacements. An array without the last offset could be read, but looks like a damaged fLast.
        let behind = end.checked_sub(u64::from(last));
        let is_array = |bytes: u64| bytes == 8 + 4 * u64::from(nev_buf);
        let has_offsets = behind.is_some_and(|bytes| is_array(bytes) || bytes % 2 == 0 && is_array(bytes / 2));
        let is_short = |bytes: u64| bytes == 4 + 4 * u64::from(nev_buf);
        let short = behind.is_some_and(|bytes| is_short(bytes) || bytes % 2 == 0 && is_short(bytes / 2));
        // Fixed-size entries: ROOT finds each by fNevBufSize, which some files do not set. Generated offsets are not
        // behind the entries either, and fNevBufSize is then the length of the array of offsets.
        let generated = flag == FLAG_GENERATED && io_bits & GENERATE_OFFSET_MAP != 0;
        let fixed = behind == Some(0);
        let stride = u64::from(nev_buf) * u64::from(nev_buf_size);
        let right = keylen as usize == fields
            && stored.is_some_and(|stored| stored <= objlen)
            && last >= keylen
            && (fixed || has_offsets || short || nev_buf == 0)
            && (flag == 0 || generated)
            && !(fixed && !generated && nev_buf > 1 && nev_buf_size > 0 && stride != u64::from(objlen));
        match right {
            true => Ok(short && !fixed && !has_offsets),
            false => Err(Error::corrupt(format!(
                "the basket's header contradicts itself: {nbytes} bytes, {keylen} of them key ({fields} found), {objlen} \
                 before compression; {nev_buf} entries, fNevBufSize {nev_buf_size}, fLast {last}, flag {flag}"
            ))),
        }
    }
}
