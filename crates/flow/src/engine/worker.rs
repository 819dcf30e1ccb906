//! A worker: takes tasks, and has the buffers and codecs that they need.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dataset::tree::basket::{BasketData, BasketHeader, Entries, Payload};
use rootfile::bytes::Cursor;
use rootfile::codec::{Compressor, Decompressor, is_stored};
use rootfile::{Error, Result, Source};

use super::builder::Builder;
use super::queue::{Queue, Stopped};
use super::tasks::Task;
use super::{Job, copy, recode, regroup, spans_several};
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
    /// Whether only the payload of what was fetched last can tell if its header is right.
    pub unsure: bool,
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
            unsure: false,
            chunk: Chunk::default(),
        }
    }

    /// Reads the record of a column's piece, all of its entries, and its header.
    pub fn fetch(&mut self, files: &Files, column: &Column, piece: &Piece) -> Result<BasketHeader> {
        let file =
            files.get(piece.file as usize).ok_or_else(|| Error::request("a piece of a file that is not there"))?;
        let begun = Instant::now();
        read_at(&**file, piece.seek, piece.nbytes as usize, &mut self.record, 0)?;
        self.times.0 += begun.elapsed();
        self.record.truncate(piece.nbytes as usize);
        let in_file = |e: Error| e.at(piece.seek).object(format!("branch {}", column.names.0)).file(file.name());
        let checked = BasketHeader::peek(&self.record).and_then(|peek| column.check(piece, &peek));
        self.unsure = checked.map_err(in_file)?;
        BasketHeader::parse(&mut Cursor::new(&self.record)).map_err(in_file)
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
            self.fetch(files, column, piece).and_then(|header| {
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
        // What stands for a file that is absent says so itself.
        if file.size() == 0 {
            file.read_exact_at(seek, &mut [])?;
        }
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
    /// Where what is read in one go begins, and room for the baskets that several of these use.
    steps: (Vec<u64>, u64),
    /// Baskets of columns that several clusters use, each loaded once for all of them.
    shared: Mutex<HashMap<Whose, Arc<Slot>>>,
}

/// Bytes that are kept within the limit, and by whose they are the index of the piece, its entries, and how many bytes of
/// the limit they take.
type Kept = (u64, HashMap<Whose, (usize, BasketData, u64)>);

/// A basket whose entries are taken.
pub(crate) enum Held {
    /// By one alone.
    Own(BasketData),
    /// By several.
    Shared(Arc<BasketData>),
}

impl Deref for Held {
    type Target = BasketData;

    fn deref(&self) -> &BasketData {
        match self {
            Self::Own(data) => data,
            Self::Shared(data) => data,
        }
    }
}

/// A basket that is there for all workers, and its index.
type Slot = Mutex<Option<(usize, Arc<BasketData>)>>;

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
        Self { kept: Mutex::new((0, HashMap::new())), limit, steps: Default::default(), shared: Mutex::default() }
    }

    /// Keeps baskets that several of the steps between these entries use, too: there is so much `room` for them.
    pub fn between(self, bounds: Vec<u64>, room: u64) -> Self {
        Self { steps: (bounds, room), ..self }
    }

    /// Bytes of baskets that are kept besides those within the limit.
    pub fn room(&self) -> u64 {
        self.steps.1
    }

    pub fn take(&self, whose: Whose, piece: usize) -> Option<BasketData> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (index, data, counted) = kept.1.remove(&whose)?;
        kept.0 = kept.0.saturating_sub(counted);
        (index == piece).then_some(data)
    }

    pub fn keep(&self, whose: Whose, (index, piece): (usize, &Piece), data: BasketData) {
        let counted = if spans_several(piece, &self.steps.0) { 0 } else { data.memory() };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0 + counted <= self.limit {
            kept.0 += counted;
            if let Some((.., old)) = kept.1.insert(whose, (index, data, counted)) {
                kept.0 = kept.0.saturating_sub(old);
            }
        }
    }

    /// A basket of a column that several clusters use: who is first loads it, the others wait for that. It stays until
    /// the column's next one is asked for; its room is part of the plan's metadata.
    pub fn shared(
        &self,
        whose: Whose,
        piece: usize,
        load: impl FnOnce() -> Result<BasketData>,
    ) -> Result<Arc<BasketData>> {
        let slot = Arc::clone(self.shared.lock().unwrap_or_else(PoisonError::into_inner).entry(whose).or_default());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some((index, data)) if *index == piece => return Ok(Arc::clone(data)),
            // A cluster that comes before that of others.
            Some((index, _)) if *index > piece => return load().map(Arc::new),
            _ => *slot = None,
        }
        let data = Arc::new(load()?);
        *slot = Some((piece, Arc::clone(&data)));
        Ok(data)
    }

    /// The same basket where it is used for the last time: it is forgotten.
    pub fn forget_shared(&self, whose: Whose, piece: usize) {
        let slot = self.shared.lock().unwrap_or_else(PoisonError::into_inner).get(&whose).map(Arc::clone);
        let Some(slot) = slot else { return };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|(index, _)| *index <= piece) {
            *slot = None;
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
