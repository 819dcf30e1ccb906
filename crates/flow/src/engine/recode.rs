//! Depth *recode*: the entries of a few columns in one cluster, decoded, put together, taken apart in another way and
//! encoded. It takes them in portions, so that it needs little more memory than their baskets.
//!
//! What is recoded and into what is [`plan::recode`](crate::plan)'s to say.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;
use dataset::layout::Streaming;
use dataset::whole::WholeColumn;
use rootfile::codec::Compressor;
use rootfile::{Error, Result};

use super::Job;
use super::lane::{Lane, RecodeSource};
use super::queue::Stopped;
use super::worker::{Carry, Scratch, Whose};
use crate::column::{FILL, Files};
use crate::sink::Chunk;
use crate::write::baskets::{Bench, BranchFill};
use crate::write::context::largest;
use crate::write::metrics::Clocks;
use crate::write::plan::BranchPlan;

/// Columns that become others.
#[derive(Debug)]
pub(crate) struct Recode {
    /// The branch that the user knows.
    pub name: String,
    /// What there is, in ROOT's order.
    pub sources: Vec<RecodeSource>,
    /// What the sources and the outputs mean together. Without it each source becomes one output.
    pub wholes: Option<(WholeColumn, WholeColumn)>,
    /// What comes of them.
    pub outputs: Vec<RecodeOutput>,
    /// How the column lies in its branches, and how it will.
    pub forms: [Form; 2],
    /// Entries that are decoded at a time.
    pub portion: u64,
}

/// How a column of objects lies in branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Form {
    /// Split level of its branch.
    pub split_level: u32,
    /// How collections in it are streamed, if there are some that are not split, and it can be told.
    #[serde(serialize_with = "as_text")]
    pub streaming: Option<Streaming>,
    /// Branches with entries.
    pub branches: u64,
}

fn as_text<S: serde::Serializer>(streaming: &Option<Streaming>, s: S) -> std::result::Result<S::Ok, S::Error> {
    match streaming {
        Some(streaming) => s.collect_str(streaming),
        None => s.serialize_none(),
    }
}

/// What some entries came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampled {
    pub entries: u64,
    /// Their bytes on disk as they are.
    pub before: f64,
    /// Bytes before and after compression of each output.
    pub outputs: Vec<(u64, u64)>,
}

/// A column that is encoded.
#[derive(Debug)]
pub(crate) struct RecodeOutput {
    /// Its number among the columns of the job.
    pub column: usize,
    /// How it is encoded and cut.
    pub plan: BranchPlan,
    /// The largest value so far, of one that counts others.
    pub maximum: AtomicU64,
}

impl Recode {
    /// Whether there is anything to do in a cluster.
    pub fn covers(&self, entries: &Range<u64>) -> bool {
        !entries.is_empty() && self.sources.iter().any(|source| !source.column.overlapping(entries).is_empty())
    }

    /// Recodes a portion from the middle, to see what comes of it.
    pub fn sample(&self, files: &Files, bounds: &[u64]) -> Result<Sampled> {
        let cluster = bounds.len().saturating_sub(1) / 2;
        let Some((&start, &end)) = bounds.get(cluster).zip(bounds.get(cluster + 1)) else {
            return Ok(Sampled::default());
        };
        let entries = start..end.min(start.saturating_add(self.portion.max(1)));
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
            pids: &[],
        };
        let mut maker = Maker::new(&job, self, start, Compressor::new());
        maker.run(&entries, &mut Scratch::new())?;
        let mut sampled = Sampled { entries: entries.end - start, ..Sampled::default() };
        sampled.outputs.resize(self.outputs.len(), (0, 0));
        for (chunks, (raw, zip)) in maker.finished.iter().zip(&mut sampled.outputs) {
            for piece in chunks.iter().flat_map(|chunk| &chunk.pieces) {
                *raw += u64::from(piece.objlen) + u64::from(piece.keylen);
                *zip += u64::from(piece.nbytes);
            }
        }
        sampled.before = self.sources.iter().map(|source| source.share(&entries)).sum();
        Ok(sampled)
    }

    /// Bytes of buffers that one thread needs for clusters of so many entries, at most.
    pub fn scratch(&self, longest: u64) -> u64 {
        let baskets: u64 = self.outputs.iter().map(|output| 2 * u64::from(output.plan.basket_size)).sum();
        // What waits for the end of the cluster is counted, too.
        let of_source = |source: &RecodeSource| source.scratch(self.portion) + source.bytes_of(longest);
        let sources: u64 = self.sources.iter().map(of_source).sum();
        sources + baskets.min(2 * sources)
    }
}

type Emit<'a> = &'a mut dyn FnMut(&mut Chunk) -> std::result::Result<(), Stopped>;

