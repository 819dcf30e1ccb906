//! A worker: takes tasks, and has the buffers and codecs that they need.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use dataset::tree::basket::{BasketData, BasketHeader, Entries, Payload};
use rootfile::bytes::Cursor;
use rootfile::codec::{Compressor, Decompressor, is_stored};
use rootfile::{Error, Result, Source};

use super::builder::Builder;
use super::queue::{Queue, Stopped};
use super::tasks::Task;
use super::{Job, copy, recode, regroup};
use crate::column::{Column, FILL, Files, Piece};
use crate::sink::Chunk;

/// Buffers and codecs of one worker.
pub(crate) struct Scratch {
    pub record: Vec<u8>,
    pub payload: Vec<u8>,
    pub decompressor: Decompressor,
    pub compressor: Compressor,
    pub builder: Builder,
    /// Time spent on fetching and on decompressing since it was last asked for.
    times: (Duration, Duration),
    pub(super) chunk: Chunk,
}

impl Scratch {
    pub fn new() -> Self {
        Self {
            record: Vec::new(),
            payload: Vec::new(),
            // What is read is passed on with a checksum of its own; errors in it are found here or never.
            decompressor: Decompressor::new(),
            compressor: Compressor::new(),
            builder: Builder::default(),
            times: Default::default(),
            chunk: Chunk::default(),
        }
    }

    /// Reads a piece's record and its header.
    pub fn fetch(&mut self, files: &Files, piece: &Piece) -> Result<BasketHeader> {
        let file =
            files.get(piece.file as usize).ok_or_else(|| Error::request("a piece of a file that is not there"))?;
        let begun = Instant::now();
        read_at(&**file, piece.seek, piece.nbytes as usize, &mut self.record, 0)?;
        self.times.0 += begun.elapsed();
        self.record.truncate(piece.nbytes as usize);
        let in_file = |e: Error| e.at(piece.seek).file(file.name());
        let header = BasketHeader::parse(&mut Cursor::new(&self.record)).map_err(in_file)?;
        if u64::from(header.nev_buf) != piece.entries || header.key.nbytes != piece.nbytes {
            return Err(in_file(Error::corrupt(format!(
                "the basket here has {} entries in {} bytes, the tree says {} in {}",
                header.nev_buf, header.key.nbytes, piece.entries, piece.nbytes
            ))));
        }
        Ok(header)
    }

    /// Decompresses the record that was fetched last into `payload`.
    pub fn unpack(&mut self, header: &BasketHeader) -> Result<()> {
        let raw = self.record.get(header.keylen()..).unwrap_or_default();
        let objlen = header.key.objlen as usize;
        let begun = Instant::now();
        self.payload.clear();
        if is_stored(raw.len(), objlen) {
            self.payload.extend_from_slice(raw.get(..objlen).unwrap_or_default());
        } else {
            self.decompressor.decompress(raw, objlen, &mut self.payload)?;
        }
        self.times.1 += begun.elapsed();
        Ok(())
    }

    /// Time spent on fetching and on decompressing since this was last asked.
    pub fn take_times(&mut self) -> (Duration, Duration) {
        std::mem::take(&mut self.times)
    }

    /// Takes a buffer back for the next piece.
    pub fn give_back(&mut self, data: BasketData) {
        let buffer = data.data.into_buffer();
        let place = if self.record.capacity() < self.payload.capacity() { &mut self.record } else { &mut self.payload };
        *place = buffer;
    }

    /// All entries of a piece's record and their boundaries.
    pub fn load(&mut self, files: &Files, column: &Column, index: usize) -> Result<BasketData> {
        let piece = &column.record(index).ok_or_else(|| Error::request("a piece that is not there"))?;
        let named = |e: Error| {
            let e = e.object(format!("branch {} of {}", column.names.0, column.names.1)).at(piece.seek);
            match files.get(piece.file as usize) {
                Some(file) => e.file(file.name()),
                None => e,
            }
        };
        if let (FILL, Some(entry)) = (piece.file, &column.fill) {
            return default_entries(column, entry, piece.entries);
        }
        let loaded = if let Some(bytes) = column.embedded.get(&index) {
            BasketData::parse_embedded(bytes).map(|(_, data)| data)
        } else {
            self.fetch(files, piece).and_then(|header| {
                if is_stored(self.record.len().saturating_sub(header.keylen()), header.key.objlen as usize) {
                    return header.open(Payload::stored(std::mem::take(&mut self.record), &header));
                }
                self.unpack(&header)?;
                header.open(std::mem::take(&mut self.payload))
            })
        };
        let mut data = loaded.map_err(named)?;
        if data.entries == Entries::Generated {
            let generated = column.generated.as_ref().ok_or_else(|| {
                named(Error::unsupported("leaves out its entry offsets, and no counter says how long entries are"))
            })?;
            data.entries = generated.offsets(files, piece, &data).map_err(named)?;
        }
        Ok(data)
    }
}

