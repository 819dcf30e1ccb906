//! Reads entries of one field from one cluster: fetches and decompresses just the pages that hold their elements. It does not
//! know which entries are wanted, nor how clusters are joined.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::{Duration, Instant};

use rootfile::codec::Decompressor;
use rootfile::{Error, Result, Source};

use super::decode::{ElementSource, FieldBuilder, FieldPlan};
use super::element::{Elements, Encoding};
use super::model::{Cluster, Page, PageList, Schema};
use super::page::{Place, check_within};

/// Pages that lie one after the other are fetched together, up to this many bytes.
const FETCH: u64 = 256 << 10;

/// A cluster, and what is needed to read its pages.
#[derive(Clone, Copy)]
pub struct ClusterSource<'a> {
    /// The file.
    pub source: &'a dyn Source,
    /// The schema of its RNTuple.
    pub schema: &'a Schema,
    /// Most bytes of one key, as the anchor says.
    pub max_key_size: u64,
    /// The page list that has its pages.
    pub list: &'a PageList,
    /// The cluster.
    pub cluster: &'a Cluster,
    /// The number of the cluster, for errors.
    pub number: usize,
}

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
    window: Window,
    scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
    cost: PageCost,
}

/// Bytes of a file.
#[derive(Default)]
struct Window {
    /// The offset of the first byte.
    offset: u64,
    /// How many bytes. The buffer may have more: it only grows.
    len: usize,
    /// Whether the bytes lie elsewhere in the file too: those of a page in several keys.
    is_scattered: bool,
    bytes: Vec<u8>,
}

impl Window {
    /// Where the bytes of a record are, if all are here.
    fn find(&self, offset: u64, len: usize) -> Option<Range<usize>> {
        let start =
            usize::try_from(offset.checked_sub(self.offset)?).ok().filter(|start| *start == 0 || !self.is_scattered)?;
        let end = start.checked_add(len).filter(|end| *end <= self.len)?;
        Some(start..end)
    }
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

    /// Appends some entries of a field. `runs` are ranges of entries in ascending order, counted from the first entry of the
    /// cluster.
    ///
    /// # Errors
    ///
    /// If the cluster does not have the entries, if a page cannot be read, or if the elements contradict the schema.
    pub fn append(
        &mut self,
        at: ClusterSource<'_>,
        plan: &FieldPlan,
        runs: &mut dyn Iterator<Item = Range<u64>>,
        builder: &mut FieldBuilder,
    ) -> Result<()> {
        let mut pages = self.pages(at, plan.field().name());
        for run in runs {
            builder.append(at.list, at.cluster, run, &mut pages).map_err(|e| e.file(at.source.name()))?;
        }
        Ok(())
    }

    /// The elements of any columns of a cluster. `field` names their field in errors.
    pub fn pages<'a, 'r>(&'r mut self, at: ClusterSource<'a>, field: &'a str) -> ClusterPages<'a, 'r> {
        // The window may be of another file.
        self.window.len = 0;
        ClusterPages { reader: self, at, field, columns: HashMap::new() }
    }

    /// The decompressed bytes of the first of some pages. The others are fetched with it, as far as they lie behind it.
    fn open(&mut self, at: ClusterSource<'_>, pages: &[Page], encoding: &Encoding) -> Result<&[u8]> {
        let page = pages.first().ok_or_else(|| Error::request("no page"))?;
        let record = self.fetch(at, page, pages.get(1..).unwrap_or_default())?;
        let record = self.window.bytes.get(record).unwrap_or_default();
        let started = Instant::now();
        let bytes = page.open(encoding, record, &mut self.decompressor, &mut self.scratch)?;
        self.cost.decompress += started.elapsed();
        self.cost.pages += 1;
        self.cost.compressed += record.len() as u64;
        self.cost.uncompressed += bytes.len() as u64;
        Ok(bytes)
    }

    /// Where the window has the record of a page.
    fn fetch(&mut self, at: ClusterSource<'_>, page: &Page, next: &[Page]) -> Result<Range<usize>> {
        let (offset, size) = page.extent()?;
        let len = usize::try_from(size).map_err(|_| Error::corrupt(format!("a page of {size} bytes")))?;
        if let Some(found) = self.window.find(offset, len) {
            return Ok(found);
        }
        let started = Instant::now();
        self.window.len = 0;
        self.window.is_scattered = at.max_key_size > 0 && size > at.max_key_size;
        if self.window.is_scattered {
            self.window.bytes = page.read(at.source, at.max_key_size)?;
            self.window.len = self.window.bytes.len();
        } else {
            check_within((offset, size), at.source.size())?;
            let mut end = offset + size;
            for (start, size) in next.iter().map_while(|page| page.extent().ok()) {
                match start.checked_add(size) {
                    Some(more) if start == end && more - offset <= FETCH && more <= at.source.size() => end = more,
                    _ => break,
                }
            }
            let fetched = usize::try_from(end - offset).unwrap_or(usize::MAX);
            if self.window.bytes.len() < fetched {
                self.window.bytes.resize(fetched, 0);
            }
            at.source.read_exact_at(offset, self.window.bytes.get_mut(..fetched).unwrap_or_default())?;
            self.window.len = fetched;
        }
        self.window.offset = offset;
        self.cost.fetch += started.elapsed();
        Ok(0..len)
    }
}

