//! Fills the pages of one stored top-level field of an RNTuple: encodes entries, and cuts a page where the elements of a column
//! reach its limit. The caller decides where clusters end.
//!
//! Facts: `RColumn.hxx`: a page ends at the limit, so that all pages of a column in a cluster but the last have as many elements.

use std::ops::Range;
use std::time::Instant;

use dataset::layout::Compression;
use dataset::ntuple::encode::{FieldEncoder, PendingColumn};
use dataset::ntuple::page::{checksum, put_page};
use rootfile::bytes::make_room_for_rest;
use rootfile::codec::Compressor;
use rootfile::{Error, ErrorKind, Result};

use super::clocks::add;
use super::scratch::EncodeScratch;
use super::stream_fill::{Arrays, SMALL_PIECE, StreamFill};
use crate::table::ntuple::made_pages::{ColumnPages, MadePage};

/// How the pages of a column are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageRules {
    /// Most bytes of a page's elements in memory.
    pub page_size: u64,
    pub compression: Compression,
    /// Whether a checksum follows each page.
    pub has_checksum: bool,
}

/// A field that is being filled.
#[derive(Debug)]
pub(crate) struct FieldFill {
    /// The elements of each column that are in no page yet. Those whose pages need neither encoding nor compression stay there until
    /// the cluster ends.
    pending: Vec<PendingColumn>,
    columns: Vec<ColumnFill>,
    /// Entries so far, those of earlier clusters as well.
    entries: u64,
}

/// A column that is being filled.
#[derive(Debug)]
struct ColumnFill {
    rules: PageRules,
    /// Elements of a page.
    limit: usize,
    made: ColumnPages,
    raw: u64,
}

/// The elements of one page to make.
#[derive(Clone, Debug)]
pub(crate) struct PageToMake {
    column: usize,
    range: Range<usize>,
}

/// A page that was cut out of its column: its bytes before compression.
pub(crate) struct CutPage {
    column: usize,
    rules: PageRules,
    elements: u32,
    bytes: Vec<u8>,
}

impl FieldFill {
    /// An empty field. `rules` are those of its columns.
    pub fn new(encoder: &FieldEncoder, rules: &[PageRules]) -> Self {
        let column = |(pending, rules): (&PendingColumn, &PageRules)| {
            let limit = rules.page_size / pending.element_size() as u64;
            let limit = usize::try_from(limit.clamp(1, u64::from(u32::MAX >> 1))).unwrap_or(usize::MAX);
            ColumnFill { rules: *rules, limit, made: ColumnPages::new(rules.compression), raw: 0 }
        };
        let pending = encoder.start(|column| rules.get(column).is_some_and(|rules| rules.compression.is_none()));
        Self { columns: pending.iter().zip(rules).map(column).collect(), pending, entries: 0 }
    }

    /// The pages with the elements that are in none yet.
    fn last_pages(&self) -> Vec<PageToMake> {
        let columns = self.pending.iter().enumerate().filter(|(_, pending)| !pending.is_empty());
        columns.map(|(column, pending)| PageToMake { column, range: 0..pending.len() }).collect()
    }

    /// Returns the pages of the cluster, and begins the next one. All elements must be in pages.
    pub fn start_cluster(&mut self) -> impl Iterator<Item = ColumnPages> + '_ {
        self.columns.iter_mut().zip(&mut self.pending).map(|(column, pending)| {
            pending.start_cluster();
            column.raw = 0;
            let mut made = std::mem::replace(&mut column.made, ColumnPages::new(column.rules.compression));
            if let Some(bytes) = pending.take_bytes() {
                made.bytes = bytes;
            }
            made
        })
    }
}

/// The error for values that cannot be stored, with the entry of the first one.
#[cold]
fn located(e: Error, encoder: &FieldEncoder, arrays: &Arrays, rows: Range<usize>, before: u64) -> Error {
    let ErrorKind::Request(why) = e.kind() else { return e };
    let fails = |row: &usize| encoder.append(arrays, *row..row + 1, &mut encoder.start(|_| false)).is_err();
    let Some(row) = rows.clone().find(fails) else { return e };
    let entry = before + (row - rows.start) as u64;
    Error::request(format!("{why} (in entry {entry} of those that were filled)"))
        .hints_of(&e)
        .object(format!("field {}", encoder.name()))
}

