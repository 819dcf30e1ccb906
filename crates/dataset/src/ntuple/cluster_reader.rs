//! Reads entries of one field from one cluster: fetches and decompresses just the pages that hold their elements. It does not
//! know which entries are wanted, nor how clusters are joined.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, Instant};

use rootfile::codec::Decompressor;
use rootfile::{Error, Result, Source};

use super::blob::read_blob;
use super::decode::{ElementSource, FieldBuilder, FieldPlan};
use super::element::{Elements, Encoding};
use super::model::{Locator, Page};
use super::page::Place;
use super::table::NtupleTable;

/// Pages that lie one after the other are fetched together, up to this many bytes.
const FETCH: u64 = 256 << 10;

/// The cost of reading pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCost {
    /// Time spent on waiting for bytes of the file.
    pub fetch: Duration,
    /// Time spent on verifying checksums and decompressing.
    pub decompress: Duration,
    /// Pages read.
    pub pages: u64,
    /// Bytes read.
    pub compressed: u64,
    /// Bytes when decompressed.
    pub uncompressed: u64,
}

/// The buffers and codecs of one thread that reads pages.
#[derive(Default)]
pub struct PageReader {
    decompressor: Decompressor,
    /// Bytes of the file, and the offset of the first one.
    window: (u64, Vec<u8>),
    /// The length of the window. The buffer may be longer.
    window_len: usize,
    scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
    cost: PageCost,
}

impl PageReader {
    /// A reader without buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The cost since the last call.
    pub fn take_cost(&mut self) -> PageCost {
        std::mem::take(&mut self.cost)
    }

    /// Reads some entries of a field. `runs` are ranges of entries in ascending order, counted from the first entry of the
    /// cluster with this number.
    ///
    /// # Errors
    ///
    /// If the table has no such cluster, if a page cannot be read, or if the elements contradict the schema.
    pub fn read(
        &mut self,
        (table, source): (&NtupleTable, &dyn Source),
        plan: &FieldPlan,
        number: usize,
        runs: &mut dyn Iterator<Item = Range<u64>>,
    ) -> Result<FieldBuilder> {
        let (list, cluster) =
            table.cluster(number).ok_or_else(|| Error::request(format!("there is no cluster {number}")))?;
        // The window may be of another file.
        self.window_len = 0;
        let mut builder = plan.start(0)?;
        let mut pages = ClusterPages { reader: self, table, source, plan, number, columns: HashMap::new() };
        for run in runs {
            builder.append(list, cluster, run, &mut pages).map_err(|e| e.file(source.name()))?;
        }
        for (_, mut column) in pages.columns.drain() {
            pages.reader.spare.extend(column.opened.take().map(|(_, bytes)| bytes));
        }
        Ok(builder)
    }

    /// The bytes of page `index`. Pages behind it are fetched with it.
    fn fetch(&mut self, source: &dyn Source, pages: &[Page], index: usize, max_key_size: u64) -> Result<Range<usize>> {
        let record = |page: &Page| match (page.locator, page.stored_len()) {
            (Locator::File { offset, .. }, Some(len)) => Ok((offset, len)),
            (Locator::Unknown { kind }, _) => {
                Err(Error::unsupported(format!("a page is not in the file, but in storage of type {kind:#04x}")))
            }
            (Locator::File { .. }, None) => Err(Error::corrupt("a page of 2^64 bytes")),
        };
        let page = pages.get(index).ok_or_else(|| Error::request(format!("there is no page {index}")))?;
        let (offset, len) = record(page)?;
        let len_here = usize::try_from(len).map_err(|_| Error::corrupt(format!("a page of {len} bytes")))?;
        if let Some(start) = offset.checked_sub(self.window.0).and_then(|start| usize::try_from(start).ok())
            && let Some(end) = start.checked_add(len_here).filter(|end| *end <= self.window_len)
        {
            return Ok(start..end);
        }
        let started = Instant::now();
        self.window_len = 0;
        if max_key_size > 0 && len > max_key_size {
            self.window = (offset, read_blob(source, &Locator::File { offset, size: len }, max_key_size)?);
            self.window_len = self.window.1.len();
        } else {
            let mut end = offset.saturating_add(len);
            for next in pages.iter().skip(index + 1) {
                match record(next) {
                    Ok((at, len)) if at == end && end - offset + len <= FETCH => end += len,
                    _ => break,
                }
            }
            if end > source.size() {
                let message = format!("a page of {len} bytes lies beyond the file's end");
                return Err(Error::corrupt(message).at(offset));
            }
            let fetched = usize::try_from(end - offset).unwrap_or(usize::MAX);
            let (at, buffer) = &mut self.window;
            if buffer.len() < fetched {
                buffer.resize(fetched, 0);
            }
            source.read_exact_at(offset, buffer.get_mut(..fetched).unwrap_or_default())?;
            (*at, self.window_len) = (offset, fetched);
        }
        self.cost.fetch += started.elapsed();
        Ok(0..len_here)
    }
}

