//! Appends finished records to the file, and gives them their positions. The caller decides their order.

use dataset::tree::BasketRef;
use dataset::tree::basket::{BasketPlace, place};
use rootfile::{FileWriter, Result, Run};

use crate::commit::append::{Append, Batch};
use crate::table::depth::Depths;
use crate::table::tree::chunk::Chunk;

/// One column as it was written.
#[derive(Clone, Debug, Default)]
pub(crate) struct WrittenColumn {
    /// Its baskets.
    pub baskets: Vec<BasketRef>,
    /// Bytes before compression, keys included.
    pub tot_bytes: u64,
    /// Bytes on disk, keys included.
    pub zip_bytes: u64,
    /// Bytes of these keys.
    pub key_bytes: u64,
    /// Bytes of the largest basket before compression.
    pub largest: u64,
    /// The depths of its clusters.
    pub depths: Depths,
}

impl WrittenColumn {
    /// Adds what was written behind it.
    pub(crate) fn append(&mut self, mut more: Self) {
        self.baskets.append(&mut more.baskets);
        self.tot_bytes += more.tot_bytes;
        self.zip_bytes += more.zip_bytes;
        self.key_bytes += more.key_bytes;
        self.largest = self.largest.max(more.largest);
        self.depths = self.depths + more.depths;
    }
}

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
        let each = writer.is_update();
        let start = writer.position();
        for piece in &chunk.records {
            // In a file that is updated each record may have a gap of its own.
            let own = || if each { writer.place_for(piece.nbytes as usize) } else { start + piece.offset as u64 };
            let seek = piece.stays.unwrap_or_else(own);
            match piece.stays {
                Some(first) => writer.keep_runs([Run { first, len: piece.nbytes.into() }]),
                None => {
                    let record = chunk.bytes.get_mut(piece.offset..).unwrap_or_default();
                    let at = BasketPlace { seek, seek_pdir: self.seek_pdir, pid_offset: piece.pid_offset };
                    place(record, at, piece.big)?;
                    if each {
                        writer.append_at(seek, record.get(..piece.nbytes as usize).unwrap_or_default())?;
                    }
                }
            }
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
                column.key_bytes += u64::from(piece.keylen);
                column.largest = column.largest.max(raw);
            }
        }
        if each { Ok(()) } else { writer.append(&chunk.bytes) }
    }
}
