//! Depth *recode*: decodes the entries of some columns in one cluster, and encodes them in another split level or streaming.
//! Entries are recoded in portions, so that little more memory is needed than for their baskets.
//!
//! The module `plan::tree::recode` decides which columns are recoded, and into which.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::ArrayRef;
use rootfile::codec::Compressor;
use rootfile::{Error, ErrorKind, Hint, Result};

use super::job::Job;
use super::recode_job::{Recode, Sampled, SampledOutput};
use super::scratch::WorkerScratch;
use crate::execute::encode::clocks::Clocks;
use crate::execute::encode::scratch::EncodeScratch;
use crate::execute::encode::tree::branch_fill::BranchFill;
use crate::execute::fetch::tree::basket_cache::{BasketCache, CacheKey};
use crate::execute::fetch::tree::column_stream::ColumnStream;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::pipeline::Emit;
use crate::table::piece::Files;
use crate::table::tree::chunk::Chunk;

/// Recodes some entries and discards what is made, to estimate the sizes of the output. Each range lies within a cluster.
pub(crate) fn sample(recode: &Recode, files: &Files, bounds: &[u64], ranges: &[Range<u64>]) -> Result<Sampled> {
    let job = Job {
        files,
        pid_offsets: &[],
        columns: &[],
        recodes: &[],
        bounds,
        packed: &[],
        seek_pdir: 0,
        copies_fit: true,
        check: false,
        stays: None,
        pids: &[],
    };
    let mut sampled = Sampled::default();
    sampled.outputs.resize(recode.outputs.len(), SampledOutput::default());
    for entries in ranges {
        let mut recoder = Recoder::new(&job, recode, entries.start, Compressor::new());
        recoder.run(entries, &mut Fetcher::new())?;
        sampled.entries += entries.end - entries.start;
        for (chunks, output) in recoder.finished.iter().zip(&mut sampled.outputs) {
            for piece in chunks.iter().flat_map(|chunk| &chunk.records) {
                output.baskets += 1;
                output.raw += u64::from(piece.objlen) + u64::from(piece.keylen);
                output.zip += u64::from(piece.nbytes);
            }
        }
        sampled.before += recode.sources.iter().map(|source| source.share(entries)).sum::<f64>();
    }
    Ok(sampled)
}

/// The same for a portion of the cluster in the middle.
pub(crate) fn sample_middle(recode: &Recode, files: &Files, bounds: &[u64]) -> Result<Sampled> {
    let cluster = bounds.len().saturating_sub(1) / 2;
    let Some((&start, &end)) = bounds.get(cluster).zip(bounds.get(cluster + 1)) else {
        return Ok(Sampled::default());
    };
    let entries = start..end.min(start.saturating_add(recode.portion.max(1)));
    sample(recode, files, bounds, std::slice::from_ref(&entries))
}

/// Recodes the entries of a cluster.
pub(crate) fn make(
    job: &Job<'_>,
    (group, entries): (usize, Range<u64>),
    scratch: &mut WorkerScratch,
    cache: &BasketCache,
    emit: Emit<'_, Chunk>,
) -> Result<()> {
    scratch.chunk.bytes.clear();
    scratch.chunk.records.clear();
    let Some(recode) = job.recodes.get(group) else { return Ok(()) };
    // The worker's compressor is lent to the recoder.
    let compressor = std::mem::replace(&mut scratch.compressor, Compressor::new());
    let mut recoder = Recoder::new(job, recode, entries.start, compressor);
    for (stream, source) in recoder.streams.iter_mut().enumerate() {
        let key = CacheKey::Source { group, stream };
        source.share(cache, key, job.bounds);
        source.resume(|piece| cache.take(key, piece));
    }
    let made = recoder.run(&entries, &mut scratch.fetcher);
    for (stream, source) in recoder.streams.iter_mut().enumerate() {
        // The next cluster uses the rest of the basket.
        if let Some((piece, data)) = source.leave(entries.end) {
            cache.keep(CacheKey::Source { group, stream }, piece, data);
        }
    }
    std::mem::swap(&mut scratch.compressor, &mut recoder.scratch.compressor);
    made.map_err(|e| explained(&e, &recode.name))?;
    for chunk in recoder.finished.iter_mut().flatten() {
        emit(chunk)?;
    }
    Ok(())
}