/// A column of the cluster.
struct ClusterColumn<'a> {
    encoding: Encoding,
    pages: &'a [Page],
    /// The element after the last of each page.
    ends: Vec<u64>,
    /// The page whose last elements were not read, and its bytes: the next run often begins there.
    opened: Option<(usize, Vec<u8>)>,
}

/// The pages of a cluster.
struct ClusterPages<'a> {
    reader: &'a mut PageReader,
    table: &'a NtupleTable,
    source: &'a dyn Source,
    plan: &'a FieldPlan,
    number: usize,
    columns: HashMap<usize, ClusterColumn<'a>>,
}

impl<'a> ClusterPages<'a> {
    fn column(&self, column: usize) -> Result<ClusterColumn<'a>> {
        let pages = self.table.cluster(self.number).and_then(|(list, cluster)| cluster.pages(list, column));
        let pages = pages.unwrap_or_default();
        let mut end = 0u64;
        let ends = pages.iter().map(|page| {
            end = end.saturating_add(page.elements.into());
            end
        });
        Ok(ClusterColumn { encoding: self.table.encoding(column)?, ends: ends.collect(), pages, opened: None })
    }
}

impl ElementSource for ClusterPages<'_> {
    fn decode(&mut self, id: usize, range: Range<u64>, out: &mut Elements) -> Result<()> {
        if !self.columns.contains_key(&id) {
            let column = self.column(id)?;
            self.columns.insert(id, column);
        }
        let Some(column) = self.columns.get_mut(&id) else { return Ok(()) };
        let reader = &mut *self.reader;
        let last = column.ends.partition_point(|end| *end < range.end);
        let mut index = column.ends.partition_point(|end| *end <= range.start);
        while let (Some(page), Some(&end)) = (column.pages.get(index), column.ends.get(index)) {
            let first = end - u64::from(page.elements);
            let wanted = range.start.max(first)..range.end.min(end);
            if wanted.start < wanted.end {
                let place = Place { field: self.plan.field().name(), column: id, cluster: self.number, page: index };
                let within = |element: u64| usize::try_from(element - first).unwrap_or(usize::MAX);
                let elements = usize::try_from(page.elements).unwrap_or(usize::MAX);
                let wanted = within(wanted.start)..within(wanted.end);
                let goes_on = wanted.end < elements;
                if let Some((_, bytes)) = column.opened.as_ref().filter(|(opened, _)| *opened == index) {
                    out.decode(&column.encoding, bytes, elements, wanted).map_err(|e| place.blame(e))?;
                } else {
                    // Only pages of this range are fetched ahead.
                    let ahead = column.pages.get(..=last.min(column.pages.len() - 1)).unwrap_or_default();
                    let record = reader.fetch(self.source, ahead, index, self.table.max_key_size);
                    let record = record.map_err(|e| place.blame(e))?;
                    let record = reader.window.1.get(record).unwrap_or_default();
                    let started = Instant::now();
                    let opened = page.open(&column.encoding, record, &mut reader.decompressor, &mut reader.scratch);
                    let bytes = opened.map_err(|e| place.blame(e))?;
                    reader.cost.decompress += started.elapsed();
                    reader.cost.pages += 1;
                    reader.cost.compressed += record.len() as u64;
                    reader.cost.uncompressed += bytes.len() as u64;
                    out.decode(&column.encoding, bytes, elements, wanted).map_err(|e| place.blame(e))?;
                    if goes_on {
                        let mut kept = match column.opened.take() {
                            Some((_, kept)) => kept,
                            None => reader.spare.pop().unwrap_or_default(),
                        };
                        kept.clear();
                        kept.extend_from_slice(bytes);
                        column.opened = Some((index, kept));
                    }
                }
            }
            if end >= range.end {
                break;
            }
            index += 1;
        }
        Ok(())
    }
}
