//! Fetches the bytes of pieces, with the buffers and codecs of one thread. Of pages it has the bytes that their container asks for.
//! Baskets are checked and decompressed here, and the boundaries of their entries found.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dataset::codecs::Codecs;
use dataset::page_cache::PageCache;
use dataset::table::piece::{Piece, Stored};
use dataset::tree::basket::{BasketData, BasketHeader, Entries, Payload};
use rootfile::bytes::Cursor;
use rootfile::codec::is_stored;
use rootfile::{Error, RangeBuffer, RangeBytes, RangeReader, Result, Source};

use crate::table::piece::Files;
use crate::table::tree::column::{Column, CountedDefaults, CountedOffsets, DefaultBytes, no_record};

/// Buffers and codecs of one thread.
pub(crate) struct Fetcher {
    ranges: RangeBuffer,
    /// They verify checksums, since blocks of the output get new ones: a damaged block must be found here.
    pub codecs: Codecs,
    /// Whether the header of the last record is uncertain until its payload has been read.
    pub unsure: bool,
}

impl Fetcher {
    pub fn new() -> Self {
        Self { ranges: RangeBuffer::default(), codecs: Codecs::new(), unsure: false }
    }

    /// Keeps pages for neighbouring pieces.
    pub fn keeping(pages: Arc<PageCache>) -> Self {
        let mut fetcher = Self::new();
        fetcher.codecs.pages = Some(pages);
        fetcher
    }

    /// The bytes of numbered files, and the codecs that open them.
    pub fn over<'f>(&'f mut self, files: &'f Files) -> (RangeReader<'f>, &'f mut Codecs) {
        (RangeReader::new(files, &mut self.ranges), &mut self.codecs)
    }

    /// The bytes of one file, whose number is 0, and the codecs that open them.
    pub fn of<'f>(&'f mut self, file: &'f dyn Source) -> (RangeReader<'f>, &'f mut Codecs) {
        (RangeReader::of(file, &mut self.ranges), &mut self.codecs)
    }

    /// Reads the record of a piece and parses its header.
    pub fn fetch(&mut self, files: &Files, column: &Column, piece: &Piece) -> Result<BasketHeader> {
        let (mut bytes, codecs) = self.over(files);
        let (header, unsure) = fetch(column, piece, &mut bytes, codecs)?;
        self.unsure = unsure;
        Ok(header)
    }

    /// Decompresses the record that was fetched last into the payload of the codecs.
    pub fn unpack(&mut self, header: &BasketHeader) -> Result<()> {
        unpack(header, &mut self.codecs)
    }

    /// Time spent on fetching since the last call.
    pub fn take_time(&mut self) -> Duration {
        self.ranges.take_time()
    }

    /// Takes back the buffer of a basket for the next one.
    pub fn give_back(&mut self, data: BasketData) {
        let Codecs { record, payload, .. } = &mut self.codecs;
        let place = if record.capacity() < payload.capacity() { record } else { payload };
        *place = data.data.into_buffer();
    }

    /// Loads all entries of a piece's record, and their boundaries.
    pub fn load(&mut self, files: &Files, column: &Column, index: usize) -> Result<BasketData> {
        let (mut bytes, codecs) = self.over(files);
        open_basket(column, index, &mut bytes, codecs)
    }
}

/// Reads the record of a piece and parses its header. Returns whether only the payload can tell if the header is right.
fn fetch(
    column: &Column,
    piece: &Piece,
    bytes: &mut dyn RangeBytes,
    codecs: &mut Codecs,
) -> Result<(BasketHeader, bool)> {
    let place = piece.record().ok_or_else(no_record)?;
    codecs.record_len = place.len as usize;
    read_at(bytes, place.file, (place.offset, codecs.record_len), &mut codecs.record, 0)?;
    let record = fetched(codecs);
    let checked = BasketHeader::peek(record).and_then(|peek| column.check(piece, &peek));
    let parsed = checked.and_then(|unsure| Ok((BasketHeader::parse(&mut Cursor::new(record))?, unsure)));
    parsed.map_err(|e| e.at(place.offset).object(format!("branch {}", column.name)).file(bytes.name(place.file)))
}

/// The record that was fetched last.
fn fetched(codecs: &Codecs) -> &[u8] {
    codecs.record.get(..codecs.record_len).unwrap_or_default()
}

/// Decompresses the record that was fetched last into the payload of the codecs.
fn unpack(header: &BasketHeader, codecs: &mut Codecs) -> Result<()> {
    let Codecs { decompressor, record, record_len, payload, cost, .. } = codecs;
    let raw = record.get(header.keylen()..*record_len).unwrap_or_default();
    let objlen = header.key.objlen as usize;
    let started = Instant::now();
    payload.clear();
    if is_stored(raw.len(), objlen) {
        payload.extend_from_slice(raw.get(..objlen).unwrap_or_default());
    } else {
        decompressor.decompress(raw, objlen, payload)?;
    }
    cost.decompress += started.elapsed();
    Ok(())
}

/// Decompresses the record that was fetched last, into the memory of the payload of the codecs.
fn unpacked(header: &BasketHeader, codecs: &mut Codecs) -> Result<Payload> {
    let objlen = header.key.objlen as usize;
    if codecs.payload.len() < objlen {
        unpack(header, codecs)?;
        return Ok(std::mem::take(&mut codecs.payload).into());
    }
    // What is large enough is not zeroed again.
    let Codecs { decompressor, record, record_len, payload, cost, .. } = codecs;
    let started = Instant::now();
    let raw = record.get(header.keylen()..*record_len).unwrap_or_default();
    decompressor.decompress_into(raw, payload.get_mut(..objlen).unwrap_or_default())?;
    cost.decompress += started.elapsed();
    Ok(Payload::first(std::mem::take(payload), objlen))
}

