//! Walks the columns of two tables side by side, piece by piece, on threads. Nothing is kept but one basket of
//! each side for each thread, whatever the two layouts are.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dataset::tree::basket::BasketData;
use rootfile::{Error, Result};

use super::entries::{self, How, Run};
use crate::column::{Column, Files, Piece};
use crate::engine::{Progress, Scratch, tell};

/// About this many bytes on disk of the first side are one thread's task.
const TASK: u64 = 16 << 20;

/// A column that both sides have.
pub(super) struct Pair<'a> {
    /// The column of each side.
    pub columns: [&'a Column; 2],
    /// The entries of each side that count; the first of one goes with the first of the other.
    pub windows: [Range<u64>; 2],
}

/// The first difference between two columns.
#[derive(Debug)]
pub(super) struct Found {
    /// Entry, counted from the start of the windows.
    pub entry: u64,
    /// What is different there.
    pub how: Different,
}

/// How entries of two columns differ.
#[derive(Debug)]
pub(super) enum Different {
    /// Only one side has this entry: the first, or else the second.
    Only(bool),
    /// Both have it, but not alike.
    Content(How),
}

/// What came out of comparing columns.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// First differences, by the number of the pair.
    pub found: BTreeMap<usize, Found>,
    /// Bytes of entries that were compared, of one side.
    pub bytes: u64,
}

/// Bytes that a thread needs for the largest basket of each side, by what is known of their sizes.
pub(super) fn scratch(pairs: &[Pair<'_>]) -> u64 {
    // Besides: the codecs' own state.
    const CODECS: u64 = 2 << 20;
    let of_pair = |pair: &Pair<'_>| pair.columns.iter().map(|column| of_column(column)).sum::<u64>();
    pairs.iter().map(of_pair).max().unwrap_or(0) + CODECS
}

fn of_column(column: &Column) -> u64 {
    let most = |of: &dyn Fn(&Piece) -> u64| column.pieces.iter().map(of).max().unwrap_or(0);
    // An offset for each entry, and where it lay.
    let boundaries = if column.has_offsets || column.generated.is_some() { 8 * most(&|p| p.entries) } else { 0 };
    let counter = column.generated.as_ref().map_or(0, |generated| of_column(&generated.counter));
    most(&|p| u64::from(p.nbytes)) + most(&|p| column.expanded(p)) + boundaries + counter
}

/// A range of a pair's entries, counted from the start of the windows.
struct Task {
    pair: usize,
    entries: Range<u64>,
}

struct Work<'a> {
    pairs: &'a [Pair<'a>],
    files: [&'a Files; 2],
    tasks: Vec<Task>,
    next: AtomicUsize,
    /// For each pair the earliest difference so far: what lies behind it need not be looked at.
    earliest: Vec<AtomicU64>,
    progress: Progress<'a>,
    outcome: Mutex<(Outcome, Option<(usize, Error)>)>,
}

/// Compares all pairs.
pub(super) fn compare(
    pairs: &[Pair<'_>],
    files: [&Files; 2],
    threads: usize,
    progress: Progress<'_>,
) -> Result<Outcome> {
    let work = Work {
        pairs,
        files,
        tasks: pairs.iter().enumerate().flat_map(|(i, pair)| tasks(i, pair)).collect(),
        next: AtomicUsize::new(0),
        earliest: pairs.iter().map(|_| AtomicU64::new(u64::MAX)).collect(),
        progress,
        outcome: Mutex::default(),
    };
    std::thread::scope(|scope| {
        // The calling thread works as well: one thread means no thread at all.
        for _ in 1..threads.min(work.tasks.len()) {
            scope.spawn(|| work.run());
        }
        work.run();
    });
    match work.outcome.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some((_, error))) => Err(error),
        (outcome, None) => Ok(outcome),
    }
}

/// Cuts a pair at the pieces of its first side.
fn tasks(index: usize, pair: &Pair<'_>) -> Vec<Task> {
    let [first, second] = [0, 1].map(|side| Side::new(pair, side));
    let (Some(first), Some(second)) = (first, second) else { return Vec::new() };
    let end = first.end().max(second.end());
    let mut tasks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for piece in &first.column.pieces {
        bytes += u64::from(piece.nbytes);
        let at = piece.end().saturating_sub(first.window.start);
        if bytes >= TASK && at > start && at < end {
            tasks.push(Task { pair: index, entries: start..at });
            (start, bytes) = (at, 0);
        }
    }
    if start < end {
        tasks.push(Task { pair: index, entries: start..end });
    }
    tasks
}

