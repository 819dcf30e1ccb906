//! Compares the columns of two tables as bytes, piece by piece, on threads. Each thread holds one basket of each side,
//! whatever the two layouts are.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset::table::piece::Piece;
use dataset::tree::basket::BasketData;
use rootfile::Result;

use super::entry_bytes::{self, Run};
use crate::execute::budget::Share;
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::progress::{Progress, tell};
use crate::table::piece::Files;
use crate::table::tree::column::Column;
use crate::verify::announced::{Announced, places};
use crate::verify::tasks::{self, ColumnDifference, DifferenceKind, Outcome, Task};

/// A column that both sides have.
pub(crate) struct Pair<'a> {
    /// The column of each side.
    pub columns: [&'a Column; 2],
}

/// Bytes that a thread needs for the largest basket of each side, by their recorded sizes.
pub(super) fn scratch(pairs: &[Pair<'_>]) -> u64 {
    // The codecs' own state.
    const CODECS: u64 = 2 << 20;
    let of_pair = |pair: &Pair<'_>| pair.columns.iter().map(|column| of_column(column)).sum::<u64>();
    pairs.iter().map(of_pair).max().unwrap_or(0) + CODECS
}

fn of_column(column: &Column) -> u64 {
    let most = |of: &dyn Fn(&Piece) -> u64| column.source.pieces.iter().map(of).max().unwrap_or(0);
    // The offset of each entry, and its former position.
    let longest = || {
        (0..column.source.pieces.len()).filter_map(|i| column.source.record(i)).map(|p| p.entries).max().unwrap_or(0)
    };
    let boundaries = if column.form.has_offsets || column.form.counted.is_some() { 8 * longest() } else { 0 };
    let counter = column.form.counted.as_ref().map_or(0, |generated| of_column(&generated.counter));
    most(&|p| u64::from(p.packed_len())) + most(&|p| column.source.loaded_bytes(p)) + boundaries + counter
}

/// Buffers of a thread, reused from task to task.
struct Buffers([Fetcher; 2]);

impl Default for Buffers {
    fn default() -> Self {
        Self([Fetcher::new(), Fetcher::new()])
    }
}

/// Compares all pairs.
pub(super) fn compare(pairs: &[Pair<'_>], files: [&Files; 2], share: Share, progress: Progress<'_>) -> Result<Outcome> {
    let all: Vec<Task> = pairs.iter().enumerate().flat_map(|(i, pair)| cut_pair(i, pair)).collect();
    let announced = Announced::new(files, share);
    let files = announced.files();
    let places = |task: &Task, side: usize| {
        let column = pairs.get(task.pair).and_then(|pair| pair.columns.get(side));
        column.map(|column| places(column, &task.entries)).unwrap_or_default()
    };
    let begin = |number: usize| announced.begin(number, &all, &places);
    tasks::run(&all, pairs.len(), (share.threads, progress), &begin, &|task, earliest, buffers: &mut Buffers, bytes| {
        let Some(pair) = pairs.get(task.pair) else { return Ok(None) };
        compare_task((pair, files), task, earliest, (buffers, bytes), progress)
    })
}

/// Whether two columns have the same bytes in a range of entries.
pub(crate) fn equal_within(pair: &Pair<'_>, files: [&Files; 2], entries: Range<u64>) -> Result<bool> {
    let (task, earliest) = (Task { pair: 0, entries }, AtomicU64::new(u64::MAX));
    let found = compare_task(
        (pair, files),
        &task,
        &earliest,
        (&mut Buffers::default(), &mut 0),
        &crate::execute::progress::unwatched,
    )?;
    Ok(found.is_none())
}

fn cut_pair(index: usize, pair: &Pair<'_>) -> Vec<Task> {
    let [first, second] = [0, 1].map(|side| Side::new(pair, side));
    let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
    tasks::cut(index, (first.column, first.end().max(second.end())), 1)
}

fn compare_task(
    (pair, [files_first, files_second]): (&Pair<'_>, [&Files; 2]),
    task: &Task,
    earliest: &AtomicU64,
    (Buffers([scratch_first, scratch_second]), bytes): (&mut Buffers, &mut u64),
    progress: Progress<'_>,
) -> Result<Option<ColumnDifference>> {
    let (Some(mut first), Some(mut second)) = (Side::new(pair, 0), Side::new(pair, 1)) else { return Ok(None) };
    let tags = pair.columns.iter().any(|column| column.form.has_tags);
    let mut at = task.entries.start;
    while at < task.entries.end && at < earliest.load(Ordering::Relaxed) {
        let n = match (first.find(at), second.find(at)) {
            (Place::In(x), Place::In(y)) => x.left.min(y.left).min(task.entries.end - at),
            (Place::Gap(x), Place::Gap(y)) => {
                at = x.min(y);
                continue;
            }
            (Place::In(_), _) => return Ok(Some(ColumnDifference { entry: at, kind: DifferenceKind::OnlyFirst })),
            _ => return Ok(Some(ColumnDifference { entry: at, kind: DifferenceKind::OnlySecond })),
        };
        let read = first.load(at, files_first, scratch_first)? + second.load(at, files_second, scratch_second)?;
        let (Some(a), Some(b)) = (first.run(at), second.run(at)) else { break };
        let (compared, mismatch) = entry_bytes::compare(a, b, usize::try_from(n).unwrap_or(usize::MAX), tags)
            .map_err(|e| e.object(format!("branch {}", first.column.name)))?;
        *bytes += compared as u64;
        tell(progress, read)?;
        if let Some(mismatch) = mismatch {
            let entry = at + mismatch.entry as u64;
            return Ok(Some(ColumnDifference { entry, kind: DifferenceKind::Bytes(mismatch.kind) }));
        }
        at += n;
    }
    first.give_back(scratch_first);
    second.give_back(scratch_second);
    Ok(None)
}

/// One side of a pair, and the piece of it that is loaded.
struct Side<'a> {
    column: &'a Column,
    loaded: Option<(usize, BasketData)>,
}

/// The place of an entry.
enum Place {
    /// In a piece.
    In(Inside),
    /// In no piece. The next entry that is in one.
    Gap(u64),
}

struct Inside {
    piece: usize,
    /// Number of the entry in the piece's record.
    nth: usize,
    /// Number of consecutive entries there from this one on.
    left: u64,
}

impl<'a> Side<'a> {
    fn new(pair: &Pair<'a>, side: usize) -> Option<Self> {
        Some(Self { column: pair.columns.get(side).copied()?, loaded: None })
    }

    /// The entry after the last.
    fn end(&self) -> u64 {
        self.column.source.pieces.last().map_or(0, Piece::end)
    }

    fn find(&self, entry: u64) -> Place {
        let piece = self.column.source.pieces.partition_point(|p| p.end() <= entry);
        match self.column.source.pieces.get(piece) {
            None => Place::Gap(u64::MAX),
            Some(p) if p.first_entry > entry => Place::Gap(p.first_entry),
            Some(p) => match self.column.source.indices(piece, &(entry..p.end())).next() {
                Some(run) => Place::In(Inside { piece, nth: run.start, left: run.len() as u64 }),
                None => Place::Gap(u64::MAX),
            },
        }
    }

    /// Loads the piece of an entry, unless it is loaded. Returns the bytes read.
    fn load(&mut self, at: u64, files: &Files, scratch: &mut Fetcher) -> Result<u64> {
        let Place::In(Inside { piece, .. }) = self.find(at) else { return Ok(0) };
        if self.loaded.as_ref().is_some_and(|(known, _)| *known == piece) {
            return Ok(0);
        }
        self.give_back(scratch);
        self.loaded = Some((piece, scratch.load(files, self.column, piece)?));
        Ok(self.column.source.pieces.get(piece).map_or(0, |p| u64::from(p.packed_len())))
    }

    /// The entries of the loaded piece from this one on.
    fn run(&self, at: u64) -> Option<Run<'_>> {
        let Place::In(Inside { nth, .. }) = self.find(at) else { return None };
        let (_, data) = self.loaded.as_ref()?;
        Some(Run { data, first: nth })
    }

    /// The buffer goes back for the next piece.
    fn give_back(&mut self, scratch: &mut Fetcher) {
        if let Some((_, data)) = self.loaded.take() {
            scratch.give_back(data);
        }
    }
}
