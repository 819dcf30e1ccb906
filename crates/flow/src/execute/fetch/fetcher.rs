//! Reads basket records: fetches, checks and decompresses them, and finds the boundaries of their entries.

use std::time::{Duration, Instant};

use dataset::tree::basket::{BasketData, BasketHeader, Entries, Payload};
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::{Error, Result, Source};

use crate::table::column::{Column, CountedDefaults, CountedOffsets, DefaultBytes};
use crate::table::piece::{FILL, Files, Piece};

/// Buffers and decompressor of one thread that reads baskets.
pub(crate) struct Fetcher {
    /// The record that was fetched last.
    record: Vec<u8>,
    /// The payload that was decompressed last.
    pub payload: Vec<u8>,
    pub decompressor: Decompressor,
    /// Time spent on fetching and on decompressing since [`Fetcher::take_times`].
    times: (Duration, Duration),
    /// Whether the header of the last record is uncertain until its payload has been read.
    pub unsure: bool,
}

impl Fetcher {
    pub fn new() -> Self {
        Self {
            record: Vec::new(),
            payload: Vec::new(),
            // Blocks of the output get new checksums, so a damaged block must be found here.
            decompressor: Decompressor::new(),
            times: Default::default(),
            unsure: false,
        }
    }

    /// Reads the record of a piece and parses its header.
    pub fn fetch(&mut self, files: &Files, column: &Column, piece: &Piece) -> Result<BasketHeader> {
        let file = files.get(piece.file as usize).ok_or_else(|| Error::request("a piece of an unknown file"))?;
        let started = Instant::now();
        read_at(&**file, piece.seek, piece.nbytes as usize, &mut self.record, 0)?;
        self.times.0 += started.elapsed();
        self.record.truncate(piece.nbytes as usize);
        let in_file = |e: Error| e.at(piece.seek).object(format!("branch {}", column.name)).file(file.name());
        let checked = BasketHeader::peek(&self.record).and_then(|peek| column.check(piece, &peek));
        self.unsure = checked.map_err(in_file)?;
        BasketHeader::parse(&mut Cursor::new(&self.record)).map_err(in_file)
    }

    /// Decompresses the record that was fetched last into `payload`.
    pub fn unpack(&mut self, header: &BasketHeader) -> Result<()> {
        let raw = self.record.get(header.keylen()..).unwrap_or_default();
        let objlen = header.key.objlen as usize;
        let started = Instant::now();
        self.payload.clear();
        if is_stored(raw.len(), objlen) {
            self.payload.extend_from_slice(raw.get(..objlen).unwrap_or_default());
        } else {
            self.decompressor.decompress(raw, objlen, &mut self.payload)?;
        }
        self.times.1 += started.elapsed();
        Ok(())
    }

    /// Time spent on fetching and on decompressing since the last call.
    pub fn take_times(&mut self) -> (Duration, Duration) {
        std::mem::take(&mut self.times)
    }

    /// Takes back the buffer of a basket for the next one.
    pub fn give_back(&mut self, data: BasketData) {
        let buffer = data.data.into_buffer();
        let place = if self.record.capacity() < self.payload.capacity() { &mut self.record } else { &mut self.payload };
        *place = buffer;
    }

    /// Loads all entries of a piece's record, and their boundaries.
    pub fn load(&mut self, files: &Files, column: &Column, index: usize) -> Result<BasketData> {
        let piece = &column.source.record(index).ok_or_else(|| Error::request("an unknown piece"))?;
        let named = |e: Error| {
            let e = e.object(format!("branch {} of {}", column.name, column.tree_name)).at(piece.seek);
            match files.get(piece.file as usize) {
                Some(file) => e.file(file.name()),
                None => e,
            }
        };
        if let (FILL, Some(entry)) = (piece.file, &column.source.fill) {
            return match &column.form.filled {
                Some(filled) => counted_defaults(column, filled, files, piece).map_err(named),
                None => default_entries(column, entry, piece.entries),
            };
        }
        let loaded = if let Some(bytes) = column.source.embedded.get(&index) {
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
            let generated = column.form.counted.as_ref().ok_or_else(|| {
                named(Error::unsupported("leaves out its entry offsets, and no counter gives the length of entries"))
            })?;
            data.entries = counted_offsets(generated, files, piece, &data).map_err(named)?;
        }
        match column.source.recasts.get(&piece.file) {
            Some(recast) => recast.apply(&data).map_err(named),
            None => Ok(data),
        }
    }
}

