//! The header of a basket: a key, and behind the key's title the basket's own fields.

use rootfile::bytes::{Cursor, Writer};
use rootfile::{Error, Key, Result};

/// Bit of fIOBits: offsets that follow from the counter are omitted (`kGenerateOffsetMap`).
pub const GENERATE_OFFSET_MAP: u8 = 1;
/// Flag of a basket without offsets.
pub(super) const FLAG_GENERATED: i8 = 80;
/// Bytes of the basket's own header, behind the key's strings.
const HEADER: usize = 2 + 4 * 4 + 1;
/// `TBasket`'s class version that this crate writes. Version 3 differs only where fIOBits is set.
const VERSION: i16 = 3;

/// The header of a basket.
#[derive(Clone, Debug)]
pub struct BasketHeader {
    /// The key.
    pub key: Key,
    /// fBufferSize.
    pub buffer_size: i32,
    /// fNevBufSize: length of the offset array, or of each entry if there is no array.
    pub nev_buf_size: i32,
    /// fIOBits.
    pub io_bits: u8,
    /// fNevBuf: number of entries.
    pub nev_buf: u32,
    /// fLast: where the last entry ends, from the start of the key.
    pub last: u32,
    /// The parts of the record (see `docs/format/ttree-history.md`, section 4).
    pub flag: i8,
}

impl BasketHeader {
    /// Reads the header at the start of a basket's record, or of an embedded basket.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or if a size is negative.
    pub fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let key = Key::parse_unplaced(c)?;
        c.i16()?;
        let buffer_size = c.i32()?;
        let mut nev_buf_size = c.i32()?;
        let mut io_bits = 0;
        if nev_buf_size < 0 {
            nev_buf_size =
                nev_buf_size.checked_neg().ok_or_else(|| Error::corrupt("a basket with fNevBufSize -2^31"))?;
            io_bits = c.u8()?;
        }
        let nev_buf = c.i32()?;
        let last = c.i32()?;
        let flag = c.i8()?;
        let nonnegative =
            |n: i32, what: &str| u32::try_from(n).map_err(|_| Error::corrupt(format!("a basket whose {what} is {n}")));
        Ok(Self {
            nev_buf: nonnegative(nev_buf, "number of entries")?,
            last: nonnegative(last, "end")?,
            key,
            buffer_size,
            nev_buf_size,
            io_bits,
            flag,
        })
    }

    /// The header of a basket to be written.
    pub fn new(branch: &str, tree: &str, seek: u64, seek_pdir: u64) -> Self {
        let mut key = Key::new("TBasket", branch, tree, seek, seek_pdir);
        // Baskets have eight-byte positions whatever the file's size (`TBasket`'s constructor).
        if !key.is_big() {
            key.version += rootfile::BIG_KEY;
        }
        Self { key, buffer_size: 0, nev_buf_size: 0, io_bits: 0, nev_buf: 0, last: 0, flag: 0 }.measured()
    }

    /// The same header with fIOBits, which take a byte unless they are 0.
    pub fn with_io_bits(mut self, io_bits: u8) -> Self {
        self.io_bits = io_bits;
        self.measured()
    }

    /// The same header with a key without names, which takes fewer bytes.
    pub fn without_names(&self) -> Self {
        let mut header = self.clone();
        header.key.name.clear();
        header.key.title.clear();
        header.measured()
    }

    /// The smallest header: no names, and positions of four bytes, for files below 2 GB.
    pub fn smallest(&self) -> Self {
        let mut header = self.without_names();
        if header.key.is_big() {
            header.key.version -= rootfile::BIG_KEY;
        }
        header.measured()
    }

    fn measured(mut self) -> Self {
        let io_bits = usize::from(self.io_bits != 0);
        self.key.keylen = u16::try_from(self.key.header_len() + HEADER + io_bits).unwrap_or(u16::MAX);
        self
    }

    /// Whether entry offsets are written as sizes, or not at all.
    pub fn holds_sizes(&self) -> bool {
        self.io_bits & GENERATE_OFFSET_MAP != 0
    }

    /// Whether offsets are not written at all.
    pub(crate) fn lacks_offsets(&self) -> bool {
        self.flag >= FLAG_GENERATED
    }

    /// Whether the record says where each entry ends, or leaves that to the branch's counter. Else all entries have one length.
    pub fn has_boundaries(&self) -> bool {
        has_boundaries(self.flag, self.key.objlen.into(), self.keylen() as u64, self.last.into())
    }

    /// Marks the basket as one without offsets: they follow from the branch's counter.
    pub fn leave_out_offsets(&mut self) {
        self.flag = FLAG_GENERATED;
    }

    /// Bytes before the payload.
    pub fn keylen(&self) -> usize {
        usize::from(self.key.keylen)
    }

    /// Writes the header.
    pub fn write(&self, w: &mut Writer) {
        self.key.write(w);
        w.i16(VERSION);
        w.i32(self.buffer_size);
        if self.io_bits == 0 {
            w.i32(self.nev_buf_size);
        } else {
            // The negative sign means that a byte follows.
            w.i32(-self.nev_buf_size.max(1));
            w.u8(self.io_bits);
        }
        w.u32(self.nev_buf);
        w.u32(self.last);
        w.i8(self.flag);
    }

    /// Bytes of the entries, without offsets.
    pub(crate) fn data_len(&self) -> Result<usize> {
        (self.last as usize).checked_sub(self.keylen()).ok_or_else(|| {
            Error::corrupt(format!(
                "a basket whose entries end at {} inside its {} bytes of header",
                self.last,
                self.keylen()
            ))
        })
    }
}

/// Whether the entries of a basket, which end at `last` behind the key of `keylen` bytes, have boundaries: an array behind them, or none
/// because they follow from a counter.
pub(super) fn has_boundaries(flag: i8, objlen: u64, keylen: u64, last: u64) -> bool {
    flag >= FLAG_GENERATED || keylen.saturating_add(objlen) >= last.saturating_add(4)
}