/// The error for a column that cannot be recoded, with what to do.
fn explained(e: &Error, name: &str) -> Error {
    if let ErrorKind::Request(why) = e.kind() {
        return Error::request(why.clone()).hints_of(e).object(format!("branch {name}"));
    }
    let set = Hint::named("column-set").that("PATTERN split-level=.. requests them for other branches only");
    let drop = Hint::named("drop").that("leaves this branch out");
    let ways = format!("{}, {}", set.clause(), drop.clause());
    Error::unsupported(format!("cannot be given another split level or streaming: {e}; {ways}"))
        .hint(set)
        .hint(drop)
        .hints_of(e)
        .object(format!("branch {name}"))
}

struct Recoder<'a> {
    job: &'a Job<'a>,
    recode: &'a Recode,
    streams: Vec<ColumnStream<'a>>,
    fills: Vec<BranchFill>,
    /// First entry of the baskets that are being filled, and the offset of their process identifiers.
    basket_start: (u64, Option<u16>),
    /// Finished baskets of each output.
    finished: Vec<Vec<Chunk>>,
    scratch: EncodeScratch,
}

impl<'a> Recoder<'a> {
    fn new(job: &'a Job<'a>, recode: &'a Recode, start: u64, compressor: Compressor) -> Self {
        Self {
            job,
            recode,
            streams: recode.sources.iter().map(|source| ColumnStream::new(job.files, source, start)).collect(),
            fills: recode.outputs.iter().map(|output| BranchFill::new(output.column, &output.plan)).collect(),
            basket_start: (start, None),
            finished: recode.outputs.iter().map(|_| Vec::new()).collect(),
            scratch: EncodeScratch::new(compressor, Arc::new(Clocks::default())),
        }
    }

    fn run(&mut self, entries: &Range<u64>, fetcher: &mut Fetcher) -> Result<()> {
        let mut at = entries.start;
        while at < entries.end {
            let portion = at..at.saturating_add(self.recode.portion.max(1)).min(entries.end);
            for stream in &mut self.streams {
                stream.load(self.job.files, &portion, fetcher)?;
            }
            let (pid, end) = self.process(&portion)?;
            if self.basket_start.1.is_some_and(|started| started != pid) {
                self.flush(at)?;
            }
            self.basket_start.1 = Some(pid);
            self.portion(&(at..end))?;
            at = end;
        }
        self.flush(entries.end)
    }

    /// The offset of the process identifiers that entries refer to, and the end of the entries that have the same: a basket
    /// has one for all of its entries.
    fn process(&self, entries: &Range<u64>) -> Result<(u16, u64)> {
        let (mut first, mut end) = (None, entries.end);
        for stream in &self.streams {
            for (piece, data) in stream.loaded() {
                let pid = self.job.pid_offset(piece).wrapping_add(data.pid_offset);
                if piece.first_entry <= entries.start {
                    if *first.get_or_insert(pid) != pid {
                        return Err(Error::unsupported("branches of one object refer to different processes"));
                    }
                } else if first != Some(pid) {
                    end = end.min(piece.first_entry);
                }
            }
        }
        Ok((first.unwrap_or(0), end))
    }

    /// Recodes some entries.
    fn portion(&mut self, entries: &Range<u64>) -> Result<()> {
        let arrays = self.streams.iter_mut().map(|stream| stream.decode(entries)).collect::<Result<Vec<ArrayRef>>>()?;
        let arrays = match &self.recode.wholes {
            Some((from, to)) => to.project(&from.assemble(&arrays)?)?,
            None => arrays,
        };
        let rows = usize::try_from(entries.end - entries.start).map_err(|_| Error::request("too many entries"))?;
        for ((fill, output), array) in self.fills.iter_mut().zip(&self.recode.outputs).zip(&arrays) {
            // The entry is known here.
            output.plan.reduced.map_or(Ok(()), |reduced| reduced.check(array, Some(entries.start)))?;
            fill.fill_array(&output.plan, array, 0..rows, &mut self.scratch)?;
        }
        Ok(())
    }

    /// Ends all baskets, before entry `end`.
    fn flush(&mut self, end: u64) -> Result<()> {
        let (first, pid) = (self.basket_start.0, self.basket_start.1.unwrap_or(0));
        for ((fill, output), finished) in self.fills.iter_mut().zip(&self.recode.outputs).zip(&mut self.finished) {
            fill.finish_basket(&output.plan, &mut self.scratch)?;
            output.maximum.fetch_max(fill.maximum(), Ordering::Relaxed);
            let mut chunk = fill.start_cluster(&output.plan);
            for piece in &mut chunk.records {
                piece.first_entry += first;
                piece.pid_offset = pid;
            }
            finished.push(chunk);
        }
        self.basket_start = (end, None);
        Ok(())
    }
}
