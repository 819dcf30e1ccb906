//! Finished basket records, one after the other, in memory. Their positions in the file are not known yet.

use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Writer;
use rootfile::codec::{Compression, Compressor};
use rootfile::{Error, Result};

/// Records, one after the other, and what they are.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub pieces: Vec<BasketRecord>,
}

/// One basket of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct BasketRecord {
    pub column: usize,
    pub first_entry: u64,
    pub entries: u64,
    /// Where it begins in the chunk.
    pub offset: usize,
    pub nbytes: u32,
    /// Bytes before compression, without the key.
    pub objlen: u32,
    pub keylen: u16,
    pub pid_offset: u16,
    /// Whether its key has eight-byte positions.
    pub big: bool,
}

/// Bytes besides that a codec may want: headers of its blocks.
const ROOM_OF_CODECS: usize = 256;

impl Chunk {
    /// Adds the records of another chunk of the same column, whose entries begin with `first_entry`.
    pub fn append(&mut self, other: &Self, first_entry: u64) {
        let offset = self.bytes.len();
        if self.bytes.capacity() - offset < other.bytes.len() {
            self.bytes.reserve_exact(other.bytes.len() + offset / 4);
        }
        self.bytes.extend_from_slice(&other.bytes);
        let pieces = other.pieces.iter();
        self.pieces.extend(pieces.map(|piece| BasketRecord { first_entry, offset: offset + piece.offset, ..*piece }));
    }

    /// Compresses a basket's payload and adds its record. `place` is its column and first entry.
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
        self.end(header, payload.len(), offset, place)
    }

    /// Adds the record of a basket as it is, whose payload comes in two parts.
    pub fn put_stored(&mut self, header: BasketHeader, parts: [&[u8]; 2], place: (usize, u64)) -> Result<()> {
        let len = parts[0].len() + parts[1].len();
        let offset = self.begin(&header, len);
        parts.iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.end(header, len, offset, place)
    }

    /// Makes room for a record, and for its key.
    fn begin(&mut self, header: &BasketHeader, payload: usize) -> usize {
        let offset = self.bytes.len();
        let room = header.keylen() + payload + ROOM_OF_CODECS;
        if self.bytes.capacity() - offset < room {
            // By a quarter, not by doubling: what is taken is counted.
            self.bytes.reserve_exact(room + offset / 4);
        }
        self.bytes.resize(offset + header.keylen(), 0);
        offset
    }

    /// Writes the key of the record that began at `offset` and is whole now.
    fn end(
        &mut self,
        mut header: BasketHeader,
        payload: usize,
        offset: usize,
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
        header.key.nbytes = number(self.bytes.len() - offset)?.unsigned_abs();
        let mut w = Writer::new();
        header.write(&mut w);
        if let Some(slot) = self.bytes.get_mut(offset..offset + w.bytes.len()) {
            slot.copy_from_slice(&w.bytes);
        }
        self.pieces.push(BasketRecord {
            column,
            first_entry,
            entries: u64::from(header.nev_buf),
            offset,
            nbytes: header.key.nbytes,
            objlen: header.key.objlen,
            keylen: header.key.keylen,
            pid_offset: header.key.pid_offset,
            big: header.key.is_big(),
        });
        Ok(())
    }
}
