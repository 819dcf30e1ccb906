//! Where records go: finished baskets in chunks, and the one place that gives them their position in the file.
//! It knows nothing of who made them, nor of the order they come in.

use dataset::tree::BasketRef;
use dataset::tree::basket::BasketHeader;
use rootfile::bytes::Writer;
use rootfile::codec::{Compression, Compressor};
use rootfile::{Error, FileWriter, Result, START_BIG_FILE};

use crate::engine::Depths;

/// What became of one column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written {
    /// Its baskets.
    pub baskets: Vec<BasketRef>,
    /// Bytes before compression, keys included.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// Bytes of the largest basket before compression.
    pub largest: u64,
    /// How its clusters were treated.
    pub depths: Depths,
}

/// Records, one after the other, and what they are.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub pieces: Vec<OutPiece>,
}

/// One basket of a [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutPiece {
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

/// Offset of fSeekKey in a key: behind fNbytes, version, fObjlen, fDatime, fKeylen and fCycle.
const SEEK_KEY: usize = 18;

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
        self.pieces.extend(pieces.map(|piece| OutPiece { first_entry, offset: offset + piece.offset, ..*piece }));
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
        self.pieces.push(OutPiece {
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

/// The baskets of one tree on their way into its file.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Offset of the directory that the tree lies in.
    pub seek_pdir: u64,
    /// What became of each column so far.
    pub written: Vec<Written>,
}

impl Sink {
    /// Appends the records of a chunk, whose entries count from `base`.
    pub fn append(&mut self, writer: &mut FileWriter, chunk: &mut Chunk, base: u64) -> Result<()> {
        let start = writer.position();
        for piece in &chunk.pieces {
            let seek = start + piece.offset as u64;
            self.place(&mut chunk.bytes, piece, seek)?;
            if let Some(column) = self.written.get_mut(piece.column) {
                column.baskets.push(BasketRef {
                    first_entry: base + piece.first_entry,
                    entries: piece.entries,
                    seek,
                    nbytes: piece.nbytes,
                });
                let raw = u64::from(piece.objlen) + u64::from(piece.keylen);
                column.tot_bytes += raw;
                column.zip_bytes += u64::from(piece.nbytes);
                column.largest = column.largest.max(raw);
            }
        }
        writer.append(&chunk.bytes)
    }

    /// Writes the two positions of a record's key, which are known only now.
    fn place(&self, bytes: &mut [u8], piece: &OutPiece, seek: u64) -> Result<()> {
        let at = piece.offset + SEEK_KEY;
        let short = || Error::corrupt("a record too short for its key");
        if piece.big {
            let slot = bytes.get_mut(at..at + 16).ok_or_else(short)?;
            slot[..8].copy_from_slice(&seek.to_be_bytes());
            let pdir = self.seek_pdir | u64::from(piece.pid_offset) << 48;
            slot[8..].copy_from_slice(&pdir.to_be_bytes());
        } else {
            let slot = bytes.get_mut(at..at + 8).ok_or_else(short)?;
            if seek.max(self.seek_pdir) > START_BIG_FILE {
                return Err(Error::unsupported("a record with 32-bit positions came to lie beyond 2 GB"));
            }
            slot[..4].copy_from_slice(&u32::try_from(seek).unwrap_or(0).to_be_bytes());
            slot[4..].copy_from_slice(&u32::try_from(self.seek_pdir).unwrap_or(0).to_be_bytes());
        }
        Ok(())
    }
}
