//! Finished basket records, one after the other, in memory. Their positions in the file are not known yet.

use std::ops::Range;

use dataset::tree::basket::BasketHeader;
use rootfile::bytes::{Writer, make_room};
use rootfile::codec::{CODEC_ROOM, Compression, Compressor};
use rootfile::{Error, Result};

/// Basket records, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub records: Vec<BasketRecord>,
}

/// One basket of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasketRecord {
    pub column: usize,
    pub first_entry: u64,
    pub entries: u64,
    /// Its offset in the chunk.
    pub offset: usize,
    /// Where it stays in a file that is updated in place; the chunk has no bytes of it then.
    pub stays: Option<u64>,
    pub nbytes: u32,
    /// Bytes before compression, without the key.
    pub objlen: u32,
    pub keylen: u16,
    pub pid_offset: u16,
    /// Whether its key has eight-byte positions.
    pub big: bool,
}

impl Chunk {
    /// Appends the records of another chunk of the same column. Their entries begin with `first_entry`.
    pub fn append(&mut self, other: &Self, first_entry: u64) {
        let offset = self.bytes.len();
        make_room(&mut self.bytes, other.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        let records = other.records.iter();
        self.records.extend(records.map(|record| BasketRecord {
            first_entry,
            offset: offset + record.offset,
            ..*record
        }));
    }

    /// Compresses a basket's payload and appends its record. `place` is its column and first entry.
    pub fn put(
        &mut self,
        header: BasketHeader,
        payload: &[u8],
        place: (usize, u64),
        compression: Compression,
        compressor: &mut Compressor,
    ) -> Result<()> {
        let offset = self.begin(&header, payload.len());
        if !compressor.compress(compression, payload, &mut self.bytes)? {
            self.bytes.extend_from_slice(payload);
        }
        let end = self.bytes.len();
        self.end(header, payload.len(), offset..end, place)
    }

    /// Reserves room for a record and its key. Returns its offset.
    fn begin(&mut self, header: &BasketHeader, payload: usize) -> usize {
        let offset = self.bytes.len();
        make_room(&mut self.bytes, header.keylen() + payload + CODEC_ROOM);
        self.bytes.resize(offset + header.keylen(), 0);
        offset
    }

    /// Writes the key of the complete record that is `record` of the bytes. `payload` are its bytes before compression, without the
    /// key.
    pub fn end(
        &mut self,
        mut header: BasketHeader,
        payload: usize,
        record: Range<usize>,
        (column, first_entry): (usize, u64),
    ) -> Result<()> {
        let number = |n: usize| match i32::try_from(n) {
            Ok(n) => Ok(n),
            Err(_) => {
                Err(Error::request("a basket of 2 GB or more cannot be written; ask for smaller clusters or baskets"))
            }
        };
        header.key.objlen = number(payload)?.unsigned_abs();
        header.buffer_size = number(payload + header.keylen())?;
        header.key.nbytes = number(record.len())?.unsigned_abs();
        let mut w = Writer::with_capacity(header.keylen());
        header.write(&mut w);
        if let Some(slot) = self.bytes.get_mut(record.start..record.start + w.bytes.len()) {
            slot.copy_from_slice(&w.bytes);
        }
        self.records.push(BasketRecord {
            column,
            first_entry,
            entries: u64::from(header.nev_buf),
            offset: record.start,
            stays: None,
            nbytes: header.key.nbytes,
            objlen: header.key.objlen,
            keylen: header.key.keylen,
            pid_offset: header.key.pid_offset,
            big: header.key.is_big(),
        });
        Ok(())
    }
}
