//! Tasks in the order of the output: for each cluster first the records that are copied, then the columns that are made
//! anew, one by one. Tasks are made on demand, since there may be millions.

use std::collections::VecDeque;
use std::ops::Range;

use dataset::table::FileRange;
use dataset::table::piece::{Piece, Record};

use super::job::Job;
use crate::execute::fetch::read_ahead::{ReadAhead, place};
use crate::table::depth::{Depth, Depths, OutputCluster, depth};
use crate::table::tree::column::Column;

/// Bytes that one copy task moves. The data stay in a core's cache between reading and writing.
pub(crate) const WINDOW: usize = 256 << 10;

/// A task makes baskets of about this many bytes, where baskets keep their entries: so that several threads work on a large column.
const PART: u64 = 2 << 20;

/// A piece of work.
#[derive(Debug)]
pub(crate) enum Task {
    /// Records to copy. They are neighbours in one file.
    Copy(Vec<CopiedRecord>),
    /// The entries of one column in one cluster, to be regrouped, or some of them to be recompressed.
    Make { column: usize, entries: Range<u64>, depth: Depth },
    /// The entries of one cluster in a group of columns to be recoded. `group` is an index of the job's recodes.
    Recode { group: usize, entries: Range<u64> },
}

/// A record that is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopiedRecord {
    pub column: usize,
    pub piece: Piece,
    pub record: Record,
}

pub(crate) struct Tasks<'a> {
    job: &'a Job<'a>,
    ahead: &'a ReadAhead,
    cluster: usize,
    /// For each column the next piece, and the depths of its clusters so far.
    places: Vec<(usize, Depths)>,
    ready: VecDeque<Task>,
}

impl<'a> Tasks<'a> {
    pub fn new(job: &'a Job<'a>, ahead: &'a ReadAhead) -> Self {
        Self { job, ahead, cluster: 0, places: vec![(0, Depths::default()); job.columns.len()], ready: VecDeque::new() }
    }

    /// The next task. None after the last.
    pub fn next(&mut self) -> Option<Task> {
        while self.ready.is_empty() || self.ahead.wants_more() {
            let bounds = self.job.bounds.get(self.cluster).zip(self.job.bounds.get(self.cluster + 1));
            let Some((start, end)) = bounds else { break };
            let cluster = self.job.cluster(self.cluster, *start..*end);
            self.cluster += 1;
            let before = self.ready.len();
            self.fill(&cluster);
            if self.ahead.fetches() {
                self.ahead.announce(self.places(before));
            }
        }
        self.ready.pop_front()
    }

    /// The depths of the clusters of each column, once no tasks are left.
    pub fn depths(&self) -> impl Iterator<Item = Depths> {
        self.places.iter().map(|(_, depths)| *depths)
    }

    fn fill(&mut self, cluster: &OutputCluster) {
        let entries = &cluster.entries;
        let mut copies = Vec::new();
        let mut makes = Vec::new();
        for ((i, column), (at, depths)) in self.job.columns.iter().enumerate().zip(&mut self.places) {
            let range = column.source.overlapping_next(at, entries);
            if range.is_empty() {
                continue;
            }
            let pieces = column.source.pieces.get(range.clone()).unwrap_or_default();
            // What stays where it is needs no room for another position.
            let stays = self.job.stays.is_some() && pieces.iter().all(|piece| piece.file() == self.job.stays);
            let own = OutputCluster { copies_fit: cluster.copies_fit || stays, ..cluster.clone() };
            let depth = depth(column, &range, &own);
            depths.count(depth);
            match depth {
                Depth::Copy => copies.extend(
                    pieces.iter().filter_map(|&piece| Some(CopiedRecord { column: i, piece, record: piece.record()? })),
                ),
                Depth::Recompress => makes.extend(parts(pieces, entries).into_iter().map(|entries| Task::Make {
                    column: i,
                    entries,
                    depth,
                })),
                depth => makes.push(Task::Make { column: i, entries: entries.clone(), depth }),
            }
        }
        self.add_copies(copies);
        self.ready.extend(makes);
        for (group, recode) in self.job.recodes.iter().enumerate().filter(|(_, recode)| recode.covers(entries)) {
            for output in &recode.outputs {
                if let Some((_, depths)) = self.places.get_mut(output.column) {
                    depths.count(Depth::Recode);
                }
            }
            self.ready.push_back(Task::Recode { group, entries: entries.clone() });
        }
    }

