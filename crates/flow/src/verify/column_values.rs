//! Compares columns by value. Both sides are decoded portion by portion, assembled from their branches, and compared bit for
//! bit.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::ArrayRef;
use dataset::assemble::LogicalColumn;
use rootfile::{Error, ErrorKind, Result};

use super::first_difference;
use super::tasks::{self, ColumnDifference, DifferenceKind, Outcome, Task};
use crate::execute::fetch::column_stream::{ColumnStream, DecodeSource};
use crate::execute::fetch::fetcher::Fetcher;
use crate::execute::progress::{Progress, tell};
use crate::table::piece::Files;

/// A column that both sides have, in one or more branches.
pub(super) struct ValuePair {
    /// Name of the column.
    pub name: String,
    /// The branches to decode, of each side.
    pub sources: [Vec<DecodeSource>; 2],
    /// Assembles the branches of each side. Without it, each side has one branch.
    wholes: Option<[LogicalColumn; 2]>,
    /// Entries that are compared at a time.
    portion: u64,
}

/// Buffers of a thread.
struct Buffers(Fetcher);

impl Default for Buffers {
    fn default() -> Self {
        Self(Fetcher::new())
    }
}

impl ValuePair {
    pub fn new(name: String, sources: [Vec<DecodeSource>; 2], wholes: Option<[LogicalColumn; 2]>) -> Self {
        let [a, b] = sources.each_ref().map(|sources| DecodeSource::portion(sources));
        Self { name, sources, wholes, portion: a.min(b) }
    }

    /// Bytes of buffers that a thread needs for it.
    fn scratch(&self) -> u64 {
        self.sources.iter().flatten().map(|source| source.scratch(self.portion)).sum()
    }

    fn tasks(&self, index: usize, entries: u64) -> Vec<Task> {
        let [first, _] = &self.sources;
        // The source with most baskets gives the finest cuts.
        let Some(source) = first.iter().max_by_key(|source| source.column.source.pieces.len()) else {
            return Vec::new();
        };
        let bytes =
            |source: &DecodeSource| source.column.source.pieces.iter().map(|p| u64::from(p.nbytes)).sum::<u64>();
        let share = first.iter().map(bytes).sum::<u64>() / bytes(source).max(1);
        tasks::cut(index, (&source.column, entries), share.max(1))
    }
}

/// Bytes that a thread needs for any of them.
pub(super) fn scratch(pairs: &[ValuePair]) -> u64 {
    pairs.iter().map(ValuePair::scratch).max().unwrap_or(0)
}

/// Compares the first `entries` entries of all pairs.
pub(super) fn compare(
    pairs: &[ValuePair],
    entries: u64,
    files: [&Files; 2],
    threads: usize,
    progress: Progress<'_>,
) -> Result<Outcome> {
    let all: Vec<Task> = pairs.iter().enumerate().flat_map(|(i, pair)| pair.tasks(i, entries)).collect();
    tasks::run(&all, pairs.len(), threads, &|task, earliest, Buffers(scratch): &mut Buffers, bytes| {
        let Some(pair) = pairs.get(task.pair) else { return Ok(None) };
        let mut at = task.entries.start;
        let compared = compare_task(&pair.sides(files), task, (&mut at, earliest), (scratch, bytes), progress);
        match compared {
            // A column that cannot be decoded counts as different, and the others are still compared.
            Err(e) if !matches!(e.kind(), ErrorKind::Io(_) | ErrorKind::Interrupted) => Ok(Some(ColumnDifference {
                entry: at,
                kind: DifferenceKind::Undecodable(e.object(format!("branch {}", pair.name))),
            })),
            compared => compared,
        }
    })
}

/// One side of a pair.
struct Side<'a> {
    sources: &'a [DecodeSource],
    whole: Option<&'a LogicalColumn>,
    files: &'a Files,
    portion: u64,
}

impl ValuePair {
    fn sides<'a>(&'a self, files: [&'a Files; 2]) -> [Side<'a>; 2] {
        let side = |n: usize, sources: &'a [DecodeSource], files| {
            let whole = self.wholes.as_ref().and_then(|wholes| wholes.get(n));
            Side { sources, whole, files, portion: self.portion }
        };
        let ([a, b], [of_a, of_b]) = (&self.sources, files);
        [side(0, a, of_a), side(1, b, of_b)]
    }
}

fn compare_task(
    [first, second]: &[Side<'_>; 2],
    task: &Task,
    (at, earliest): (&mut u64, &AtomicU64),
    (scratch, bytes): (&mut Fetcher, &mut u64),
    progress: Progress<'_>,
) -> Result<Option<ColumnDifference>> {
    let (mut ours, mut theirs) = (first.streams(*at), second.streams(*at));
    while *at < task.entries.end && *at < earliest.load(Ordering::Relaxed) {
        let entries = *at..at.saturating_add(first.portion).min(task.entries.end);
        let (a, read_a) = first.values(&mut ours, &entries, scratch)?;
        let (b, read_b) = second.values(&mut theirs, &entries, scratch)?;
        *bytes += ours.iter().map(|stream| stream.bytes(&entries)).sum::<u64>();
        tell(progress, read_a + read_b)?;
        if let Some(row) = first_difference::first_row(&a, &b) {
            let (member, what) = first_difference::describe(&a, &b, row);
            return Ok(Some(ColumnDifference { entry: *at + row as u64, kind: DifferenceKind::Member(member, what) }));
        }
        *at = entries.end;
    }
    Ok(None)
}

impl<'a> Side<'a> {
    fn streams(&self, at: u64) -> Vec<ColumnStream<'a>> {
        self.sources.iter().map(|source| ColumnStream::new(self.files, source, at)).collect()
    }

    /// The values of a range of entries, and the bytes that were read for them.
    fn values(
        &self,
        streams: &mut [ColumnStream<'_>],
        entries: &Range<u64>,
        scratch: &mut Fetcher,
    ) -> Result<(ArrayRef, u64)> {
        let mut read = 0;
        let mut arrays = Vec::with_capacity(streams.len());
        for stream in streams {
            read += stream.load(self.files, entries, scratch)?;
            arrays.push(stream.decode(entries)?);
        }
        let array = match self.whole {
            Some(whole) => whole.assemble(&arrays)?,
            None => arrays.pop().ok_or_else(|| Error::request("a column of no branch"))?,
        };
        Ok((array, read))
    }
}