impl StreamFill for FieldFill {
    type Plan = FieldEncoder;
    type Piece = PageToMake;
    type Cut = CutPage;
    type Made = (usize, ColumnPages);

    fn append(&mut self, encoder: &FieldEncoder, arrays: &Arrays, rows: Range<usize>) -> Result<Vec<PageToMake>> {
        let appended = encoder.append(arrays, rows.clone(), &mut self.pending);
        appended.map_err(|e| located(e, encoder, arrays, rows.clone(), self.entries))?;
        self.entries += rows.len() as u64;
        let mut pages = Vec::new();
        for (number, (column, pending)) in self.columns.iter().zip(&self.pending).enumerate() {
            let mut done = 0;
            while pending.len() - done >= column.limit {
                pages.push(PageToMake { column: number, range: done..done + column.limit });
                done += column.limit;
            }
        }
        Ok(pages)
    }

    fn put(&mut self, _: &FieldEncoder, page: &PageToMake, scratch: &mut EncodeScratch) -> Result<()> {
        if let (Some(column), Some(pending)) = (self.columns.get_mut(page.column), self.pending.get(page.column)) {
            let made = make(pending, column.rules, page.range.clone(), scratch, &mut column.made)?;
            column.raw += made.raw as u64;
            column.made.pages.push(made);
        }
        Ok(())
    }

    fn is_small(&self, page: &PageToMake) -> bool {
        let pending = self.pending.get(page.column);
        let bytes = pending.and_then(|pending| pending.encoding().page_len(page.range.len()));
        bytes.is_none_or(|bytes| bytes < SMALL_PIECE)
    }

    fn cut(&mut self, _: &FieldEncoder, page: &PageToMake) -> Result<Option<(CutPage, u64)>> {
        let column = self.columns.get(page.column).zip(self.pending.get(page.column));
        let Some((ColumnFill { rules, .. }, pending)) =
            column.filter(|(column, _)| !column.rules.compression.is_none())
        else {
            return Ok(None);
        };
        let elements = page_elements(&page.range)?;
        let mut bytes = Vec::with_capacity(pending.encoding().page_len(page.range.len()).unwrap_or(0));
        pending.encode(page.range.clone(), &mut bytes)?;
        let memory = bytes.len() as u64;
        Ok(Some((CutPage { column: page.column, rules: *rules, elements, bytes }, memory)))
    }

    fn make(cut: CutPage, compressor: &mut Compressor) -> Result<Self::Made> {
        let CutPage { column, rules: PageRules { compression, has_checksum, .. }, elements, bytes } = cut;
        let mut made = ColumnPages::new(compression);
        let (offset, raw) = (made.begin(bytes.len()), bytes.len());
        let (len, checksum) = put_page(&bytes, compression, compressor, false, &mut made.bytes)?;
        made.pages.push(MadePage { elements, offset, len, raw, has_checksum, checksum, same_as: None });
        // It may wait for pieces before it.
        made.bytes.shrink_to_fit();
        Ok((column, made))
    }

    fn add(&mut self, made: &Self::Made) {
        let (column, made) = made;
        if let Some(column) = self.columns.get_mut(*column) {
            column.made.append(made);
            column.raw += made.pages.iter().map(|page| page.raw as u64).sum::<u64>();
        }
    }

    fn blame(_: &FieldEncoder, error: Error) -> Error {
        error
    }

    fn forget(&mut self, pages: &[PageToMake]) {
        for (number, pending) in self.pending.iter_mut().enumerate() {
            let end = pages.iter().rev().find(|page| page.column == number).map_or(0, |page| page.range.end);
            if end > 0 {
                pending.forget(end);
            }
        }
    }

