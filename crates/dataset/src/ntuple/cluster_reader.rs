//! Opens entries of one field in one cluster: asks for just the pages that hold their elements, and decompresses them. It fetches
//! nothing itself, and does not know which entries are wanted, nor how clusters are joined.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Instant;

use rootfile::{Error, RangeBytes, Result};

use super::decode::{ElementSource, FieldBuilder, FieldPlan, empty};
use super::element::{Elements, Encoding};
use super::model::{Cluster, Page, PageList, Schema};
use super::page::Place;
use crate::codecs::Codecs;
use crate::known_ends::KnownEnds;
use crate::page_cache::{KeptPage, PageCache};

/// A cluster, and what is needed to open its pages.
#[derive(Clone, Copy)]
pub struct ClusterSource<'a> {
    /// The number of its file.
    pub file: u32,
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

impl<'a> ClusterSource<'a> {
    /// Appends some entries of a field. `runs` are ranges of entries in ascending order, counted from the first entry of the
    /// cluster.
    ///
    /// # Errors
    ///
    /// If the cluster does not have the entries, if a page cannot be read, or if the elements contradict the schema.
    pub fn append(
        self,
        plan: &FieldPlan,
        runs: &mut dyn Iterator<Item = Range<u64>>,
        (bytes, codecs): (&mut dyn RangeBytes, &mut Codecs),
        builder: &mut FieldBuilder,
    ) -> Result<()> {
        let mut pages = self.pages(plan.field().name(), bytes, codecs);
        for run in runs {
            let appended = builder.append_by(plan, self.list, self.cluster, run, &mut pages);
            appended.map_err(|e| e.file(pages.bytes.name(self.file)))?;
        }
        Ok(())
    }

    /// The elements of any columns of the cluster. `field` names their field in errors.
    pub fn pages<'r>(
        self,
        field: &'a str,
        bytes: &'r mut dyn RangeBytes,
        codecs: &'r mut Codecs,
    ) -> ClusterPages<'a, 'r> {
        ClusterPages { bytes, codecs, at: self, field, columns: HashMap::new() }
    }
}

/// The pages of a cluster.
pub struct ClusterPages<'a, 'r> {
    pub(super) bytes: &'r mut dyn RangeBytes,
    codecs: &'r mut Codecs,
    at: ClusterSource<'a>,
    field: &'a str,
    columns: HashMap<usize, ClusterColumn<'a>>,
}

impl Drop for ClusterPages<'_, '_> {
    fn drop(&mut self) {
        for (id, column) in self.columns.drain() {
            let Some(page) = column.opened else { continue };
            // The neighbouring piece begins in this page.
            let rest = match &self.codecs.pages {
                Some(kept) => kept.keep((self.at.file, self.at.number, id), page),
                None => Some(page.bytes),
            };
            if let Some(buffer) = rest {
                self.codecs.give_back(buffer);
            }
        }
    }
}

impl ElementSource for ClusterPages<'_, '_> {
    fn decode(&mut self, id: usize, range: Range<u64>, out: &mut Elements) -> Result<()> {
        self.decode_pages(id, &range, out, None)
    }

    fn pass(&mut self, id: usize, range: Range<u64>, out: &mut Elements) -> Result<u64> {
        let mut count = 0;
        self.decode_pages(id, &range, out, Some(&mut count))?;
        Ok(count)
    }
}

impl ClusterPages<'_, '_> {
    /// Decodes elements of a column, page by page. With `passed`, they are counted and not kept.
    fn decode_pages(
        &mut self,
        id: usize,
        range: &Range<u64>,
        out: &mut Elements,
        mut passed: Option<&mut u64>,
    ) -> Result<()> {
        let at = self.at;
        let column = match self.columns.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(ClusterColumn::new(at, id, self.codecs.pages.as_deref())?),
        };
        let pages = column.overlapping(range);
        if pages.len() > 1 && passed.is_none() {
            out.reserve(column.plausible(&pages, range, self.bytes.size(at.file)))?;
        }
        for page in pages.clone() {
            let place = Place { field: self.field, column: id, cluster: at.number, page };
            // Only pages of this range are fetched ahead.
            let decoded = column.decode((self.bytes, self.codecs, at), page..pages.end, range, out);
            decoded.map_err(|e| place.blame(e))?;
            if let Some(passed) = &mut passed {
                **passed += empty(out);
            }
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
    opened: Option<KeptPage>,
    /// Whether its only page has the ends of the collections of several fields.
    is_shared: bool,
}

/// Elements of a byte in the file for which room is made before they are decoded: numbers of elements are claims.
const PLAUSIBLE: u64 = 16;
/// Most elements for which room is made at once.
const MOST_PLAUSIBLE: u64 = 1 << 24;

impl<'a> ClusterColumn<'a> {
    fn new(at: ClusterSource<'a>, id: usize, kept: Option<&PageCache>) -> Result<Self> {
        let pages = at.cluster.pages(at.list, id).unwrap_or_default();
        let mut end = 0u64;
        let ends = pages.iter().map(|page| {
            end = end.saturating_add(page.elements.into());
            end
        });
        let (ends, encoding) = (ends.collect(), at.schema.encoding(id)?);
        let is_shared =
            pages.len() == 1 && encoding.column_type().is_index() && kept.is_some_and(|kept| kept.is_shared(id));
        let opened = kept.and_then(|kept| kept.take((at.file, at.number, id)));
        Ok(Self { encoding, pages, ends, opened, is_shared })
    }