impl Work<'_> {
    fn run(&self) {
        // Buffers go from one task to the next.
        let mut scratch = [Scratch::new(), Scratch::new()];
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = self.tasks.get(place) else { return };
            let mut bytes = 0;
            let compared = self.compare(task, &mut scratch, &mut bytes);
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            let (outcome, error) = &mut *outcome;
            outcome.bytes += bytes;
            match compared {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let earlier = outcome.found.get(&task.pair).is_some_and(|known| known.entry <= found.entry);
                    if !earlier {
                        outcome.found.insert(task.pair, found);
                    }
                }
                Err(e) => {
                    // The first by the order of tasks is told, whoever came upon it first.
                    if error.as_ref().is_none_or(|(known, _)| place < *known) {
                        *error = Some((place, e));
                    }
                }
            }
            if error.is_some() {
                self.next.store(self.tasks.len(), Ordering::Relaxed);
            }
        }
    }

    fn compare(&self, task: &Task, scratch: &mut [Scratch; 2], bytes: &mut u64) -> Result<Option<Found>> {
        let (Some(pair), Some(earliest)) = (self.pairs.get(task.pair), self.earliest.get(task.pair)) else {
            return Ok(None);
        };
        let (Some(mut first), Some(mut second)) = (Side::new(pair, 0), Side::new(pair, 1)) else { return Ok(None) };
        let tags = pair.columns.iter().any(|column| column.has_tags);
        let [scratch_first, scratch_second] = scratch;
        let [files_first, files_second] = self.files;
        let mut at = task.entries.start;
        while at < task.entries.end && at < earliest.load(Ordering::Relaxed) {
            let n = match (first.find(at), second.find(at)) {
                (Place::In(x), Place::In(y)) => x.left.min(y.left).min(task.entries.end - at),
                (Place::Gap(x), Place::Gap(y)) => {
                    at = x.min(y);
                    continue;
                }
                (place, _) => {
                    let how = Different::Only(matches!(place, Place::In(_)));
                    earliest.fetch_min(at, Ordering::Relaxed);
                    return Ok(Some(Found { entry: at, how }));
                }
            };
            let read = first.load(at, files_first, scratch_first)? + second.load(at, files_second, scratch_second)?;
            let (Some(a), Some(b)) = (first.run(at), second.run(at)) else { break };
            let (compared, mismatch) = entries::compare(a, b, usize::try_from(n).unwrap_or(usize::MAX), tags)
                .map_err(|e| e.object(format!("branch {}", first.column.names.0)))?;
            *bytes += compared as u64;
            tell(self.progress, read)?;
            if let Some(mismatch) = mismatch {
                let entry = at + mismatch.entry as u64;
                earliest.fetch_min(entry, Ordering::Relaxed);
                return Ok(Some(Found { entry, how: Different::Content(mismatch.how) }));
            }
            at += n;
        }
        first.give_back(scratch_first);
        second.give_back(scratch_second);
        Ok(None)
    }
}

/// One side of a pair, and the piece of it that is loaded.
struct Side<'a> {
    column: &'a Column,
    window: Range<u64>,
    loaded: Option<(usize, BasketData)>,
}

/// Where an entry is.
enum Place {
    /// In a piece.
    In(Inside),
    /// In none; the next entry that is in one.
    Gap(u64),
}

struct Inside {
    piece: usize,
    /// Number of the entry in the piece.
    nth: u64,
    /// Entries of the piece from this one on.
    left: u64,
}

impl<'a> Side<'a> {
    fn new(pair: &Pair<'a>, side: usize) -> Option<Self> {
        let column = pair.columns.get(side).copied()?;
        let window = pair.windows.get(side)?.clone();
        Some(Self { column, window, loaded: None })
    }

    /// The entry after the last, counted from the start of the window.
    fn end(&self) -> u64 {
        let end = self.column.pieces.last().map_or(0, Piece::end).min(self.window.end);
        end.saturating_sub(self.window.start)
    }

    fn find(&self, at: u64) -> Place {
        let entry = self.window.start.saturating_add(at);
        if entry >= self.window.end {
            return Place::Gap(u64::MAX);
        }
        let piece = self.column.pieces.partition_point(|p| p.end() <= entry);
        match self.column.pieces.get(piece) {
            None => Place::Gap(u64::MAX),
            Some(p) if p.first_entry > entry => Place::Gap(p.first_entry - self.window.start),
            Some(p) => {
                let left = p.end().min(self.window.end) - entry;
                Place::In(Inside { piece, nth: entry - p.first_entry, left })
            }
        }
    }

    /// Loads the piece that an entry is in, unless it is loaded. Gives the bytes read.
    fn load(&mut self, at: u64, files: &Files, scratch: &mut Scratch) -> Result<u64> {
        let Place::In(Inside { piece, .. }) = self.find(at) else { return Ok(0) };
        if self.loaded.as_ref().is_some_and(|(known, _)| *known == piece) {
            return Ok(0);
        }
        self.give_back(scratch);
        self.loaded = Some((piece, scratch.load(files, self.column, piece)?));
        Ok(self.column.pieces.get(piece).map_or(0, |p| u64::from(p.nbytes)))
    }

    /// The entries of the loaded piece from this one on.
    fn run(&self, at: u64) -> Option<Run<'_>> {
        let Place::In(Inside { nth, .. }) = self.find(at) else { return None };
        let (_, data) = self.loaded.as_ref()?;
        Some(Run { data, first: usize::try_from(nth).ok()? })
    }

    /// The buffer goes back for the next piece.
    fn give_back(&mut self, scratch: &mut Scratch) {
        if let Some((_, data)) = self.loaded.take() {
            scratch.give_back(data);
        }
    }
}