    fn finish(&mut self, encoder: &FieldEncoder, scratch: &mut EncodeScratch) -> Result<()> {
        let pages = self.last_pages();
        pages.iter().try_for_each(|page| self.put(encoder, page, scratch))?;
        self.forget(&pages);
        Ok(())
    }

    fn last(&mut self, _: &FieldEncoder) -> Result<Vec<PageToMake>> {
        Ok(self.last_pages())
    }

    fn forget_last(&mut self, _: &FieldEncoder, pages: &[PageToMake]) {
        self.forget(pages);
    }

    fn close(&mut self) {}

    fn reset(&mut self, _: &FieldEncoder) {}

    fn make_room(&mut self, done: u64, ahead: u64) {
        for (column, pending) in self.columns.iter_mut().zip(&mut self.pending) {
            pending.make_room(done, ahead);
            make_room_for_rest(&mut column.made.bytes, done, ahead);
        }
    }

    fn recycle(&mut self, buffers: &mut dyn Iterator<Item = Vec<u8>>) {
        for ((column, pending), mut used) in self.columns.iter_mut().zip(&mut self.pending).zip(buffers) {
            if pending.bytes().is_some() {
                pending.give_buffer(used);
            } else if column.made.bytes.capacity() == 0 {
                used.clear();
                column.made.bytes = used;
            }
        }
    }

    fn drop_buffers(&mut self) {
        for column in &mut self.columns {
            column.made = ColumnPages::new(column.rules.compression);
        }
        self.pending.iter_mut().for_each(PendingColumn::drop_memory);
    }

    fn shed(&mut self) {
        self.pending.iter_mut().for_each(PendingColumn::shrink_to_fit);
        self.columns.iter_mut().for_each(|column| column.made.bytes.shrink_to_fit());
    }

    fn memory(&self) -> u64 {
        let pending: u64 = self.pending.iter().map(PendingColumn::memory).sum();
        pending + self.columns.iter().map(|column| column.made.bytes.capacity() as u64).sum::<u64>()
    }

    fn pending(&self) -> u64 {
        self.pending.iter().filter(|pending| pending.bytes().is_none()).map(PendingColumn::raw_len).sum()
    }

    fn written(&self) -> (u64, u64) {
        let sums = self.columns.iter().zip(&self.pending).map(|(column, pending)| match pending.bytes() {
            Some(bytes) => (bytes.len() as u64, bytes.len() as u64),
            None => (column.raw, column.made.bytes.len() as u64),
        });
        sums.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

/// The number of elements of a page.
fn page_elements(range: &Range<usize>) -> Result<u32> {
    u32::try_from(range.len()).map_err(|_| Error::request("a page of 2^32 elements"))
}

/// Makes a page of pending elements: its bytes are appended.
fn make(
    pending: &PendingColumn,
    rules: PageRules,
    range: Range<usize>,
    scratch: &mut EncodeScratch,
    to: &mut ColumnPages,
) -> Result<MadePage> {
    let elements = page_elements(&range)?;
    let raw = pending.encoding().page_len(range.len()).unwrap_or(0);
    let PageRules { compression, has_checksum, .. } = rules;
    let (offset, len, checksum) = if let Some((offset, page)) = pending.page(range.clone()) {
        (offset, page.len(), checksum(page))
    } else if compression.is_none() {
        let offset = to.begin(raw);
        pending.encode(range, &mut to.bytes)?;
        let page = to.bytes.get(offset..).unwrap_or_default();
        (offset, page.len(), checksum(page))
    } else {
        let offset = to.begin(raw);
        scratch.payload.clear();
        pending.encode(range, &mut scratch.payload)?;
        let started = Instant::now();
        let put = put_page(&scratch.payload, compression, &mut scratch.compressor, false, &mut to.bytes);
        add(&scratch.clocks.compressing, started.elapsed());
        let (len, checksum) = put?;
        (offset, len, checksum)
    };
    Ok(MadePage { elements, offset, len, raw, has_checksum, checksum, same_as: None })
}
