//! Makes the pages of a cluster of which some entries are kept: the elements of these entries are decoded and encoded again, column
//! by column, in new pages.

use std::collections::HashMap;
use std::ops::Range;

use dataset::ntuple::cluster_reader::ClusterPages;
use dataset::ntuple::element::{ColumnType, Elements, Encoding, Ends, Kind};
use dataset::ntuple::model::ColumnRange;
use dataset::ntuple::page::put_page;
use rootfile::codec::{Compression, Compressor};
use rootfile::{Error, Result};

use super::job::{PageJob, TargetColumn, USUAL_COMPRESSION};
use super::outline::{Fate, SourceCluster, add_zeros, fate};
use super::slice::{KeptElements, contradiction, decode_elements, kept_elements};
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::pipeline::Emit;
use crate::table::ntuple::pages::{ClusterOutline, OutlinePage, PageBatch, PageBytes, PageRecord};

/// Bytes of a new page before compression.
const PAGE: u64 = 256 << 10;
/// Finished pages are handed over in batches of about this many bytes.
const HAND_OVER: usize = 1 << 20;

/// A column whose pages are made.
struct SlicedColumn {
    /// The column of the output, and that of the input.
    target: usize,
    column: usize,
    kept: KeptElements,
    compression: Compression,
    /// The elements of each page.
    pages: Vec<u32>,
    /// The number of the first page among the stored ones of the cluster.
    first: u32,
}

/// Makes the pages of the entries `kept` of a cluster, which begin with entry `first_entry` in the output.
pub(super) fn make(
    job: &PageJob,
    at: &SourceCluster<'_>,
    (kept, first_entry, begins_group): (&[Range<u64>], u64, bool),
    (batch, fetcher, compressor): (&mut PageBatch, &mut Fetcher, &mut Compressor),
    emit: Emit<'_, PageBatch>,
) -> Result<()> {
    let elements = kept_elements(at, kept, fetcher).map_err(|e| e.file(at.input.source.name()))?;
    let entries = kept.iter().map(|run| run.end - run.start).sum();
    let mut outline = ClusterOutline {
        first_entry,
        entries,
        columns: Vec::with_capacity(job.columns.len()),
        pages: Vec::new(),
        stored: 0,
        raw_bytes: 0,
        begins_group,
    };
    let columns = outline_columns(job, at, &elements, &mut outline)?;
    batch.outline = Some(Box::new(outline));
    batch.bytes.clear();
    batch.records.clear();
    for column in &columns {
        let Some(target) = job.columns.get(column.target) else { continue };
        let path = at.input.path_of(column.column);
        let blame = |e| at.blame(e, column.column, 0);
        let (mut bytes, codecs) = fetcher.of(&*at.input.source);
        let mut source = ColumnElements::new(at, column, at.cluster_source().pages(&path, &mut bytes, codecs))?;
        for (number, count) in (column.first..).zip(&column.pages) {
            let taken = source.take(target, *count as usize).map_err(blame)?;
            put_elements(target, &taken, (number, column.compression), batch, compressor).map_err(blame)?;
            if batch.bytes.len() >= HAND_OVER {
                emit(batch)?;
                batch.bytes.clear();
            }
        }
    }
    Ok(())
}

/// Lists the columns and pages of the cluster. Returns the columns whose pages are made.
fn outline_columns(
    job: &PageJob,
    at: &SourceCluster<'_>,
    elements: &HashMap<usize, KeptElements>,
    outline: &mut ClusterOutline,
) -> Result<Vec<SlicedColumn>> {
    let mut columns = Vec::new();
    let mut present = 0;
    for (id, target) in job.columns.iter().enumerate() {
        let start = outline.pages.len();
        let mut compression = None;
        match fate(job, at, outline.entries, (id, target))? {
            Fate::Absent => compression = Some(job.compression_of_zeros(target, USUAL_COMPRESSION)),
            Fate::Suppressed => present = id + 1,
            Fate::Elements { zeros, range: None } => {
                present = id + 1;
                compression = Some(job.compression_of_zeros(target, USUAL_COMPRESSION));
                add_zeros(outline, target, zeros)?;
            }
            Fate::Elements { range: Some((column, range)), .. } => {
                present = id + 1;
                let kept = elements.get(&column).cloned();
                let kept = kept.unwrap_or_else(|| KeptElements { zeros: 0, runs: [].into() });
                if at.number != target.origin {
                    add_zeros(outline, target, kept.zeros)?;
                }
                let setting = range.compression.unwrap_or(0);
                let (_, made) = target.depth(setting, at.source(id), at.input);
                compression = Some(made.to_root_setting().unsigned_abs());
                columns.push(outline_pages(target, (id, column), kept, made, outline)?);
            }
        }
        // Those of other columns are counted where the cluster is written.
        let first_element = target.per_entry.map_or(0, |each| outline.first_entry.saturating_mul(each));
        outline.columns.push(ColumnRange { first_element, compression, pages: start..outline.pages.len() });
    }
    outline.columns.truncate(present);
    Ok(columns)
}

