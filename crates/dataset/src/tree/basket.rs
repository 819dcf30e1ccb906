//! A basket: the record that holds some consecutive entries of one branch.
//!
//! Layout (`TBasket::Streamer`, `TBasket::ReadBasketBuffers`): a key, and behind its title the basket's own
//! header, both within fKeylen. The payload is the entries; behind them, for entries of variable length, their
//! offsets (a count, then numbers that count from the start of the key), and the displacements, if any: where
//! an entry lay when it was first written, which the class tags inside it count from.

use rootfile::bytes::{Cursor, Writer};
use rootfile::{Error, Key, Result};

/// Bit of fIOBits: offsets are left out where they follow from the counter (`kGenerateOffsetMap`).
pub const GENERATE_OFFSET_MAP: u8 = 1;
/// Flag of a basket whose offsets were left out.
const FLAG_GENERATED: i8 = 80;
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
    /// fNevBufSize: length of the offset array, or of each entry where there is none.
    pub nev_buf_size: i32,
    /// fIOBits.
    pub io_bits: u8,
    /// fNevBuf: number of entries.
    pub nev_buf: u32,
    /// fLast: where the last entry ends, from the start of the key.
    pub last: u32,
    /// What else lies in the record (see `docs/format/ttree-history.md`, section 4).
    pub flag: i8,
}

/// What a basket's header says of its record, read in place.
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
    /// Length of the offset array, or of each entry where there is none.
    pub nev_buf_size: u32,
    /// fIOBits.
    pub io_bits: u8,
    /// Where the last entry ends, from the start of the key.
    pub last: u32,
    /// What else lies in the record: nothing, or 80 where offsets were left out.
    pub flag: i8,
    /// Added to process-identifier numbers inside.
    pub pid_offset: u16,
    /// Whether positions take eight bytes.
    pub big: bool,
    /// Class, name of the branch and name of the tree.
    pub names: [&'a [u8]; 3],
    /// Bytes that the fields take, which should be the key's length.
    fields: usize,
}

/// What a tree says of one of its baskets.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// Offset of the record.
    pub seek: u64,
    /// Bytes of the record.
    pub nbytes: u32,
    /// Entries.
    pub entries: u64,
}

/// How the entries of a basket are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All have this many bytes.
    Fixed(u32),
    /// Where each begins, and last where the last ends; from the start of the data.
    Offsets(Vec<u32>),
    /// They follow from the branch's counter, and are not in the record.
    Generated,
}

/// What a basket's key is followed by, before compression: a buffer of its own, or the record that it was stored in as
/// it is, behind the header there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    buffer: Vec<u8>,
    start: usize,
}

/// The entries of a basket.
#[derive(Clone, Debug)]
pub struct BasketData {
    /// Number of entries.
    pub count: u32,
    /// Bytes of the key; tags inside entries count from the start of the key.
    pub keylen: u32,
    /// Added to process-identifier numbers inside.
    pub pid_offset: u16,
    /// The entries, one after the other.
    pub data: Payload,
    /// Where they begin.
    pub entries: Entries,
    /// Where they lay when they were first written, if that is not where they lie.
    pub displacement: Option<Vec<u32>>,
}

impl BasketHeader {
    /// Reads the header at the start of a basket's record, or of an embedded basket.
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

    /// What the header at the start of a record says, without taking it apart.
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

    /// The header of a basket to be written.
    pub fn new(branch: &str, tree: &str, seek: u64, seek_pdir: u64) -> Self {
        let mut key = Key::new("TBasket", branch, tree, seek, seek_pdir);
        // Baskets have eight-byte positions whatever the file's size (`TBasket`'s constructor).
        if !key.is_big() {
            key.version += rootfile::BIG_KEY;
        }
        Self { key, buffer_size: 0, nev_buf_size: 0, io_bits: 0, nev_buf: 0, last: 0, flag: 0 }.measured()
    }

    /// The same with fIOBits, which take a byte if there are any.
    pub fn with_io_bits(mut self, io_bits: u8) -> Self {
        self.io_bits = io_bits;
        self.measured()
    }

    /// The same with a key that names nothing, which takes fewer bytes.
    pub fn without_names(&self) -> Self {
        let mut header = self.clone();
        header.key.name.clear();
        header.key.title.clear();
        header.measured()
    }

    /// The smallest there is: no names, and positions of four bytes, for files below 2 GB.
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
    pub fn lacks_offsets(&self) -> bool {
        self.flag >= FLAG_GENERATED
    }