/// Entries that an input lacks: the column's default, over and over.
fn default_entries(column: &Column, entry: &[u8], entries: u64) -> Result<BasketData> {
    let too_many = || Error::request("too many entries to fill in at once");
    let count = u32::try_from(entries).map_err(|_| too_many())?;
    let len = u32::try_from(entry.len()).map_err(|_| too_many())?;
    Ok(BasketData {
        count,
        keylen: u32::try_from(column.keylen()).map_err(|_| too_many())?,
        pid_offset: 0,
        data: entry.repeat(count as usize).into(),
        entries: Entries::Fixed(len),
        displacement: None,
    })
}

/// Reads bytes of a file, after checking that they are there, to a place in a buffer that grows to hold them. What the
/// buffer held before is not cleared first: it is most of what there is to do besides.
pub(super) fn read_at(file: &dyn Source, seek: u64, len: usize, out: &mut Vec<u8>, at: usize) -> Result<()> {
    if seek.checked_add(len as u64).is_none_or(|end| end > file.size()) {
        return Err(Error::corrupt(format!("a basket of {len} bytes lies beyond the file's end"))
            .at(seek)
            .file(file.name()));
    }
    if out.len() < at + len {
        out.resize(at + len, 0);
    }
    file.read_exact_at(seek, out.get_mut(at..at + len).unwrap_or_default())
}

/// Baskets that one cluster used in part, kept for the next cluster, which uses the rest.
pub(crate) struct Carry {
    kept: Mutex<Kept>,
    limit: u64,
}

/// Bytes that are kept, and by whose they are the index of the piece and its entries.
type Kept = (u64, HashMap<Whose, (usize, BasketData)>);

/// Who reads the baskets that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    /// A column, by its number.
    Column(usize),
    /// A source of a group that is recoded, by their numbers.
    Source { group: usize, lane: usize },
}

impl Carry {
    pub fn new(limit: u64) -> Self {
        Self { kept: Mutex::new((0, HashMap::new())), limit }
    }

    pub fn take(&self, whose: Whose, piece: usize) -> Option<BasketData> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, data) = kept.1.remove(&whose)?;
        kept.0 = kept.0.saturating_sub(data.memory());
        (index == piece).then_some(data)
    }

    pub fn keep(&self, whose: Whose, piece: usize, data: BasketData) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let len = data.memory();
        if kept.0 + len <= self.limit {
            kept.0 += len;
            if let Some((_, old)) = kept.1.insert(whose, (piece, data)) {
                kept.0 = kept.0.saturating_sub(old.memory());
            }
        }
    }
}

/// Works until there are no more tasks, or one failed.
pub(super) fn work(job: &Job<'_>, queue: &Queue<'_>, carry: &Carry) {
    let mut scratch = Scratch::new();
    while let Some((place, task)) = queue.next() {
        let mut emit = |chunk: &mut Chunk| {
            let handed = queue.emit(place, chunk);
            chunk.bytes.clear();
            handed
        };
        let made = match task {
            Task::Copy(pieces) => copy::copy(job, &pieces, &mut scratch),
            Task::Make { column, entries, depth } => {
                regroup::make(job, (column, entries, depth), &mut scratch, carry, &mut emit)
            }
            Task::Recode { group, entries } => recode::make(job, (group, entries), &mut scratch, carry, &mut emit),
        };
        let handed = match made {
            Ok(Ok(())) => queue.emit(place, &mut scratch.chunk).and_then(|()| queue.done(place)),
            Ok(Err(stopped)) => Err(stopped),
            Err(error) => {
                queue.fail(error);
                Err(Stopped)
            }
        };
        if handed.is_err() {
            return;
        }
    }
}
