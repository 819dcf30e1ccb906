//! Appends the pages of an RNTuple, and collects its page lists: cluster by cluster, one list for each cluster group. Pages that
//! many clusters share are stored once.

use std::collections::HashMap;

use dataset::ntuple::element::ColumnType;
use dataset::ntuple::model::{Cluster, ClusterGroup, ColumnRange, Link, Locator, Page, PageList};
use dataset::ntuple::page::{CHECKSUM, put_page};
use dataset::ntuple::{MAX_KEY_SIZE, blob_key, write_page_list, zero_page};
use rootfile::codec::{Compression, Compressor};
use rootfile::{Error, FileWriter, Result, Run};

use crate::commit::append::{Append, Batch};
use crate::table::ntuple::made_pages::{ColumnPages, MadePage};
use crate::table::ntuple::pages::{ClusterOutline, OutlinePage, PageBatch, PageBytes, ZeroColumn};

/// A cluster group ends where its page list reaches about this many bytes. Readers take whole lists, and a writer holds one.
const GROUP_BYTES: usize = 8 << 20;
/// Bytes of a page in a page list.
const PAGE_BYTES: usize = 16;
/// Bytes of a column, besides its pages.
const COLUMN_BYTES: usize = 24;
/// Bytes of a cluster, besides its columns.
const CLUSTER_BYTES: usize = 36;

/// Bytes of memory for each byte of a page list that is collected, and then written.
pub(crate) const MEMORY_FACTOR: u64 = 4;

/// Fewest bytes of a group's page list.
const LEAST_GROUP: u64 = 64 << 10;

/// Where cluster groups end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupRule {
    /// A group ends where its page list reaches about this many bytes,
    bytes: usize,
    /// or after this many clusters.
    clusters: Option<u32>,
}

impl GroupRule {
    /// Groups of so many clusters, if their page lists are not too large.
    pub fn of(clusters: Option<u32>) -> Self {
        Self { bytes: GROUP_BYTES, clusters }
    }

    /// The same, so that collecting a page list takes at most `memory` if that is not too little.
    pub fn within(self, memory: u64) -> Self {
        let bytes = (memory / MEMORY_FACTOR).max(LEAST_GROUP);
        Self { bytes: usize::try_from(bytes).unwrap_or(usize::MAX).min(GROUP_BYTES), ..self }
    }
}

/// Most bytes of memory for collecting page lists of `bytes` in all.
pub(crate) fn list_memory(bytes: u64) -> u64 {
    // A cluster is not divided, and its list may exceed the limit.
    bytes.min(2 * GROUP_BYTES as u64).max(1 << 16) * MEMORY_FACTOR
}

/// A page in the output.
#[derive(Clone, Copy, Debug)]
struct StoredPage {
    offset: u64,
    size: u64,
    has_checksum: bool,
}

impl StoredPage {
    fn page(self, elements: u32) -> Page {
        let locator = Locator::File { offset: self.offset, size: self.size };
        Page { elements, has_checksum: self.has_checksum, locator }
    }
}

/// Pages of zeroes are the same if they have the same bytes and compression. The bytes follow from their number, except for
/// quantised columns: there from the type and the range as well.
type ZeroKey = (usize, i32, u16, [u64; 2]);

/// The pages of one RNTuple on their way into its file.
pub(crate) struct PageSink {
    header_checksum: u64,
    /// The compression of page lists, and of zeroes in clusters that name none.
    compression: Compression,
    compressor: Compressor,
    cluster: Option<Box<ClusterOutline>>,
    /// The pages of the current cluster, by number.
    stored: Vec<Option<StoredPage>>,
    /// The pages that later clusters share, by number.
    shared: Vec<Option<StoredPage>>,
    zeros: HashMap<ZeroKey, StoredPage>,
    list: PageList,
    list_bytes: usize,
    groups: GroupRule,
    /// For each column whose elements are counted here, the column that counts them.
    counted: Vec<Option<usize>>,
    /// The elements of these columns so far.
    elements: Vec<u64>,
    /// What was written.
    pub written: WrittenPages,
}

/// The clusters of an RNTuple as they were written.
#[derive(Debug, Default)]
pub(crate) struct WrittenPages {
    /// Its cluster groups.
    pub groups: Vec<ClusterGroup>,
    /// Entries.
    pub entries: u64,
    /// Clusters.
    pub clusters: u64,
    /// Pages, those that are shared each time.
    pub pages: u64,
    /// Bytes of pages before compression; those that share bytes count once.
    pub tot_bytes: u64,
    /// Their bytes on disk, without checksums.
    pub zip_bytes: u64,
    /// Bytes of these checksums.
    pub checksum_bytes: u64,
}

