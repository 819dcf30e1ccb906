//! Moves pages: as they are, with another compression, in another encoding, or with other entry numbers. Checksums are verified, and
//! the ends of collections and the tags of variants are proved in any case.

use dataset::ntuple::cluster_reader::ClusterSource;
use dataset::ntuple::model::{Locator, Ntuple, PageList};
use dataset::ntuple::page::{check_within, put_page};
use dataset::ntuple::soundness::Proofs;
use dataset::ntuple::{add_to_page, is_one_key, read_blob, recode_page};
use rootfile::bytes::make_room;
use rootfile::codec::{CODEC_ROOM, Compressor};
use rootfile::{Error, Result};

use super::job::{PageInput, PageJob};
use super::outline::{MovedPage, SourceCluster, blame};
use super::slice_work;
use super::tasks::{ClusterWork, PageTask};
use crate::execute::fetch::tree::fetcher::{Fetcher, read_at};
use crate::execute::pipeline::{Emit, Work};
use crate::table::depth::Depth;
use crate::table::ntuple::pages::{PageBatch, PageRecord};

/// Work on an RNTuple.
pub(super) struct PageWork<'a> {
    pub job: &'a PageJob,
}

/// Buffers and codecs of one worker.
pub(super) struct PageScratch {
    batch: PageBatch,
    record: Vec<u8>,
    raw: Vec<u8>,
    added: Vec<u8>,
    fetcher: Fetcher,
    compressor: Compressor,
}

impl Work for PageWork<'_> {
    type Task = PageTask;
    type Batch = PageBatch;
    type Scratch = PageScratch;

    fn scratch(&self) -> PageScratch {
        PageScratch {
            batch: PageBatch::default(),
            record: Vec::new(),
            raw: Vec::new(),
            added: Vec::new(),
            fetcher: Fetcher::new(),
            compressor: Compressor::new(),
        }
    }

    fn perform(&self, task: PageTask, scratch: &mut PageScratch, emit: Emit<'_, PageBatch>) -> Result<()> {
        let no_input = || Error::request("an input that is not there");
        let input = self.job.inputs.get(task.input).ok_or_else(no_input)?;
        let stays = self.job.stays == Some(task.input) && !self.job.check;
        if let Some(list) = task.proof.as_ref().filter(|_| !stays) {
            prove_cluster(input, (list, task.cluster), &mut scratch.fetcher)?;
        }
        match task.work {
            ClusterWork::Move { outline, pages } => {
                scratch.batch.outline = outline;
                scratch.batch.records.clear();
                let is_copy = pages.first().is_none_or(|page| page.depth == Depth::Copy);
                match is_copy {
                    true if stays => {
                        scratch.batch.bytes.clear();
                        scratch.batch.records.extend(pages.iter().map(stay));
                    }
                    true => {
                        self.copy(input, (task.cluster, &pages), scratch)?;
                        if self.job.stays == Some(task.input) {
                            scratch.batch.bytes.clear();
                            scratch.batch.records.clear();
                            scratch.batch.records.extend(pages.iter().map(stay));
                        }
                    }
                    false => self.make(input, (task.cluster, &pages), scratch)?,
                }
                Ok(())
            }
            ClusterWork::Slice(slice) => {
                let Some(cluster) = slice.list.clusters.first() else { return Ok(()) };
                let list = &slice.list;
                prove_cluster(input, (list, task.cluster), &mut scratch.fetcher)?;
                let at = SourceCluster { input, number: task.input, list, cluster, cluster_number: task.cluster };
                let entries = (slice.kept.as_slice(), slice.first_entry, slice.begins_group);
                let PageScratch { batch, fetcher, compressor, .. } = scratch;
                slice_work::make(self.job, &at, entries, (batch, fetcher, compressor), emit)
            }
        }
    }

    fn rest<'s>(&self, scratch: &'s mut PageScratch) -> &'s mut PageBatch {
        &mut scratch.batch
    }
}

