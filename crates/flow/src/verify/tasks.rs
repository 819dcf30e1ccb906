//! Runs the comparison of many columns on threads, by ranges of entries, and keeps the first difference of each column. The
//! caller compares one range.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rootfile::{Error, Result};

use super::tree::entry_bytes::ByteDifference;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::table::tree::column::Column;

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
        bytes = bytes.saturating_add(u64::from(piece.packed_len()).saturating_mul(share));
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

/// Runs the tasks of `pairs` pairs. Each thread has its own `S`. `begin` is told the number of a task that begins. The error of the first
/// failing task is returned, so that it does not depend on timing.
pub(super) fn run<S: Default + Send>(
    tasks: &[Task],
    pairs: usize,
    (threads, progress): (usize, Progress<'_>),
    begin: &(dyn Fn(usize) + Sync),
    compare: &Compare<'_, S>,
) -> Result<Outcome> {
    let earliest: Vec<AtomicU64> = (0..pairs).map(|_| AtomicU64::new(u64::MAX)).collect();
    let outcome: Mutex<Outcome> = Mutex::default();
    let mut left = tasks.iter().enumerate();
    let workers = Workers::new("the comparison", threads.min(tasks.len()), progress).in_order();
    workers.run(
        || Ok(left.next()),
        S::default,
        |_, (place, task), scratch| {
            let Some(earliest) = earliest.get(task.pair) else { return Ok(()) };
            begin(place);
            let mut bytes = 0;
            let compared = compare(task, earliest, scratch, &mut bytes);
            let mut outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            outcome.bytes += bytes;
            if let Some(found) = compared? {
                earliest.fetch_min(found.entry, Ordering::Relaxed);
                if outcome.found.get(&task.pair).is_none_or(|known| known.entry > found.entry) {
                    outcome.found.insert(task.pair, found);
                }
            }
            Ok(())
        },
    )?;
    Ok(outcome.into_inner().unwrap_or_else(PoisonError::into_inner))
}
