//! Merges the entries of a tree whose sources have theirs in the order of the output, in one pass: some clusters of all columns are made in
//! memory, handed over, and forgotten. They are what [`reorder_tree`](super::reorder_tree) puts into its scratch file.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use dataset::table::piece::Piece;
use rootfile::{Error, Result, Source};

use super::column::{BESIDE, ColumnJob, MergedColumn};
use super::planned::{BranchKey, all_columns, all_columns_mut, join_scratch, settle};
use super::sources::Windows;
use crate::execute::budget::Share;
use crate::execute::order::Order;
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::plan::tree::TablePlan;
use crate::table::tree::column::Column;

/// Clusters are made together until they have about so many bytes.
const TOGETHER: u64 = 64 << 20;
/// The size of an entry is known on average: a cluster may have this much more.
const MARGIN: u64 = 4;

/// A merge in one pass: how its memory is divided.
pub(crate) struct TreeMerge<'a> {
    order: &'a Order,
    /// Behind the last entry of each source.
    ends: &'a [u64],
    /// Bytes of an entry.
    each: u64,
    /// Bytes for the clusters that are made together.
    room: u64,
    /// Threads that make them.
    threads: usize,
    /// The share of who writes them.
    pub writing: Share,
}

impl<'a> TreeMerge<'a> {
    /// The merge of a plan whose rows have this order. Whoever writes needs `writing` bytes. None if the sources are not in this order; the
    /// inner error is the least memory if there is less.
    pub fn new(
        plan: &TablePlan,
        order: &'a Order,
        writing: u64,
        share: Share,
    ) -> Option<std::result::Result<Self, u64>> {
        let ends = order.merged()?;
        let columns: HashMap<BranchKey, &Column> = all_columns(plan).collect();
        let windows = columns.values().map(|column| Windows::memory(column, ends)).fold(0, u64::saturating_add);
        let bytes = columns.values().map(|column| column.source.tot_bytes).fold(0, u64::saturating_add);
        let each = bytes.div_ceil(plan.input_entries.iter().sum::<u64>().max(1));
        let longest = plan.clusters.bounds.windows(2).map(|bounds| bounds[1] - bounds[0]).max().unwrap_or(0);
        let cluster = longest.saturating_mul(each);
        let cluster = cluster.saturating_add(cluster / MARGIN);
        let fixed = windows.saturating_add(writing.max(BESIDE));
        let Some(free) = share.free.checked_sub(fixed).filter(|free| *free >= cluster) else {
            return Some(Err(fixed.saturating_add(cluster)));
        };
        let room = (free / 2).min(TOGETHER).max(cluster);
        let left = share.free - windows - room;
        let threads = usize::try_from(left / BESIDE).unwrap_or(usize::MAX).min(share.threads).max(1);
        let writing = Share { threads: share.threads, waiting: left, free: left };
        Some(Ok(Self { order, ends, each, room, threads, writing }))
    }

    /// Merges the entries. `write` gets the plan with some clusters at a time, whose entries are in memory, and at the end it has the bounds of
    /// all. `pid_offsets` are as in [`reorder_tree`](super::reorder_tree).
    ///
    /// # Errors
    ///
    /// The entries cannot be read, or `write` fails.
    pub fn run(
        &self,
        plan: &mut TablePlan,
        pid_offsets: &[u16],
        progress: Progress<'_>,
        write: &mut dyn FnMut(&TablePlan) -> Result<()>,
    ) -> Result<()> {
        let scratch = Arc::new(self.order.scratch(self.room));
        let bounds = std::mem::take(&mut plan.clusters.bounds);
        let packed = std::mem::take(&mut plan.clusters.packed);
        let mut columns: Vec<(BranchKey, Mutex<MergedColumn>)> = Vec::new();
        let mut known = HashSet::new();
        for (key, column) in all_columns_mut(plan) {
            if known.insert(key) {
                columns.push((key, Mutex::new(MergedColumn::new(column.clone(), self.ends))));
            }
            settle(column, Vec::new());
        }
        let files = plan.files.clone();
        let job = ColumnJob {
            order: self.order,
            bounds: &bounds,
            files: &files,
            scratch: &scratch,
            scratch_files: &[],
            pid_offsets,
            room: 0,
            progress,
        };
        join_scratch(plan, Arc::clone(&scratch) as Arc<dyn Source>, pid_offsets);
        let workers = Workers::new("the merge of entries", self.threads, progress).in_order();
        for part in parts(&bounds, self.each, self.room - self.room / MARGIN) {
            scratch.clear();
            plan.clusters.bounds = bounds.get(part.start..=part.end).unwrap_or_default().to_vec();
            plan.clusters.packed = packed.get(part).unwrap_or_default().to_vec();
            let first = plan.clusters.bounds.first().copied().unwrap_or(0);
            let rows = first..plan.clusters.bounds.last().copied().unwrap_or(first);
            let merged = workers.results(columns.len(), |number| {
                let (_, column) = columns.get(number).ok_or_else(|| Error::request("no such column"))?;
                job.merge(&mut column.lock().unwrap_or_else(PoisonError::into_inner), self.ends, rows.clone())
            })?;
            let pieces: HashMap<BranchKey, Vec<Piece>> = columns.iter().map(|(key, _)| *key).zip(merged).collect();
            for (key, column) in all_columns_mut(plan) {
                settle(column, pieces.get(&key).cloned().unwrap_or_default());
            }
            write(plan)?;
        }
        (plan.clusters.bounds, plan.clusters.packed) = (bounds, packed);
        Ok(())
    }
}

/// The clusters with these bounds in parts of about `room` bytes, one at least, if a row has `each`. They are told by their numbers.
fn parts(bounds: &[u64], each: u64, room: u64) -> Vec<Range<usize>> {
    let clusters = bounds.len().saturating_sub(1);
    let (mut parts, mut start) = (Vec::new(), 0);
    for cluster in 1..clusters {
        let first = bounds.get(start).copied().unwrap_or(0);
        let end = bounds.get(cluster + 1).copied().unwrap_or(first);
        if (end - first).saturating_mul(each) > room {
            parts.push(start..cluster);
            start = cluster;
        }
    }
    parts.push(start..clusters);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_made_together_while_there_is_room() {
        let ends = |bounds: &[u64], room| parts(bounds, 2, room).into_iter().map(|part| part.end).collect::<Vec<_>>();
        assert_eq!(ends(&[0, 10, 20, 30], 40), [2, 3]);
        assert_eq!(ends(&[0, 10, 20, 30], 1), [1, 2, 3]);
        assert_eq!(ends(&[0, 10, 20, 30], u64::MAX), [3]);
        assert_eq!(ends(&[0, 0], 40), [1]);
        assert_eq!(ends(&[], 40), [0]);
    }
}