impl PageWork<'_> {
    /// Copies pages. Neighbours are read in one call.
    fn copy(
        &self,
        input: &PageInput,
        (cluster, pages): (usize, &[MovedPage]),
        scratch: &mut PageScratch,
    ) -> Result<()> {
        let PageScratch { batch, raw, fetcher, .. } = scratch;
        let mut at = 0;
        let is_one = |page: &MovedPage| is_in_one_key(input, page);
        let neighbours = |a: &MovedPage, b: &MovedPage| end_of(a) == place_of(b).0 && is_one(a) && is_one(b);
        for run in pages.chunk_by(neighbours) {
            let Some(first) = run.first() else { continue };
            let len: u64 = run.iter().map(|page| place_of(page).1).sum();
            let in_first = |e| blame(input, (first.column, cluster, first.index), e);
            let in_one_key = is_in_one_key(input, first);
            let place = (place_of(first).0, len, in_one_key);
            read_page_bytes(input, place, fetcher, (&mut batch.bytes, at)).map_err(in_first)?;
            for moved in run {
                let stored = usize::try_from(place_of(moved).1).unwrap_or(usize::MAX);
                let record = batch.bytes.get(at..at.saturating_add(stored)).unwrap_or_default();
                let checked = match self.job.columns.get(moved.target).and_then(|target| target.encoding) {
                    Some(encoding) if self.job.check => {
                        moved.page.open(&encoding, record, &mut fetcher.codecs.decompressor, raw).map(|_| ())
                    }
                    Some(encoding) => moved.page.check(&encoding, record),
                    None => moved.page.check_sum(record),
                };
                checked.map_err(|e| blame(input, (moved.column, cluster, moved.index), e))?;
                let has_checksum = moved.page.has_checksum;
                let len = if has_checksum { stored.saturating_sub(8) } else { stored };
                let MovedPage { number, shared, .. } = *moved;
                batch.records.push(PageRecord { number, shared, offset: at, stays: None, len, has_checksum });
                at += stored;
            }
        }
        batch.bytes.truncate(at);
        Ok(())
    }

    /// Makes pages with another compression or other numbers. They get a checksum.
    fn make(
        &self,
        input: &PageInput,
        (cluster, pages): (usize, &[MovedPage]),
        scratch: &mut PageScratch,
    ) -> Result<()> {
        scratch.batch.bytes.clear();
        for moved in pages {
            self.make_page(input, moved, scratch).map_err(|e| blame(input, (moved.column, cluster, moved.index), e))?;
        }
        Ok(())
    }

    fn make_page(&self, input: &PageInput, moved: &MovedPage, scratch: &mut PageScratch) -> Result<()> {
        let PageScratch { batch, record, raw, added, fetcher, compressor } = scratch;
        let encoding = self.job.columns.get(moved.target).and_then(|target| target.encoding);
        let encoding = encoding.ok_or_else(|| Error::unsupported("a column type of a later version of the format"))?;
        let (at, len) = place_of(moved);
        read_page_bytes(input, (at, len, is_in_one_key(input, moved)), fetcher, (record, 0))?;
        let record = record.get(..usize::try_from(len).unwrap_or(usize::MAX)).unwrap_or_default();
        let mut content =
            moved.page.open(&moved.from.unwrap_or(encoding), record, &mut fetcher.codecs.decompressor, raw)?;
        if moved.depth == Depth::Recode {
            let elements = moved.page.elements as usize;
            added.clear();
            match &moved.from {
                Some(from) => recode_page((from, &encoding), content, elements, added)?,
                None => add_to_page(&encoding, content, elements, input.entries_before, added)?,
            }
            content = added;
        }
        let offset = batch.bytes.len();
        make_room(&mut batch.bytes, content.len() + CODEC_ROOM);
        let (len, _) = put_page(content, moved.compression, compressor, true, &mut batch.bytes)?;
        let MovedPage { number, shared, .. } = *moved;
        batch.records.push(PageRecord { number, shared, offset, stays: None, len, has_checksum: true });
        Ok(())
    }
}

/// Proves the fields that are kept in the only cluster of a list: pages are moved without a look at most of their elements.
fn prove_cluster(input: &PageInput, (list, number): (&PageList, usize), fetcher: &mut Fetcher) -> Result<()> {
    let Some(cluster) = list.clusters.first() else { return Ok(()) };
    let Ntuple { schema, anchor, .. } = &*input.ntuple;
    let max_key_size = anchor.max_key_size;
    let at = ClusterSource { file: 0, schema, max_key_size, list, cluster, number };
    let mut proofs = Proofs::default();
    input.plans.iter().try_for_each(|plan| {
        let (mut bytes, codecs) = fetcher.of(&*input.source);
        proofs.prove(plan, at, (&mut bytes, codecs))
    })
}

/// A page that stays where it is.
fn stay(moved: &MovedPage) -> PageRecord {
    let MovedPage { number, shared, .. } = *moved;
    let ((at, stored), has_checksum) = (place_of(moved), moved.page.has_checksum);
    let stored = usize::try_from(stored).unwrap_or(usize::MAX);
    let len = if has_checksum { stored.saturating_sub(8) } else { stored };
    PageRecord { number, shared, offset: 0, stays: Some(at), len, has_checksum }
}

/// Offset and bytes of a page in the input, with its checksum.
fn place_of(moved: &MovedPage) -> (u64, u64) {
    moved.page.extent().unwrap_or((u64::MAX, u64::MAX))
}

fn end_of(moved: &MovedPage) -> u64 {
    let (offset, len) = place_of(moved);
    offset.saturating_add(len)
}

/// Whether a page is in one key.
fn is_in_one_key(input: &PageInput, moved: &MovedPage) -> bool {
    is_one_key(place_of(moved).1, input.ntuple.anchor.max_key_size)
}

/// Reads the bytes of a page or of several neighbours into a buffer at `at`, as [`read_at`] does.
fn read_page_bytes(
    input: &PageInput,
    (offset, len, in_one_key): (u64, u64, bool),
    fetcher: &mut Fetcher,
    (out, at): (&mut Vec<u8>, usize),
) -> Result<()> {
    check_within((offset, len), input.source.size())?;
    let (mut bytes, _) = fetcher.of(&*input.source);
    if in_one_key {
        return read_at(&mut bytes, 0, (offset, usize::try_from(len).unwrap_or(usize::MAX)), out, at);
    }
    let locator = Locator::File { offset, size: len };
    let bytes = read_blob((&mut bytes, 0), &locator, input.ntuple.anchor.max_key_size)?;
    out.truncate(at);
    out.extend_from_slice(&bytes);
    Ok(())
}