impl WrittenPages {
    fn count(&mut self, page: StoredPage) {
        self.zip_bytes += page.size;
        self.checksum_bytes += if page.has_checksum { CHECKSUM } else { 0 };
    }
}

impl Batch for PageBatch {
    fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn held(&self) -> u64 {
        self.bytes() + self.outline.as_ref().map_or(0, |outline| outline.memory())
    }

    fn forget(&mut self) {
        self.outline = None;
        self.records.clear();
    }
}

impl Append for PageSink {
    type Batch = PageBatch;

    fn append(&mut self, writer: &mut FileWriter, batch: &mut PageBatch) -> Result<()> {
        if let Some(outline) = batch.outline.take() {
            self.end_cluster(writer)?;
            if outline.begins_group {
                self.end_group(writer)?;
            }
            self.stored.clear();
            self.stored.resize(outline.stored as usize, None);
            self.cluster = Some(outline);
        }
        if batch.bytes.is_empty() && batch.records.is_empty() {
            return Ok(());
        }
        let start = if batch.bytes.is_empty() { 0 } else { put_blob(writer, &batch.bytes)? };
        for record in &batch.records {
            let checksum = if record.has_checksum { CHECKSUM } else { 0 };
            writer.keep_runs(record.stays.map(|first| Run { first, len: record.len as u64 + checksum }));
            let page = StoredPage {
                offset: record.stays.unwrap_or(start + record.offset as u64),
                size: record.len as u64,
                has_checksum: record.has_checksum,
            };
            self.written.count(page);
            if let Some(place) = self.stored.get_mut(record.number as usize) {
                *place = Some(page);
            }
            if let Some(shared) = record.shared.map(|number| number as usize) {
                if self.shared.len() <= shared {
                    self.shared.resize(shared + 1, None);
                }
                if let Some(place) = self.shared.get_mut(shared) {
                    *place = Some(page);
                }
            }
        }
        Ok(())
    }
}

impl PageSink {
    /// A sink for an RNTuple whose header has this checksum. `counted[c]` is the column whose count of elements gives column c the
    /// number of its first element (that of the field's first representation); none if the outlines of c have it.
    pub fn new(header_checksum: u64, compression: Compression, counted: Vec<Option<usize>>, groups: GroupRule) -> Self {
        Self {
            header_checksum,
            compression,
            compressor: Compressor::new(),
            cluster: None,
            stored: Vec::new(),
            shared: Vec::new(),
            zeros: HashMap::new(),
            list: PageList::default(),
            list_bytes: 0,
            groups,
            elements: vec![0; counted.len()],
            counted,
            written: WrittenPages::default(),
        }
    }

    /// Adds columns behind the others, whose first stored elements have these numbers.
    pub fn add_columns(&mut self, first_elements: impl Iterator<Item = u64>) {
        for first_element in first_elements {
            self.counted.push(Some(self.counted.len()));
            self.elements.push(first_element);
        }
    }

    /// Appends the cluster of a writer: the entries behind `first_entry`, the pages of the columns that it was made with, and zeroes of
    /// those behind. Pages that are the same as an earlier one of the cluster are not stored again.
    pub fn append_made(
        &mut self,
        writer: &mut FileWriter,
        (first_entry, entries): (u64, u64),
        (made, zeros): (&[ColumnPages], &[ZeroColumn]),
    ) -> Result<()> {
        self.end_cluster(writer)?;
        let (mut outline, pages) = outline(made, (first_entry, entries));
        zeros.iter().try_for_each(|column| outline.add_zero_column(column))?;
        self.stored.clear();
        self.stored.resize(outline.stored as usize, None);
        self.cluster = Some(Box::new(outline));
        let checksums: Vec<[u8; CHECKSUM as usize]> =
            pages.iter().map(|(_, page)| page.checksum.to_le_bytes()).collect();
        for key in keys(&pages) {
            let of_key = pages.iter().zip(&checksums).enumerate().take(key.end).skip(key.start);
            let len: u64 = of_key.clone().map(|(_, ((_, page), _))| page.stored_len()).sum();
            let header = blob_key(writer.position(), len, writer.datime())?;
            let mut parts: Vec<&[u8]> = Vec::with_capacity(1 + 2 * key.len());
            parts.push(&header);
            let mut offset = writer.position() + header.len() as u64;
            for (number, ((bytes, page), checksum)) in of_key {
                let stored = StoredPage { offset, size: page.len as u64, has_checksum: page.has_checksum };
                // Numbers count stored pages, in order.
                if let Some(place) = self.stored.get_mut(number) {
                    *place = Some(stored);
                }
                self.written.count(stored);
                offset += page.stored_len();
                parts.push(bytes);
                if page.has_checksum {
                    parts.push(checksum);
                }
            }
            writer.append_parts(&parts)?;
        }
        Ok(())
    }