/// Opens all entries of a piece's record, and finds their boundaries.
pub(crate) fn open_basket(
    column: &Column,
    index: usize,
    bytes: &mut dyn RangeBytes,
    codecs: &mut Codecs,
) -> Result<BasketData> {
    let piece = &column.source.record(index).ok_or_else(|| Error::request("an unknown piece"))?;
    if let (Stored::Default, None, Some(entry)) = (piece.stored, &column.form.filled, &column.source.fill) {
        return default_entries(column, entry, piece.entries);
    }
    opened(column, piece, bytes, codecs).map_err(|e| {
        let e = piece.blame(e.object(format!("branch {} of {}", column.name, column.tree_name)));
        match piece.file() {
            Some(file) => e.file(bytes.name(file)),
            None => e,
        }
    })
}

fn opened(column: &Column, piece: &Piece, bytes: &mut dyn RangeBytes, codecs: &mut Codecs) -> Result<BasketData> {
    let mut data = match (piece.stored, &column.form.filled) {
        (Stored::Default, Some(filled)) if column.source.fill.is_some() => {
            return counted_defaults(column, filled, piece, bytes, codecs);
        }
        (Stored::Embedded { number, .. }, _) => {
            let basket = column.source.embedded.get(number as usize).ok_or_else(no_record)?;
            BasketData::parse_embedded(basket)?.1
        }
        _ => {
            let (header, _) = fetch(column, piece, bytes, codecs)?;
            if is_stored(codecs.record_len.saturating_sub(header.keylen()), header.key.objlen as usize) {
                header.open(Payload::stored(std::mem::take(&mut codecs.record), &header))?
            } else {
                header.open(unpacked(&header, codecs)?)?
            }
        }
    };
    if data.entries == Entries::Generated {
        let generated = column.form.counted.as_ref().ok_or_else(|| {
            Error::unsupported("leaves out its entry offsets, and no counter gives the length of entries")
        })?;
        data.entries = counted_offsets(generated, piece, &data, bytes, codecs)?;
    }
    match column.source.recast(piece) {
        Some(recast) => recast.apply(&data),
        None => Ok(data),
    }
}

/// Entries of a branch that an input lacks: the column's default entry, repeated.
fn default_entries(column: &Column, entry: &[u8], entries: u64) -> Result<BasketData> {
    let too_many = || Error::request("too many entries to fill in at once");
    let count = u32::try_from(entries).map_err(|_| too_many())?;
    let len = u32::try_from(entry.len()).map_err(|_| too_many())?;
    let (all, mut data) = (entry.len().saturating_mul(count as usize), Vec::new());
    data.try_reserve_exact(all).map_err(|_| Error::memory(all as u64))?;
    (0..count).for_each(|_| data.extend_from_slice(entry));
    Ok(BasketData {
        count,
        keylen: u32::try_from(column.keylen()).map_err(|_| too_many())?,
        pid_offset: 0,
        data: data.into(),
        entries: Entries::Fixed(len),
        displacement: None,
    })
}

/// Default entries, of as many items as the counter of the branch says.
fn counted_defaults(
    column: &Column,
    filled: &CountedDefaults,
    piece: &Piece,
    bytes: &mut dyn RangeBytes,
    codecs: &mut Codecs,
) -> Result<BasketData> {
    let ends = counted_ends(&filled.counts, piece, bytes, codecs)?;
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
pub(crate) fn read_at(
    bytes: &mut dyn RangeBytes,
    file: u32,
    (offset, len): (u64, usize),
    out: &mut Vec<u8>,
    at: usize,
) -> Result<()> {
    if offset.checked_add(len as u64).is_none_or(|end| end > bytes.size(file)) {
        // The source that stands for an absent file fails with its own message.
        if bytes.size(file) == 0 {
            bytes.read_into(file, offset, &mut [])?;
        }
        return Err(Error::corrupt(format!("a basket of {len} bytes lies beyond the file's end"))
            .at(offset)
            .file(bytes.name(file)));
    }
    if out.len() < at + len {
        out.resize(at + len, 0);
    }
    bytes.read_into(file, offset, out.get_mut(at..at + len).unwrap_or_default())
}

/// The boundaries of a piece's entries, by its counter.
fn counted_offsets(
    counted: &CountedOffsets,
    piece: &Piece,
    data: &BasketData,
    bytes: &mut dyn RangeBytes,
    codecs: &mut Codecs,
) -> Result<Entries> {
    let ends = counted_ends(counted, piece, bytes, codecs)?;
    let whole = ends.last().is_some_and(|end| *end as usize == data.data.len());
    if ends.len() != data.count as usize + 1 || !whole {
        return Err(Error::corrupt("entry lengths by the counter do not add up to the size of the basket"));
    }
    Ok(Entries::Offsets(ends))
}

/// Where the entries of a piece end, by their counter, behind a zero.
fn counted_ends(
    counted: &CountedOffsets,
    piece: &Piece,
    bytes: &mut dyn RangeBytes,
    codecs: &mut Codecs,
) -> Result<Vec<u32>> {
    let mut ends = vec![0u32];
    let wanted = piece.first_entry..piece.end();
    for index in counted.counter.source.overlapping(&wanted) {
        let Some(counts) = counted.counter.source.pieces.get(index) else { continue };
        let values = open_basket(&counted.counter, index, bytes, codecs)?;
        for entry in wanted.start.max(counts.first_entry)..wanted.end.min(counts.end()) {
            let i = usize::try_from(entry - counts.first_entry).unwrap_or(usize::MAX);
            let entry = values.range(i).and_then(|r| values.data.get(r)).unwrap_or_default();
            let number = entry.get(counted.at..counted.at + counted.width).ok_or_else(short)?;
            let count = number.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
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
