//! Deals out the requested baskets, cluster by cluster and in each cluster column by column, in file order, but first those that wait for
//! no other. Tasks are made on demand. Before the tasks of a cluster the bytes of the next one are announced; of remote files those of
//! more clusters, as far as there is room.

use std::collections::VecDeque;
use std::ops::Range;

use dataset::table::FileRange;
use dataset::table::piece::Piece;

use super::dataset::ReadColumn;
use super::request::RequestedEntries;
use crate::execute::fetch::read_ahead::ReadAhead;
use crate::table::tree::column::Column;

/// Compressed bytes that wait decompressed for their ticket: enough to be worth taking one, few enough for a core's cache.
pub(super) const TASK_BYTES: u64 = 256 << 10;

/// Most compressed bytes of a task: who watches is asked before each whether the work goes on.
const MOST_BYTES: u64 = 32 << 20;

/// A column with less than one part in this many of a thread's share of a cluster is one task: threads then read different columns, and
/// each decodes without waiting for others. Larger ones are dealt out in small tasks, so that no thread is left with much at the end.
const SHARE: u64 = 4;

/// Largest number of bytes that one thread needs for a task: its pieces wait decompressed for their ticket.
pub(crate) fn memory_needs(column: &Column, pieces: Range<usize>) -> u64 {
    let (mut most, mut compressed, mut waiting) = (0, 0, 0u64);
    for piece in column.source.pieces.get(pieces).unwrap_or_default() {
        if compressed >= TASK_BYTES {
            (compressed, waiting) = (0, 0);
        }
        compressed += task_bytes(column, piece);
        waiting = waiting.saturating_add(column.unpacked(piece));
        most = most.max(waiting.saturating_add(u64::from(piece.packed_len())));
    }
    most
}

/// What a piece takes of a task's bytes. Default entries are in no file, but wait like others.
fn task_bytes(column: &Column, piece: &Piece) -> u64 {
    match piece.is_default() {
        true => column.unpacked(piece).min(TASK_BYTES),
        false => piece.packed_len().into(),
    }
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
}

pub(super) struct Tasks<'a> {
    columns: &'a [ReadColumn<'a>],
    bounds: &'a [u64],
    requested: RequestedEntries<'a>,
    ahead: &'a ReadAhead,
    /// The entries of this request and of those that will follow it: they are announced.
    horizon: RequestedEntries<'a>,
    /// For each column the next piece and the next ticket.
    next: Vec<(usize, u64)>,
    /// The next cluster.
    cluster: usize,
    threads: u64,
    ready: VecDeque<Task>,
}