    /// Ends the cluster group here.
    pub fn end_group_here(&mut self, writer: &mut FileWriter) -> Result<()> {
        self.end_cluster(writer)?;
        self.end_group(writer)
    }

    /// Lists the pages of the current cluster.
    fn end_cluster(&mut self, writer: &mut FileWriter) -> Result<()> {
        let Some(outline) = self.cluster.take() else { return Ok(()) };
        let outline = *outline;
        let bytes = CLUSTER_BYTES + outline.columns.len() * COLUMN_BYTES + outline.pages.len() * PAGE_BYTES;
        if self.list_bytes > 0 && self.list_bytes + bytes > self.groups.bytes {
            self.end_group(writer)?;
        }
        self.list_bytes += bytes;
        let mut columns = outline.columns;
        for range in &mut columns {
            let setting = range.compression.and_then(|setting| i32::try_from(setting).ok());
            let compression = setting.and_then(Compression::from_root_setting).unwrap_or(self.compression);
            let start = self.list.pages.len();
            for page in outline.pages.get(range.pages.clone()).unwrap_or_default() {
                let place = match page.bytes {
                    PageBytes::Stored(number) => self.stored.get(number as usize).copied().flatten(),
                    PageBytes::Shared(number) => self.shared.get(number as usize).copied().flatten(),
                    PageBytes::Zeros(encoding) => {
                        let elements = page.elements as usize;
                        let len = encoding.page_len(elements).unwrap_or(0);
                        let (least, most) = encoding.range();
                        let (bits, range) = match encoding.column_type() {
                            ColumnType::Real32Quant => (encoding.bits(), [least.to_bits(), most.to_bits()]),
                            _ => (0, [0; 2]),
                        };
                        let key = (len, compression.to_root_setting(), bits, range);
                        let known = self.zeros.get(&key).copied();
                        let page = match known {
                            Some(page) => page,
                            None => self.put_page(writer, &zero_page(&encoding, elements)?, compression)?,
                        };
                        self.zeros.insert(key, page);
                        Some(page)
                    }
                };
                let place = place.ok_or_else(|| Error::unsupported("internal error: a page was not written"))?;
                self.list.pages.push(place.page(page.elements));
            }
            range.pages = start..self.list.pages.len();
        }
        self.count_elements(&mut columns);
        self.written.pages += outline.pages.len() as u64;
        self.written.clusters += 1;
        self.written.entries = outline.first_entry + outline.entries;
        self.written.tot_bytes += outline.raw_bytes;
        self.list.clusters.push(Cluster { first_entry: outline.first_entry, entries: outline.entries, columns });
        if self.groups.clusters.is_some_and(|most| self.list.clusters.len() >= most as usize) {
            self.end_group(writer)?;
        }
        Ok(())
    }

    /// Counts the elements of columns whose outlines do not.
    fn count_elements(&mut self, columns: &mut [ColumnRange]) {
        let mut next = self.elements.clone();
        for (range, primary) in columns.iter_mut().zip(&self.counted) {
            let Some(primary) = *primary else { continue };
            range.first_element = self.elements.get(primary).copied().unwrap_or(0);
            let pages = self.list.pages.get(range.pages.clone()).unwrap_or_default();
            if let Some(next) = next.get_mut(primary) {
                *next += pages.iter().map(|page| u64::from(page.elements)).sum::<u64>();
            }
        }
        self.elements = next;
    }

    /// Writes the page list of the current group.
    fn end_group(&mut self, writer: &mut FileWriter) -> Result<()> {
        let list = std::mem::take(&mut self.list);
        self.list_bytes = 0;
        let Some(first) = list.clusters.first() else { return Ok(()) };
        let first_entry = first.first_entry;
        let envelope = write_page_list(self.header_checksum, &list)?;
        let page_list = put_block(writer, &envelope, self.compression, &mut self.compressor)?;
        let clusters = u32::try_from(list.clusters.len()).unwrap_or(u32::MAX);
        let entries = self.written.entries - first_entry;
        self.written.groups.push(ClusterGroup { first_entry, entries, clusters, page_list });
        Ok(())
    }