/// The pages of a cluster.
pub struct ClusterPages<'a, 'r> {
    reader: &'r mut PageReader,
    at: ClusterSource<'a>,
    field: &'a str,
    columns: HashMap<usize, ClusterColumn<'a>>,
}

impl Drop for ClusterPages<'_, '_> {
    fn drop(&mut self) {
        let opened = self.columns.drain().filter_map(|(_, column)| column.opened);
        self.reader.spare.extend(opened.map(|(_, bytes)| bytes));
    }
}

impl ElementSource for ClusterPages<'_, '_> {
    fn decode(&mut self, id: usize, range: Range<u64>, out: &mut Elements) -> Result<()> {
        let at = self.at;
        let column = match self.columns.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(ClusterColumn::new(at, id)?),
        };
        let pages = column.overlapping(&range);
        for page in pages.clone() {
            let place = Place { field: self.field, column: id, cluster: at.number, page };
            // Only pages of this range are fetched ahead.
            let decoded = column.decode((self.reader, at), page..pages.end, &range, out);
            decoded.map_err(|e| place.blame(e))?;
        }
        Ok(())
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

impl<'a> ClusterColumn<'a> {
    fn new(at: ClusterSource<'a>, id: usize) -> Result<Self> {
        let pages = at.cluster.pages(at.list, id).unwrap_or_default();
        let mut end = 0u64;
        let ends = pages.iter().map(|page| {
            end = end.saturating_add(page.elements.into());
            end
        });
        Ok(Self { encoding: at.schema.encoding(id)?, ends: ends.collect(), pages, opened: None })
    }

    /// The pages that may have some of these elements.
    fn overlapping(&self, range: &Range<u64>) -> Range<usize> {
        let from = self.ends.partition_point(|end| *end <= range.start);
        let before_last = self.ends.partition_point(|end| *end < range.end);
        from..(before_last + 1).min(self.ends.len()).max(from)
    }

    /// Decodes the elements of `range` that the first of `pages` has.
    fn decode(
        &mut self,
        (reader, at): (&mut PageReader, ClusterSource<'_>),
        pages: Range<usize>,
        range: &Range<u64>,
        out: &mut Elements,
    ) -> Result<()> {
        let number = pages.start;
        let (Some(page), Some(&end)) = (self.pages.get(number), self.ends.get(number)) else { return Ok(()) };
        let first = end - u64::from(page.elements);
        let within = |element: u64| usize::try_from(element.clamp(first, end) - first).unwrap_or(usize::MAX);
        let (wanted, elements) = (within(range.start)..within(range.end), within(end));
        if wanted.is_empty() {
            return Ok(());
        }
        if let Some((opened, bytes)) = &self.opened
            && *opened == number
        {
            return out.decode(&self.encoding, bytes, elements, wanted);
        }
        let kept = (wanted.end < elements).then(|| {
            let old = self.opened.take().map(|(_, bytes)| bytes);
            old.or_else(|| reader.spare.pop()).unwrap_or_default()
        });
        let bytes = reader.open(at, self.pages.get(pages).unwrap_or_default(), &self.encoding)?;
        out.decode(&self.encoding, bytes, elements, wanted)?;
        if let Some(mut kept) = kept {
            kept.clear();
            kept.extend_from_slice(bytes);
            self.opened = Some((number, kept));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rootfile::MemoryFile;

    use super::*;
    use crate::ntuple::model::Locator;

    #[test]
    fn pages_behind_are_fetched_only_if_the_file_has_them() {
        let file = MemoryFile((0..32).collect());
        let page = |offset, size| Page { elements: 8, has_checksum: false, locator: Locator::File { offset, size } };
        let (list, schema) = (PageList::default(), Schema::default());
        let cluster = Cluster { first_entry: 0, entries: 8, columns: Vec::new() };
        let (schema, list, cluster) = (&schema, &list, &cluster);
        let at = ClusterSource { source: &file, schema, max_key_size: 0, list, cluster, number: 0 };
        let fetched = |pages: &[Page]| {
            let mut reader = PageReader::new();
            reader.fetch(at, &pages[0], &pages[1..]).map(|found| (found, reader.window.len))
        };
        assert_eq!(fetched(&[page(4, 8), page(12, 8), page(24, 8)]).unwrap(), (0..8, 16), "the last is not adjacent");
        for size in [21, u64::MAX - 12, u64::MAX] {
            assert_eq!(fetched(&[page(4, 8), page(12, size)]).unwrap(), (0..8, 8));
            let error = fetched(&[page(12, size)]).unwrap_err().to_string();
            assert!(error.contains("beyond the file's end"), "{error}");
        }
    }
}