impl<'a> Tasks<'a> {
    pub fn new(
        columns: &'a [ReadColumn<'a>],
        bounds: &'a [u64],
        (requested, horizon): (RequestedEntries<'a>, RequestedEntries<'a>),
        ahead: &'a ReadAhead,
    ) -> Self {
        let span = requested.span();
        let next = columns.iter().map(|read| (read.column.source.overlapping(&span).start, 0)).collect();
        // The cluster that holds the first entry.
        let cluster = bounds.partition_point(|&bound| bound <= span.start).saturating_sub(1);
        Self { columns, bounds, requested, ahead, horizon, next, cluster, threads: 1, ready: VecDeque::new() }
    }

    /// Deals the tasks out to so many threads.
    pub fn for_threads(self, threads: usize) -> Self {
        Self { threads: threads as u64, ..self }
    }

    /// The next task: the first that waits for no other, if there is one.
    pub fn next(&mut self, is_free: impl Fn(&Task) -> bool) -> Option<Task> {
        while self.ready.is_empty() {
            let end = self.end_of(self.cluster)?;
            self.announce();
            self.deal(end);
            self.cluster += 1;
        }
        let free = if self.threads > 1 { self.ready.iter().position(is_free) } else { None };
        self.ready.remove(free.unwrap_or(0))
    }

    /// The end of a cluster, as far as it is requested. Entries behind the last cluster belong to it.
    fn end_of(&self, cluster: usize) -> Option<u64> {
        self.end_within(cluster, &self.requested.span())
    }

    fn end_within(&self, cluster: usize, span: &Range<u64>) -> Option<u64> {
        let start = *self.bounds.get(cluster)?;
        let last = cluster + 2 >= self.bounds.len();
        let end = if last { span.end } else { *self.bounds.get(cluster + 1)? };
        let begins = cluster + 1 < self.bounds.len() && start < span.end && !span.is_empty();
        begins.then_some(end.min(span.end))
    }

    /// The bytes of each column's tasks in a cluster with this end.
    fn task_sizes(&self, end: u64) -> Vec<u64> {
        if self.threads <= 1 {
            return vec![MOST_BYTES; self.columns.len()];
        }
        let in_cluster = |(ReadColumn { column, .. }, (next, _)): (&ReadColumn<'_>, &(usize, u64))| {
            let pieces = column.source.pieces.get(*next..).unwrap_or_default();
            pieces
                .iter()
                .take_while(|piece| piece.first_entry < end)
                .map(|piece| task_bytes(column, piece))
                .sum::<u64>()
        };
        let bytes: Vec<u64> = self.columns.iter().zip(&self.next).map(in_cluster).collect();
        let share = bytes.iter().sum::<u64>() / self.threads / SHARE;
        bytes.into_iter().map(|bytes| if bytes <= share { MOST_BYTES } else { TASK_BYTES }).collect()
    }

    fn deal(&mut self, end: u64) {
        let sizes = self.task_sizes(end);
        for (sink, ReadColumn { column, .. }) in self.columns.iter().enumerate() {
            let Some((next, ticket)) = self.next.get_mut(sink) else { continue };
            let most = sizes.get(sink).copied().unwrap_or(TASK_BYTES);
            let mut deal = |pieces: Range<usize>| {
                if !pieces.is_empty() {
                    self.ready.push_back(Task { sink, ticket: *ticket, pieces });
                    *ticket += 1;
                }
            };
            let (mut from, mut bytes) = (*next, 0);
            while let Some(piece) = column.source.pieces.get(*next).filter(|piece| piece.first_entry < end) {
                let unwanted = self.requested.count(&(piece.first_entry..piece.end())) == 0;
                bytes += task_bytes(column, piece);
                if unwanted || bytes >= most {
                    deal(from..*next + usize::from(!unwanted));
                    (from, bytes) = (*next + 1, 0);
                }
                *next += 1;
            }
            deal(from..*next);
        }
    }

    /// Announces the bytes of this cluster and the next, and of more while there is room for them.
    fn announce(&self) {
        let Self { ahead, horizon, .. } = self;
        let span = horizon.span();
        let mut announced = ahead.announced();
        let mut cluster = self.cluster;
        while cluster <= self.cluster + 1 || ahead.wants_more() {
            let Some(end) = self.end_within(cluster, &span) else { return };
            if end > *announced {
                let from = (*announced).max(self.bounds.get(cluster).copied().unwrap_or(0)).max(span.start);
                ahead.announce(self.places(&(from..end)));
                *announced = end;
            }
            cluster += 1;
        }
    }

    /// Where the pieces are that begin in these entries, and those that begin before the first of all.
    fn places(&self, entries: &Range<u64>) -> Vec<FileRange> {
        let is_first = entries.start <= self.requested.span().start;
        let mut places = Vec::new();
        for read in self.columns {
            let requested = |p: &&Piece| {
                // Finding the pages of a piece is worth while only if they are fetched then.
                (p.record().is_some() || (p.file_read().is_some() && self.ahead.fetches()))
                    && (is_first || p.first_entry >= entries.start)
                    && self.horizon.count(&(p.first_entry..p.end())) > 0
            };
            let wanted = read.column.source.pieces_with(entries).iter().filter(requested);
            places.extend(wanted.flat_map(|piece| read.ranges(piece, &self.horizon)));
        }
        places
    }
}
