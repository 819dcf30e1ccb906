//! Appends finished records to the file, and gives them their positions. The caller decides their order.

use dataset::tree::BasketRef;
use rootfile::{Error, FileWriter, Result, START_BIG_FILE};

use super::append::{Append, Batch};
use crate::table::chunk::{BasketRecord, Chunk};
use crate::table::depth::Depths;

/// One column as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenColumn {
    /// Its baskets.
    pub baskets: Vec<BasketRef>,
    /// Bytes before compression, keys included.
    pub tot_bytes: u64,
    /// Bytes on disk.
    pub zip_bytes: u64,
    /// Bytes of the largest basket before compression.
    pub largest: u64,
    /// The depths of its clusters.
    pub depths: Depths,
}

/// Offset of fSeekKey in a key: behind fNbytes, version, fObjlen, fDatime, fKeylen and fCycle.
const SEEK_KEY: usize = 18;

/// The baskets of one tree on their way into its file.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    /// Offset of the tree's directory.
    pub seek_pdir: u64,
    /// Each column as it was written so far.
    pub written: Vec<WrittenColumn>,
}

impl Batch for Chunk {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn forget(&mut self) {
        self.records.clear();
    }
}

impl Append for Sink {
    type Batch = Chunk;

    fn append(&mut self, writer: &mut FileWriter, batch: &mut Chunk) -> Result<()> {
        self.append_from(writer, batch, 0)
    }
}

impl Sink {
    /// Appends the records of a chunk. Its entries count from `base`.
    pub fn append_from(&mut self, writer: &mut FileWriter, chunk: &mut Chunk, base: u64) -> Result<()> {
        let start = writer.position();
        for piece in &chunk.records {
            let seek = start + piece.offset as u64;
            self.set_positions(&mut chunk.bytes, piece, seek)?;
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

    /// Sets the two positions in a record's key.
    fn set_positions(&self, bytes: &mut [u8], piece: &BasketRecord, seek: u64) -> Result<()> {
        let at = piece.offset + SEEK_KEY;
        let short = || Error::corrupt("a record is too short for its key");
        if piece.big {
            let slot = bytes.get_mut(at..at + 16).ok_or_else(short)?;
            slot[..8].copy_from_slice(&seek.to_be_bytes());
            let pdir = self.seek_pdir | u64::from(piece.pid_offset) << 48;
            slot[8..].copy_from_slice(&pdir.to_be_bytes());
        } else {
            let slot = bytes.get_mut(at..at + 8).ok_or_else(short)?;
            if seek.max(self.seek_pdir) > START_BIG_FILE {
                return Err(Error::unsupported("a record with 32-bit positions would lie beyond 2 GB"));
            }
            slot[..4].copy_from_slice(&u32::try_from(seek).unwrap_or(0).to_be_bytes());
            slot[4..].copy_from_slice(&u32::try_from(self.seek_pdir).unwrap_or(0).to_be_bytes());
        }
        Ok(())
    }
}