/// Makes the entries of a cluster.
pub(super) fn make(
    job: &Job<'_>,
    (group, entries): (usize, Range<u64>),
    scratch: &mut Scratch,
    carry: &Carry,
    emit: Emit<'_>,
) -> Result<std::result::Result<(), Stopped>> {
    scratch.chunk.bytes.clear();
    scratch.chunk.pieces.clear();
    let Some(recode) = job.recodes.get(group) else { return Ok(Ok(())) };
    // The codecs are used again; those of the task are lent to it.
    let compressor = std::mem::replace(&mut scratch.compressor, Compressor::new());
    let mut maker = Maker::new(job, recode, entries.start, compressor);
    for (lane, source) in maker.lanes.iter_mut().enumerate() {
        let whose = Whose::Source { group, lane };
        source.share(carry, whose, job.bounds);
        source.resume(|piece| carry.take(whose, piece));
    }
    let made = maker.run(&entries, scratch);
    for (lane, source) in maker.lanes.iter_mut().enumerate() {
        // The next cluster has the rest of it.
        if let Some((piece, data)) = source.leave(entries.end) {
            carry.keep(Whose::Source { group, lane }, piece, data);
        }
    }
    std::mem::swap(&mut scratch.compressor, &mut maker.bench.compressor);
    made.map_err(|e| explained(&e, &recode.name))?;
    for chunk in maker.finished.iter_mut().flatten() {
        if let Err(stopped) = emit(chunk) {
            return Ok(Err(stopped));
        }
    }
    Ok(Ok(()))
}

/// What to do about a column that cannot be recoded.
fn explained(e: &Error, name: &str) -> Error {
    Error::unsupported(format!(
        "cannot be given another split level or streaming: {e}; ask for those of other branches only (--column-set \
         PATTERN split-level=..), or leave this one out (--drop)"
    ))
    .object(format!("branch {name}"))
}

struct Maker<'a> {
    job: &'a Job<'a>,
    recode: &'a Recode,
    lanes: Vec<Lane<'a>>,
    fills: Vec<BranchFill>,
    /// First entry of the baskets that are being filled, and the process identifiers that they refer to.
    begun: (u64, Option<u16>),
    /// Finished baskets of each output.
    finished: Vec<Vec<Chunk>>,
    bench: Bench,
}

impl<'a> Maker<'a> {
    fn new(job: &'a Job<'a>, recode: &'a Recode, start: u64, compressor: Compressor) -> Self {
        Self {
            job,
            recode,
            lanes: recode.sources.iter().map(|source| Lane::new(job.files, source, start)).collect(),
            fills: recode.outputs.iter().map(|output| BranchFill::new(&output.plan)).collect(),
            begun: (start, None),
            finished: recode.outputs.iter().map(|_| Vec::new()).collect(),
            bench: Bench::new(compressor, Arc::new(Clocks::default())),
        }
    }

    fn run(&mut self, entries: &Range<u64>, scratch: &mut Scratch) -> Result<()> {
        let mut at = entries.start;
        while at < entries.end {
            let asked = at..at.saturating_add(self.recode.portion.max(1)).min(entries.end);
            for lane in &mut self.lanes {
                lane.load(self.job.files, &asked, scratch)?;
            }
            let (pid, end) = self.process(&asked)?;
            if self.begun.1.is_some_and(|begun| begun != pid) {
                self.flush(at)?;
            }
            self.begun.1 = Some(pid);
            self.portion(&(at..end))?;
            at = end;
        }
        self.flush(entries.end)
    }

    /// The process identifiers that entries refer to, and how far they are the same: baskets have one number for all of
    /// their entries.
    fn process(&self, entries: &Range<u64>) -> Result<(u16, u64)> {
        let (mut first, mut end) = (None, entries.end);
        for lane in &self.lanes {
            for (piece, data) in lane.loaded() {
                let of_file = self.job.pid_offsets.get(piece.file as usize).copied().unwrap_or(0);
                // Defaults refer to nothing.
                let pid = if piece.file == FILL { 0 } else { of_file.wrapping_add(data.pid_offset) };
                if piece.first_entry <= entries.start {
                    if *first.get_or_insert(pid) != pid {
                        return Err(Error::unsupported("branches of one object that refer to different processes"));
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
        let arrays = self.lanes.iter_mut().map(|lane| lane.decode(entries)).collect::<Result<Vec<ArrayRef>>>()?;
        let arrays = match &self.recode.wholes {
            Some((from, to)) => to.project(&from.assemble(&arrays)?)?,
            None => arrays,
        };
        let rows = usize::try_from(entries.end - entries.start).map_err(|_| Error::request("too many entries"))?;
        for ((fill, output), array) in self.fills.iter_mut().zip(&self.recode.outputs).zip(&arrays) {
            fill.fill((output.column, &output.plan), array, 0..rows, &mut self.bench)?;
            if output.plan.counts {
                output.maximum.fetch_max(largest(array), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Ends all baskets, before entry `end`.
    fn flush(&mut self, end: u64) -> Result<()> {
        let (first, pid) = (self.begun.0, self.begun.1.unwrap_or(0));
        for ((fill, output), finished) in self.fills.iter_mut().zip(&self.recode.outputs).zip(&mut self.finished) {
            fill.finish_basket((output.column, &output.plan), &mut self.bench)?;
            let mut chunk = fill.start_cluster(&output.plan);
            for piece in &mut chunk.pieces {
                piece.first_entry += first;
                piece.pid_offset = pid;
            }
            finished.push(chunk);
        }
        self.begun = (end, None);
        Ok(())
    }
}
