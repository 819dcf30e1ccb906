//! Deals out the requested baskets, cluster by cluster and in each cluster column by column, in file order. Tasks are made
//! on demand. Before the tasks of a cluster the files are told which bytes the next cluster needs.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rootfile::Source;

use super::request::RequestedEntries;
use crate::table::column::Column;
use crate::table::piece::{FILL, Piece};

/// Compressed bytes of a task: enough to be worth taking a ticket, few enough for a core's cache.
const TASK_BYTES: u64 = 256 << 10;

/// Pieces with smaller gaps between them are announced to a file as one range.
const MAX_GAP: u64 = 64 << 10;

/// Largest number of bytes that one thread needs for a task: its pieces wait decompressed for their ticket.
pub(crate) fn memory_needs(column: &Column, pieces: Range<usize>) -> u64 {
    let (mut most, mut compressed, mut waiting) = (0, 0, 0u64);
    for piece in column.source.pieces.get(pieces).unwrap_or_default() {
        if compressed >= TASK_BYTES {
            (compressed, waiting) = (0, 0);
        }
        compressed += u64::from(piece.nbytes);
        waiting = waiting.saturating_add(column.unpacked(piece));
        most = most.max(waiting.saturating_add(u64::from(piece.nbytes)));
    }
    most
}

/// Pieces of a column that are read together.
#[derive(Debug)]
pub(crate) struct Task {
    /// Index of its column in the request.
    pub sink: usize,
    /// Its ticket in that column.
    pub ticket: u64,
    /// The pieces.
    pub pieces: Range<usize>,
    /// Whether they are the last pieces that begin in their cluster.
    pub ends_cluster: bool,
}

pub(crate) struct Tasks<'a> {
    columns: &'a [&'a Column],
    bounds: &'a [u64],
    requested: RequestedEntries<'a>,
    files: &'a [Arc<dyn Source>],
    /// For each column the next piece and the next ticket.
    next: Vec<(usize, u64)>,
    /// The next cluster.
    cluster: usize,
    ready: VecDeque<Task>,
}

impl<'a> Tasks<'a> {
    pub fn new(
        columns: &'a [&'a Column],
        bounds: &'a [u64],
        requested: RequestedEntries<'a>,
        files: &'a [Arc<dyn Source>],
    ) -> Self {
        let span = requested.span();
        let next = columns.iter().map(|c| (c.source.overlapping(&span).start, 0)).collect();
        // The cluster that holds the first entry.
        let cluster = bounds.partition_point(|&bound| bound <= span.start).saturating_sub(1);
        let tasks = Self { columns, bounds, requested, files, next, cluster, ready: VecDeque::new() };
        tasks.announce(cluster);
        tasks
    }

    pub fn next(&mut self) -> Option<Task> {
        while self.ready.is_empty() {
            let end = self.end_of(self.cluster)?;
            self.announce(self.cluster + 1);
            self.deal(end);
            self.cluster += 1;
        }
        self.ready.pop_front()
    }

    /// The end of a cluster, as far as it is requested. Entries behind the last cluster belong to it.
    fn end_of(&self, cluster: usize) -> Option<u64> {
        let span = self.requested.span();
        let start = *self.bounds.get(cluster)?;
        let last = cluster + 2 >= self.bounds.len();
        let end = if last { span.end } else { *self.bounds.get(cluster + 1)? };
        let begins = cluster + 1 < self.bounds.len() && start < span.end && !span.is_empty();
        begins.then_some(end.min(span.end))
    }

    fn deal(&mut self, end: u64) {
        for (sink, column) in self.columns.iter().enumerate() {
            let Some((next, ticket)) = self.next.get_mut(sink) else { continue };
            let dealt = self.ready.len();
            let mut deal = |pieces: Range<usize>| {
                if !pieces.is_empty() {
                    self.ready.push_back(Task { sink, ticket: *ticket, pieces, ends_cluster: false });
                    *ticket += 1;
                }
            };
            let (mut from, mut bytes) = (*next, 0);
            while let Some(piece) = column.source.pieces.get(*next).filter(|piece| piece.first_entry < end) {
                let unwanted = self.requested.count(&(piece.first_entry..piece.end())) == 0;
                bytes += u64::from(piece.nbytes);
                if unwanted || bytes >= TASK_BYTES {
                    deal(from..*next + usize::from(!unwanted));
                    (from, bytes) = (*next + 1, 0);
                }
                *next += 1;
            }
            deal(from..*next);
            if let Some(last) = self.ready.range_mut(dealt..).last() {
                last.ends_cluster = true;
            }
        }
    }

    /// Tells the files which bytes a cluster needs.
    fn announce(&self, cluster: usize) {
        let (Some(&start), Some(end)) = (self.bounds.get(cluster), self.end_of(cluster)) else { return };
        let mut places: Vec<(u32, u64, u64)> = Vec::new();
        for column in self.columns {
            let overlapping = column.source.pieces.get(column.source.overlapping(&(start..end))).unwrap_or_default();
            let requested =
                |p: &&Piece| p.file != FILL && !p.is_embedded() && self.requested.count(&(p.first_entry..p.end())) > 0;
            places.extend(overlapping.iter().filter(requested).map(|p| (p.file, p.seek, p.seek + u64::from(p.nbytes))));
        }
        places.sort_unstable();
        let mut run: Option<(u32, u64, u64)> = None;
        for place in places {
            match &mut run {
                Some((file, _, end)) if *file == place.0 && place.1 <= end.saturating_add(MAX_GAP) => {
                    *end = (*end).max(place.2)
                }
                _ => {
                    self.will_need(run.replace(place));
                }
            }
        }
        self.will_need(run);
    }

    fn will_need(&self, run: Option<(u32, u64, u64)>) {
        if let Some((file, start, end)) = run
            && let Some(source) = self.files.get(file as usize)
        {
            source.will_need(&[start..end]);
        }
    }
}