    fn put_page(&mut self, writer: &mut FileWriter, raw: &[u8], compression: Compression) -> Result<StoredPage> {
        let mut page = Vec::new();
        let (len, _) = put_page(raw, compression, &mut self.compressor, true, &mut page)?;
        let stored = StoredPage { offset: put_blob(writer, &page)?, size: len as u64, has_checksum: true };
        self.written.tot_bytes += raw.len() as u64;
        self.written.count(stored);
        Ok(stored)
    }
}

/// A page to store: its bytes and its description.
type ToStore<'a> = (&'a [u8], &'a MadePage);

/// The outline of a cluster, and the pages to store, by their numbers in it.
fn outline(made: &[ColumnPages], (first_entry, entries): (u64, u64)) -> (ClusterOutline, Vec<ToStore<'_>>) {
    let mut stored: Vec<ToStore<'_>> = Vec::new();
    let (mut pages, mut columns, mut raw_bytes) = (Vec::new(), Vec::with_capacity(made.len()), 0);
    let mut numbers: HashMap<(usize, usize), u32> = HashMap::new();
    for (column, made) in made.iter().enumerate() {
        let start = pages.len();
        for (at, page) in made.pages.iter().enumerate() {
            let number = match page.same_as.and_then(|same| numbers.get(&same)) {
                Some(number) => *number,
                None => {
                    stored.push((made.stored(page), page));
                    raw_bytes += page.raw as u64;
                    u32::try_from(stored.len() - 1).unwrap_or(u32::MAX)
                }
            };
            numbers.insert((column, at), number);
            pages.push(OutlinePage { elements: page.elements, bytes: PageBytes::Stored(number) });
        }
        let compression = u32::try_from(made.compression.to_root_setting()).unwrap_or(0);
        columns.push(ColumnRange { first_element: 0, compression: Some(compression), pages: start..pages.len() });
    }
    let count = u32::try_from(stored.len()).unwrap_or(u32::MAX);
    let outline =
        ClusterOutline { first_entry, entries, columns, pages, stored: count, raw_bytes, begins_group: false };
    (outline, stored)
}

/// Ranges of pages that share a key: as many as it may hold.
fn keys(pages: &[ToStore<'_>]) -> Vec<std::ops::Range<usize>> {
    let (mut keys, mut start, mut len) = (Vec::new(), 0, 0);
    for (at, (_, page)) in pages.iter().enumerate() {
        if at > start && len + page.stored_len() > MAX_KEY_SIZE {
            keys.push(start..at);
            (start, len) = (at, 0);
        }
        len += page.stored_len();
    }
    if start < pages.len() {
        keys.push(start..pages.len());
    }
    keys
}

/// Appends a block that is compressed if that makes it smaller.
pub(crate) fn put_block(
    writer: &mut FileWriter,
    block: &[u8],
    compression: Compression,
    compressor: &mut Compressor,
) -> Result<Link> {
    let mut packed = Vec::new();
    let packed = if compressor.compress(compression, block, &mut packed)? { &packed } else { block };
    let locator = Locator::File { offset: put_blob(writer, packed)?, size: packed.len() as u64 };
    Ok(Link { len: block.len() as u64, locator })
}

/// Appends bytes with a key of their own, and returns their offset.
fn put_blob(writer: &mut FileWriter, bytes: &[u8]) -> Result<u64> {
    if !writer.is_update() {
        let key = blob_key(writer.position(), bytes.len() as u64, writer.datime())?;
        writer.append(&key)?;
        let offset = writer.position();
        writer.append(bytes)?;
        return Ok(offset);
    }
    // A key of a far position is longer, also where it lies in a gap.
    let len = blob_key(writer.position(), bytes.len() as u64, writer.datime())?.len() + bytes.len();
    let at = writer.place_for(len);
    let mut record = blob_key(at, bytes.len() as u64, writer.datime())?;
    let offset = at + record.len() as u64;
    record.extend_from_slice(bytes);
    if record.len() < len {
        // The rest, too short for a key.
        let rest = i32::try_from(len - record.len()).unwrap_or(0);
        record.extend_from_slice(&(-rest).to_be_bytes());
        record.resize(len, 0);
    }
    writer.append_at(at, &record)?;
    Ok(offset)
}