fn outline_pages(
    target: &TargetColumn,
    (id, column): (usize, usize),
    kept: KeptElements,
    compression: Compression,
    outline: &mut ClusterOutline,
) -> Result<SlicedColumn> {
    let unknown =
        || Error::unsupported("some entries of a cluster with a column type of a later version of the format");
    let encoding = target.encoding.ok_or_else(unknown)?;
    let each = (PAGE * 8 / u64::from(encoding.bits().max(1))).max(1);
    let first = outline.stored;
    let mut left = kept.stored();
    let mut pages = Vec::new();
    while left > 0 {
        let count = left.min(each);
        left -= count;
        let elements = u32::try_from(count).unwrap_or(u32::MAX);
        outline.raw_bytes += encoding.page_len(elements as usize).unwrap_or(0) as u64;
        outline.pages.push(OutlinePage { elements, bytes: PageBytes::Stored(outline.stored) });
        outline.stored += 1;
        pages.push(elements);
    }
    Ok(SlicedColumn { target: id, column, kept, compression, pages, first })
}

/// Encodes a page, compresses it, and seals it.
fn put_elements(
    target: &TargetColumn,
    elements: &Elements,
    (number, compression): (u32, Compression),
    batch: &mut PageBatch,
    compressor: &mut Compressor,
) -> Result<()> {
    let encoding = target.encoding.ok_or_else(contradiction)?;
    let mut raw = Vec::with_capacity(encoding.page_len(elements.len()).unwrap_or(0));
    elements.encode(&encoding, 0..elements.len(), &mut raw)?;
    let offset = batch.bytes.len();
    let (len, _) = put_page(&raw, compression, compressor, true, &mut batch.bytes)?;
    batch.records.push(PageRecord { number, shared: None, offset, stays: None, len, has_checksum: true });
    Ok(())
}

/// Reads the kept elements of a column, in their order.
struct ColumnElements<'a, 'r> {
    pages: ClusterPages<'a, 'r>,
    column: usize,
    kind: Kind,
    /// The ranges that are left, the next one last.
    runs: Vec<Range<u64>>,
    /// The end of the last collection so far, in the output.
    end: u64,
    /// Values so far of each alternative of a variant.
    counts: Vec<u64>,
}

impl<'a, 'r> ColumnElements<'a, 'r> {
    fn new(at: &SourceCluster<'_>, column: &SlicedColumn, pages: ClusterPages<'a, 'r>) -> Result<Self> {
        let kind = at.input.ntuple.schema.encoding(column.column)?.kind();
        let runs = column.kept.runs.iter().rev().cloned().collect();
        Ok(Self { pages, column: column.column, kind, runs, end: 0, counts: Vec::new() })
    }

    /// The next `count` elements, as the output has them.
    fn take(&mut self, target: &TargetColumn, count: usize) -> Result<Elements> {
        // A reduced float of many bits has more digits than a single one.
        use ColumnType::{Real32Quant, Real32Trunc, Real64, SplitReal64};
        let is_wide = |to: &Encoding| matches!(to.column_type(), Real64 | SplitReal64 | Real32Quant | Real32Trunc);
        let is_double = target.encoding.as_ref().is_some_and(is_wide);
        let mut taken = Elements::new(self.kind, is_double);
        let mut ends = Vec::new();
        let mut left = count as u64;
        while left > 0 {
            let run = self.runs.pop().ok_or_else(contradiction)?;
            let cut = run.end.min(run.start + left);
            if cut < run.end {
                self.runs.push(cut..run.end);
            }
            left -= cut - run.start;
            match self.kind {
                Kind::Index => self.take_ends(run.start..cut, &mut ends)?,
                _ => decode_elements(&mut self.pages, self.column, run.start..cut, &mut taken)?,
            }
        }
        match &mut taken {
            Elements::Index(index) => *index = Ends::of(ends.into_iter())?,
            Elements::Switch(switches) => {
                for (index, tag) in switches {
                    let tag = *tag as usize;
                    if self.counts.len() <= tag {
                        self.counts.resize(tag + 1, 0);
                    }
                    let count = self.counts.get_mut(tag).filter(|_| tag > 0);
                    *index = count.map_or(0, |count| {
                        *count += 1;
                        *count - 1
                    });
                }
            }
            _ => {}
        }
        Ok(taken)
    }

    /// Appends the ends of some collections, counted over the kept ones.
    fn take_ends(&mut self, range: Range<u64>, out: &mut Vec<u64>) -> Result<()> {
        let with_before = range.start.saturating_sub(1)..range.end;
        let mut ends = Elements::new(Kind::Index, false);
        decode_elements(&mut self.pages, self.column, with_before, &mut ends)?;
        let Elements::Index(ends) = &ends else { return Err(contradiction()) };
        let offsets = ends.offsets().get(usize::from(range.start > 0)..).unwrap_or_default();
        for pair in offsets.windows(2) {
            let &[start, end] = pair else { continue };
            self.end += u64::try_from(end - start).map_err(|_| contradiction())?;
            out.push(self.end);
        }
        Ok(())
    }
}