    /// Copies neighbours together: records in file order, cut into windows.
    fn add_copies(&mut self, mut copies: Vec<CopiedRecord>) {
        copies.sort_unstable_by_key(|copied| (copied.record.file, copied.record.offset, copied.column));
        let mut left = copies.as_slice();
        while let Some(CopiedRecord { record: first, .. }) = left.first() {
            let fits = |record: &Record| record.file == first.file && record.end() - first.offset <= WINDOW as u64;
            // At least one, however large it is.
            let more = left.iter().skip(1).take_while(|copied| fits(&copied.record)).count();
            let (window, rest) = left.split_at(1 + more);
            self.ready.push_back(Task::Copy(window.to_vec()));
            left = rest;
        }
    }

    /// Where the pieces are that the tasks from this one on read, and no task before.
    fn places(&self, from: usize) -> Vec<FileRange> {
        let mut places = Vec::new();
        for task in self.ready.range(from..) {
            match task {
                Task::Copy(copies) => places.extend(copies.iter().map(|copied| place(&copied.record))),
                Task::Make { column, entries, .. } => {
                    places.extend(self.job.columns.get(*column).into_iter().flat_map(|c| new_places(c, entries)));
                }
                Task::Recode { group, entries } => {
                    let sources = self.job.recodes.get(*group).into_iter().flat_map(|recode| &recode.sources);
                    places.extend(sources.flat_map(|source| new_places(&source.column, entries)));
                }
            }
        }
        places
    }
}

/// The entries of a cluster in parts that end where baskets do.
fn parts(pieces: &[Piece], entries: &Range<u64>) -> Vec<Range<u64>> {
    let (mut parts, mut start, mut bytes) = (Vec::new(), entries.start, 0);
    for (basket, next) in pieces.iter().zip(pieces.iter().skip(1)) {
        bytes += basket.record().map_or(0, |record| u64::from(record.len));
        // A basket without entries belongs to those beside it.
        if bytes >= PART && basket.entries > 0 && next.entries > 0 {
            parts.push(start..basket.end());
            (start, bytes) = (next.first_entry, 0);
        }
    }
    parts.push(start..entries.end);
    parts
}

/// Where the pieces of a column are that are read for a cluster with these entries, and not for the one before.
fn new_places(column: &Column, entries: &Range<u64>) -> impl Iterator<Item = FileRange> {
    let is_new = |piece: &&Piece| piece.first_entry >= entries.start || entries.start == 0;
    column.source.pieces_with(entries).iter().filter(is_new).filter_map(Piece::record).map(|record| place(&record))
}

#[cfg(test)]
mod tests {
    use dataset::table::piece::Stored;

    use super::*;

    #[test]
    fn parts_end_where_baskets_do() {
        let piece = |first_entry: u64, entries: u64, len: u64| {
            let record = Record { file: 0, offset: 0, len: u32::try_from(len).unwrap() };
            Piece { first_entry, entries, stored: Stored::Record(record) }
        };
        let small: Vec<Piece> = (0..5).map(|n| piece(10 * n, 10, 1000)).collect();
        assert_eq!(parts(&small, &(0..50)), std::slice::from_ref(&(0..50)));
        let large: Vec<Piece> = (0..5).map(|n| piece(10 * n, 10, PART / 2)).collect();
        assert_eq!(parts(&large, &(0..50)), [0..20, 20..40, 40..50]);
        // Missing entries, and baskets without any.
        let odd = [piece(0, 10, PART), piece(10, 0, PART), piece(15, 5, PART), piece(20, 5, PART)];
        assert_eq!(parts(&odd, &(0..30)), [0..20, 20..30]);
        assert_eq!(parts(&[], &(3..7)), std::slice::from_ref(&(3..7)));
    }
}