/// Entries of a branch that an input lacks: the column's default entry, repeated.
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

/// Default entries, of as many items as the counter of the branch says.
fn counted_defaults(column: &Column, filled: &CountedDefaults, files: &Files, piece: &Piece) -> Result<BasketData> {
    let ends = counted_ends(&filled.counts, files, piece)?;
    let entries = usize::try_from(piece.entries).ok().filter(|entries| ends.len() == entries.saturating_add(1));
    let count = entries.and_then(|n| u32::try_from(n).ok()).ok_or_else(short)?;
    let len = ends.last().map_or(0, |end| *end as usize);
    let mut data = Vec::new();
    data.try_reserve_exact(len).map_err(|_| Error::memory(len as u64))?;
    match &filled.items {
        DefaultBytes::Unknown if len > 0 => {
            return Err(Error::unsupported("has fewer entries than its tree, and there is no default for its items"));
        }
        DefaultBytes::Unknown | DefaultBytes::Zeros => data.resize(len, 0),
        DefaultBytes::Encoded(items) => {
            let (besides, each) = items.sizes();
            for bounds in ends.windows(2) {
                let bytes = bounds.iter().rev().copied().reduce(|end, start| end - start).unwrap_or(0) as usize;
                items.append(bytes.saturating_sub(besides).checked_div(each).unwrap_or(0), &mut data)?;
            }
        }
    }
    let keylen = u32::try_from(column.keylen()).map_err(|_| short())?;
    Ok(BasketData {
        count,
        keylen,
        pid_offset: 0,
        data: data.into(),
        entries: Entries::Offsets(ends),
        displacement: None,
    })
}

/// Reads bytes of a file into a buffer at `at`, after a check that the file has them. The buffer grows as needed, and its
/// old content is not cleared: clearing would cost most of the time.
pub(crate) fn read_at(file: &dyn Source, seek: u64, len: usize, out: &mut Vec<u8>, at: usize) -> Result<()> {
    if seek.checked_add(len as u64).is_none_or(|end| end > file.size()) {
        // The source that stands for an absent file fails with its own message.
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

/// The boundaries of a piece's entries, by its counter.
fn counted_offsets(counted: &CountedOffsets, files: &Files, piece: &Piece, data: &BasketData) -> Result<Entries> {
    let ends = counted_ends(counted, files, piece)?;
    let whole = ends.last().is_some_and(|end| *end as usize == data.data.len());
    if ends.len() != data.count as usize + 1 || !whole {
        return Err(Error::corrupt("entry lengths by the counter do not add up to the size of the basket"));
    }
    Ok(Entries::Offsets(ends))
}

/// Where the entries of a piece end, by their counter, behind a zero.
fn counted_ends(counted: &CountedOffsets, files: &Files, piece: &Piece) -> Result<Vec<u32>> {
    let mut ends = vec![0u32];
    let wanted = piece.first_entry..piece.end();
    let mut fetcher = Fetcher::new();
    for index in counted.counter.source.overlapping(&wanted) {
        let Some(counts) = counted.counter.source.pieces.get(index) else { continue };
        let values = fetcher.load(files, &counted.counter, index)?;
        for entry in wanted.start.max(counts.first_entry)..wanted.end.min(counts.end()) {
            let i = usize::try_from(entry - counts.first_entry).unwrap_or(usize::MAX);
            let bytes = values.range(i).and_then(|r| values.data.get(r)).unwrap_or_default();
            let bytes = bytes.get(counted.at..counted.at + counted.width).ok_or_else(short)?;
            let count = bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
            let len = u32::try_from(count).ok().and_then(|n| n.checked_mul(counted.each)).ok_or_else(short)?;
            let last = ends.last().copied().unwrap_or(0);
            ends.push(last.checked_add(len).and_then(|n| n.checked_add(counted.besides)).ok_or_else(short)?);
        }
    }
    Ok(ends)
}

#[cold]
fn short() -> Error {
    Error::corrupt("a counter does not fit the entries it counts")
}