    /// Says that offsets are not written, since they follow from the branch's counter.
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
            // Its sign is what tells of the byte that follows.
            w.i32(-self.nev_buf_size.max(1));
            w.u8(self.io_bits);
        }
        w.u32(self.nev_buf);
        w.u32(self.last);
        w.i8(self.flag);
    }

    /// Bytes of the entries, without offsets.
    pub fn data_len(&self) -> Result<usize> {
        (self.last as usize).checked_sub(self.keylen()).ok_or_else(|| {
            Error::corrupt(format!(
                "a basket whose entries end at {} inside its {} bytes of header",
                self.last,
                self.keylen()
            ))
        })
    }

    /// Takes apart a payload that is not compressed, or not any more.
    pub fn open(&self, payload: impl Into<Payload>) -> Result<BasketData> {
        let mut payload = payload.into();
        let len = self.data_len()?;
        if len > payload.len() {
            return Err(Error::corrupt(format!(
                "a basket's entries take {len} bytes of a payload of {}",
                payload.len()
            )));
        }
        let mut c = Cursor::at(&payload, len);
        let generated = self.lacks_offsets();
        let offsets = if generated || c.remaining() < 4 { None } else { Some(self.read_numbers(&mut c)?) };
        let displacement = match offsets {
            Some(_) if c.remaining() >= 4 => Some(self.read_numbers(&mut c)?),
            _ => None,
        };
        payload.truncate(len);
        let (entries, displacement) = self.boundaries(len, generated, offsets, displacement)?;
        let (count, keylen, pid_offset) = (self.nev_buf, u32::from(self.key.keylen), self.key.pid_offset);
        Ok(BasketData { count, keylen, pid_offset, data: payload, entries, displacement })
    }

    fn read_numbers(&self, c: &mut Cursor<'_>) -> Result<Vec<u32>> {
        let n = c.count(4)?;
        let raw = c.bytes(n * 4)?;
        Ok(raw.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b)).collect())
    }

    fn boundaries(
        &self,
        len: usize,
        generated: bool,
        offsets: Option<Vec<u32>>,
        displacement: Option<Vec<u32>>,
    ) -> Result<(Entries, Option<Vec<u32>>)> {
        let n = self.nev_buf as usize;
        let Some(mut offsets) = offsets else {
            return Ok((if generated { Entries::Generated } else { self.fixed(len)? }, None));
        };
        if n == 0 {
            return Ok((Entries::Offsets(vec![0]), None));
        }
        if offsets.len() < n {
            return Err(Error::corrupt(format!("a basket of {n} entries with {} offsets", offsets.len())));
        }
        if self.holds_sizes() {
            // The array holds sizes, to compress better; they add up to offsets.
            let mut sum = u32::from(self.key.keylen);
            for offset in &mut offsets {
                sum = sum.wrapping_add(*offset);
                *offset = sum;
            }
        }
        let keylen = u32::from(self.key.keylen);
        offsets.truncate(n);
        for offset in &mut offsets {
            *offset = offset.wrapping_sub(keylen);
        }
        let end = u32::try_from(len).unwrap_or(u32::MAX);
        offsets.push(end);
        // All are looked at, whatever the first ones are like: that is faster than to stop early.
        let next = offsets.get(1..).unwrap_or_default();
        if !offsets.iter().zip(next).fold(true, |sorted, (a, b)| sorted & (a <= b)) {
            return Err(Error::corrupt("a basket whose entry offsets do not grow, or lie outside of it"));
        }
        Ok((Entries::Offsets(offsets), displacement.filter(|d| d.len() >= n)))
    }

    fn fixed(&self, len: usize) -> Result<Entries> {
        let n = self.nev_buf as usize;
        if n == 0 || len == 0 {
            return Ok(Entries::Fixed(0));
        }
        // fNevBufSize is the length of an entry here, but old files leave it 0 or stale; the sizes decide.
        if !len.is_multiple_of(n) {
            if n == 1 {
                return Ok(Entries::Fixed(u32::try_from(len).unwrap_or(u32::MAX)));
            }
            return Err(Error::corrupt(format!(
                "a basket of {n} entries without offsets has {len} bytes, not a multiple"
            )));
        }
        Ok(Entries::Fixed(u32::try_from(len / n).unwrap_or(u32::MAX)))
    }
}

