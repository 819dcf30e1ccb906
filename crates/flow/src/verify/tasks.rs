//! Runs the comparison of many columns on threads, by ranges of entries, and keeps the first difference of each column. The
//! caller compares one range.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rootfile::{Error, Result};

use super::entry_bytes::ByteDifference;
use crate::execute::workers::run_workers;
use crate::table::column::Column;

/// Approximate bytes on disk of a task, on the first side.
const TASK_SIZE: u64 = 16 << 20;

/// The first difference between two columns.
#[derive(Debug)]
pub(super) struct ColumnDifference {
    /// Number of the entry among the compared ones.
    pub entry: u64,
    /// How it differs.
    pub kind: DifferenceKind,
}

/// How entries of two columns differ.
#[derive(Debug)]
pub(super) enum DifferenceKind {
    /// Only the first side has the entry.
    OnlyFirst,
    /// Only the second side has the entry.
    OnlySecond,
    /// The bytes differ.
    Bytes(ByteDifference),
    /// A member of the value differs: its path, and the difference.
    Member(String, String),
    /// The value cannot be decoded.
    Undecodable(Error),
}

/// The result of comparing columns.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// First differences, by the number of the pair.
    pub found: BTreeMap<usize, ColumnDifference>,
    /// Bytes of entries that were compared, of one side.
    pub bytes: u64,
}

/// A range of a pair's entries.
pub(super) struct Task {
    pub pair: usize,
    pub entries: Range<u64>,
}

/// Cuts a pair into tasks at the pieces of a column of its first side. All columns of the pair have `share` times the bytes
/// of this one.
pub(super) fn cut(pair: usize, (column, end): (&Column, u64), share: u64) -> Vec<Task> {
    let mut tasks = Vec::new();
    let (mut from, mut bytes) = (0, 0u64);
    for piece in &column.source.pieces {
        bytes = bytes.saturating_add(u64::from(piece.nbytes).saturating_mul(share));
        let at = piece.end();
        if bytes >= TASK_SIZE && at > from && at < end {
            tasks.push(Task { pair, entries: from..at });
            (from, bytes) = (at, 0);
        }
    }
    if from < end {
        tasks.push(Task { pair, entries: from..end });
    }
    tasks
}

/// Cuts a pair into tasks with the same number of entries, which have `each` bytes.
pub(super) fn cut_evenly(pair: usize, end: u64, each: u64) -> Vec<Task> {
    let step = (TASK_SIZE / each.max(1)).max(1);
    let starts = (0..end.div_ceil(step)).map(|n| n * step);
    starts.map(|start| Task { pair, entries: start..end.min(start + step) }).collect()
}

/// Compares the entries of a task. Entries behind the earliest difference of the pair so far can be skipped. Adds the bytes
/// that it compares to the last argument.
pub(super) type Compare<'a, S> =
    dyn Fn(&Task, &AtomicU64, &mut S, &mut u64) -> Result<Option<ColumnDifference>> + Sync + 'a;

/// Runs the tasks of `pairs` pairs. Each thread has its own `S`. `begin` is told the number of a task that begins.
pub(super) fn run<S: Default>(
    tasks: &[Task],
    pairs: usize,
    threads: usize,
    begin: &(dyn Fn(usize) + Sync),
    compare: &Compare<'_, S>,
) -> Result<Outcome> {
    let work = Work {
        tasks,
        next: AtomicUsize::new(0),
        earliest: (0..pairs).map(|_| AtomicU64::new(u64::MAX)).collect(),
        begin,
        compare,
        outcome: Mutex::default(),
    };
    run_workers(threads.min(work.tasks.len()), || work.run());
    match work.outcome.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (_, Some((_, error))) => Err(error),
        (outcome, None) => Ok(outcome),
    }
}

struct Work<'a, S> {
    tasks: &'a [Task],
    next: AtomicUsize,
    earliest: Vec<AtomicU64>,
    begin: &'a (dyn Fn(usize) + Sync),
    compare: &'a Compare<'a, S>,
    outcome: Mutex<(Outcome, Option<(usize, Error)>)>,
}

impl<S: Default> Work<'_, S> {
    fn run(&self) {
        let mut scratch = S::default();
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = self.tasks.get(place) else { return };
            let Some(earliest) = self.earliest.get(task.pair) else { continue };
            (self.begin)(place);
            let mut bytes = 0;
            let compared = (self.compare)(task, earliest, &mut scratch, &mut bytes);
            let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
            let (outcome, error) = &mut *outcome;
            outcome.bytes += bytes;
            match compared {
                Ok(None) => {}
                Ok(Some(found)) => {
                    earliest.fetch_min(found.entry, Ordering::Relaxed);
                    let earlier = outcome.found.get(&task.pair).is_some_and(|known| known.entry <= found.entry);
                    if !earlier {
                        outcome.found.insert(task.pair, found);
                    }
                }
                Err(e) => {
                    // The error of the first task is reported, so that it does not depend on timing.
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
}