    /// How many elements of a range these pages may well have, in a file of `size` bytes.
    fn plausible(&self, pages: &Range<usize>, range: &Range<u64>, size: u64) -> usize {
        let pages = self.pages.get(pages.clone()).unwrap_or_default();
        let stored = pages.iter().map(|page| page.stored_len().unwrap_or(0)).fold(0, u64::saturating_add);
        let most = stored.min(size).saturating_mul(PLAUSIBLE).min(MOST_PLAUSIBLE);
        usize::try_from((range.end - range.start).min(most)).unwrap_or(0)
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
        (bytes, codecs, at): (&mut dyn RangeBytes, &mut Codecs, ClusterSource<'_>),
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
        // The next collection begins at the end before it.
        let has_next_start =
            range.end == end && number + 1 < self.pages.len() && self.encoding.column_type().is_index();
        let is_left = wanted.end < elements || has_next_start;
        let (pages, encoding) = (self.pages.get(pages).unwrap_or_default(), &self.encoding);
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.number == number) {
            out.decode_on(encoding, &opened.bytes, elements, wanted, &mut opened.known)?;
            if !is_left
                && !self.is_shared
                && let Some(used) = self.opened.take()
            {
                codecs.give_back(used.bytes);
            }
            return Ok(());
        }
        let is_stored = page.is_stored(encoding)?;
        if !is_left && (is_stored || !self.is_shared) {
            let opened = open((bytes, codecs, at), pages, encoding, None)?;
            return out.decode(encoding, opened, elements, wanted);
        }
        // Its other elements will be asked for: it is decompressed where it is kept.
        if let Some(used) = self.opened.take() {
            codecs.give_back(used.bytes);
        }
        let len = page.raw_len(encoding)?;
        let (mut kept, mut known) = (codecs.spare_for(len), KnownEnds::default());
        if is_stored {
            let opened = open((bytes, codecs, at), pages, encoding, None)?;
            out.decode_on(encoding, opened, elements, wanted, &mut known)?;
            kept.clear();
            kept.extend_from_slice(opened);
        } else {
            let opened = open((bytes, codecs, at), pages, encoding, Some(&mut kept))?;
            out.decode_on(encoding, opened, elements, wanted, &mut known)?;
            kept.truncate(len);
        }
        self.opened = Some(KeptPage { number, bytes: kept, known });
        Ok(())
    }
}

/// The decompressed bytes of the first of some pages, in `out` if they are compressed in the file and it is given. The other pages will
/// be asked for after it.
fn open<'c>(
    (bytes, codecs, at): (&'c mut dyn RangeBytes, &'c mut Codecs, ClusterSource<'_>),
    pages: &[Page],
    encoding: &Encoding,
    out: Option<&'c mut Vec<u8>>,
) -> Result<&'c [u8]> {
    let (page, next) = pages.split_first().ok_or_else(|| Error::request("no page"))?;
    let Codecs { decompressor, scratch, joined, cost, .. } = codecs;
    let record = page.record(next, (bytes, at.file), at.max_key_size, joined)?;
    let started = Instant::now();
    let opened = page.open(encoding, record, decompressor, out.unwrap_or(scratch))?;
    cost.decompress += started.elapsed();
    cost.blocks += 1;
    cost.compressed += record.len() as u64;
    cost.uncompressed += opened.len() as u64;
    Ok(opened)
}