impl Peek<'_> {
    /// Holds the header against itself and what the tree says. ROOT's baskets on disk have all of this in common,
    /// whatever wrote them; a branch that was renamed leaves its old name in its baskets. Says whether only the payload
    /// can tell if the header is right.
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
            return Err(Error::corrupt(format!("the basket here says that it lies at byte {seek}")));
        }
        let stored = nbytes.checked_sub(keylen);
        let end = u64::from(keylen) + u64::from(objlen);
        // Behind the entries lies nothing, or a count and one offset more than there are entries, and perhaps as many
        // displacements. An array without that last offset could be read, and looks like a damaged fLast.
        let behind = end.checked_sub(u64::from(last));
        let is_array = |bytes: u64| bytes == 8 + 4 * u64::from(nev_buf);
        let has_offsets = behind.is_some_and(|bytes| is_array(bytes) || bytes % 2 == 0 && is_array(bytes / 2));
        let is_short = |bytes: u64| bytes == 4 + 4 * u64::from(nev_buf);
        let short = behind.is_some_and(|bytes| is_short(bytes) || bytes % 2 == 0 && is_short(bytes / 2));
        // Fixed-size entries: ROOT finds each by fNevBufSize; there are files in which it is not set. Where offsets are
        // generated nothing lies behind the entries either, and fNevBufSize is the length of the array of offsets.
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

impl Payload {
    /// The payload of a record that was stored without compression, behind its header.
    pub fn stored(record: Vec<u8>, header: &BasketHeader) -> Self {
        let mut payload = Self { start: header.keylen().min(record.len()), buffer: record };
        payload.truncate(header.key.objlen as usize);
        payload
    }

    /// The buffer, to be used again.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    fn truncate(&mut self, len: usize) {
        self.buffer.truncate(self.start.saturating_add(len));
    }
}

impl From<Vec<u8>> for Payload {
    fn from(buffer: Vec<u8>) -> Self {
        Self { buffer, start: 0 }
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }
}

impl BasketData {
    /// Reads a basket that lies in the tree's record.
    pub fn parse_embedded(bytes: &[u8]) -> Result<(BasketHeader, Self)> {
        let mut c = Cursor::new(bytes);
        let header = BasketHeader::parse(&mut c)?;
        let mut flag = i32::from(header.flag);
        let generated = header.lacks_offsets();
        if generated {
            flag -= i32::from(FLAG_GENERATED);
        }
        let mut offsets = None;
        let mut displacement = None;
        if !generated && flag != 0 && flag % 10 != 2 && header.nev_buf > 0 {
            let mut numbers = header.read_numbers(&mut c)?;
            if 20 < flag && flag < 40 {
                // The upper byte of each offset was lent to displacements for a while.
                for n in &mut numbers {
                    *n &= 0x00FF_FFFF;
                }
            }
            offsets = Some(numbers);
            if flag > 40 {
                displacement = Some(header.read_numbers(&mut c)?);
            }
        }
        if flag != 1 && flag <= 10 {
            return Err(Error::corrupt("an embedded basket without its entries"));
        }
        // The buffer holds the key as well, so that offsets count from its start.
        let len = header.data_len()?;
        let last = header.last as usize;
        let buffer = c.bytes(last)?;
        let data = buffer.get(header.keylen()..).unwrap_or_default().to_vec().into();
        let (entries, displacement) = header.boundaries(len, generated, offsets, displacement)?;
        let count = header.nev_buf;
        let (keylen, pid_offset) = (u32::from(header.key.keylen), header.key.pid_offset);
        Ok((header, Self { count, keylen, pid_offset, data, entries, displacement }))
    }

    /// Bytes of memory that it takes.
    pub fn memory(&self) -> u64 {
        let offsets = match &self.entries {
            Entries::Offsets(offsets) => offsets.capacity(),
            Entries::Fixed(_) | Entries::Generated => 0,
        };
        let numbers = offsets + self.displacement.as_ref().map_or(0, Vec::capacity);
        (self.data.buffer.capacity() + 4 * numbers) as u64
    }

    /// Where entry `i` of the basket lies in its data.
    pub fn range(&self, i: usize) -> Option<std::ops::Range<usize>> {
        match &self.entries {
            Entries::Fixed(len) => {
                let len = *len as usize;
                Some(i * len..(i + 1) * len)
            }
            Entries::Offsets(offsets) => Some(*offsets.get(i)? as usize..*offsets.get(i + 1)? as usize),
            Entries::Generated => None,
        }
    }

    /// Where the tags of entry `i` count from: its position when it was first written.
    pub fn origin(&self, i: usize) -> u32 {
        match self.displacement.as_ref().and_then(|d| d.get(i)) {
            Some(&origin) => origin,
            None => {
                let start = self.range(i).map_or(0, |r| r.start);
                u32::try_from(start).unwrap_or(u32::MAX).wrapping_add(self.keylen)
            }
        }
    }
}
