//! The entries of a basket: the decompressed payload, and where each entry begins.

use rootfile::bytes::Cursor;
use rootfile::{Error, Result};

use super::header::{BasketHeader, FLAG_GENERATED};

/// The boundaries of the entries of a basket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All entries have this many bytes.
    Fixed(u32),
    /// The start of each entry from the start of the data, and last the end of the last entry.
    Offsets(Vec<u32>),
    /// The boundaries follow from the branch's counter and are not in the record.
    Generated,
}

/// The uncompressed bytes behind a basket's header: in a buffer of their own, which may be longer, or a part of the record if it was
/// stored without compression.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    buffer: Vec<u8>,
    start: usize,
    len: usize,
}

/// The entries of a basket.
#[derive(Clone, Debug)]
pub struct BasketData {
    /// Number of entries.
    pub count: u32,
    /// Bytes of the key; tags inside entries count from the start of the key.
    pub keylen: u32,
    /// The number that is added to process identifiers inside.
    pub pid_offset: u16,
    /// The entries, one after the other.
    pub data: Payload,
    /// Their boundaries.
    pub entries: Entries,
    /// The positions of the entries when they were first written, if different.
    pub displacement: Option<Vec<u32>>,
}

impl BasketHeader {
    /// Splits a decompressed payload into entries and their boundaries.
    ///
    /// # Errors
    ///
    /// If the header and the payload contradict each other.
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
        let offsets = match generated || c.remaining() < 4 {
            true => None,
            false => Some(self.read_numbers(&mut c, self.before_entries())?),
        };
        let displacement = match offsets {
            Some(_) if c.remaining() >= 4 => Some(self.read_numbers(&mut c, 0)?),
            _ => None,
        };
        payload.truncate(len);
        let (entries, displacement) = self.boundaries(len, generated, offsets, displacement)?;
        let (count, keylen, pid_offset) = (self.nev_buf, u32::from(self.key.keylen), self.key.pid_offset);
        Ok(BasketData { count, keylen, pid_offset, data: payload, entries, displacement })
    }

    /// Numbers behind their count, each less `before`.
    fn read_numbers(&self, c: &mut Cursor<'_>, before: u32) -> Result<Vec<u32>> {
        let n = c.count(4)?;
        let raw = c.bytes(n * 4)?;
        Ok(raw.as_chunks::<4>().0.iter().map(|b| u32::from_be_bytes(*b).wrapping_sub(before)).collect())
    }

    /// What offsets count before the first entry: the key. Sizes do not count it.
    fn before_entries(&self) -> u32 {
        if self.holds_sizes() { 0 } else { self.key.keylen.into() }
    }

    /// The boundaries by offsets from the start of the data, or by sizes.
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
            // The array has sizes, which compress better; their sums are the offsets.
            let mut sum = 0u32;
            for offset in &mut offsets {
                sum = sum.wrapping_add(*offset);
                *offset = sum;
            }
        }
        offsets.truncate(n);
        let end = u32::try_from(len).unwrap_or(u32::MAX);
        offsets.push(end);
        // The loop visits all offsets: that is faster than to stop early.
        let next = offsets.get(1..).unwrap_or_default();
        if !offsets.iter().zip(next).fold(true, |sorted, (a, b)| sorted & (a <= b)) {
            return Err(Error::corrupt("a basket with entry offsets that decrease or exceed its size"));
        }
        Ok((Entries::Offsets(offsets), displacement.filter(|d| d.len() >= n)))
    }

    fn fixed(&self, len: usize) -> Result<Entries> {
        let n = self.nev_buf as usize;
        if n == 0 || len == 0 {
            return Ok(Entries::Fixed(0));
        }
        // fNevBufSize is the length of an entry here, but 0 or stale in old files; the sizes decide.
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

impl Payload {
    /// The payload of a record that was stored without compression, behind its header.
    pub fn stored(record: Vec<u8>, header: &BasketHeader) -> Self {
        let start = header.keylen().min(record.len());
        let len = (record.len() - start).min(header.key.objlen as usize);
        Self { buffer: record, start, len }
    }

    /// The first bytes of a buffer.
    pub fn first(buffer: Vec<u8>, len: usize) -> Self {
        Self { len: len.min(buffer.len()), buffer, start: 0 }
    }

    /// The buffer, for reuse.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}

impl From<Vec<u8>> for Payload {
    fn from(buffer: Vec<u8>) -> Self {
        Self { len: buffer.len(), buffer, start: 0 }
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.buffer.get(self.start..self.start.saturating_add(self.len)).unwrap_or_default()
    }
}

impl BasketData {
    /// Reads a basket that is embedded in the tree's record.
    ///
    /// # Errors
    ///
    /// If the bytes are not a basket with entries.
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
            let mut numbers = header.read_numbers(&mut c, 0)?;
            // In some versions the upper byte of each offset belongs to the displacements.
            let mask = if 20 < flag && flag < 40 { 0x00FF_FFFF } else { u32::MAX };
            for n in &mut numbers {
                *n = (*n & mask).wrapping_sub(header.before_entries());
            }
            offsets = Some(numbers);
            if flag > 40 {
                displacement = Some(header.read_numbers(&mut c, 0)?);
            }
        }
        if flag != 1 && flag <= 10 {
            return Err(Error::corrupt("an embedded basket without its entries"));
        }
        // The buffer includes the key, so offsets count from its start.
        let len = header.data_len()?;
        let last = header.last as usize;
        let buffer = c.bytes(last)?;
        let data = buffer.get(header.keylen()..).unwrap_or_default().to_vec().into();
        let (entries, displacement) = header.boundaries(len, generated, offsets, displacement)?;
        let count = header.nev_buf;
        let (keylen, pid_offset) = (u32::from(header.key.keylen), header.key.pid_offset);
        Ok((header, Self { count, keylen, pid_offset, data, entries, displacement }))
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        let offsets = match &self.entries {
            Entries::Offsets(offsets) => offsets.capacity(),
            Entries::Fixed(_) | Entries::Generated => 0,
        };
        let numbers = offsets + self.displacement.as_ref().map_or(0, Vec::capacity);
        (self.data.buffer.capacity() + 4 * numbers) as u64
    }

    /// The bytes of entry `i` in the data.
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

    /// The position from which the tags of entry `i` count: its position when it was first written.
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
