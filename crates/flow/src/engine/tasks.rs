//! The order of the output, as tasks: for each cluster first what is copied, then what is made anew, column by
//! column. Tasks are made when they are asked for, since there may be millions.

use std::collections::VecDeque;
use std::ops::Range;

use super::Job;
use crate::column::{Column, Piece, Shape};

/// Bytes that one copying task moves: few enough to stay in a core's own cache between reading and writing.
pub(super) const WINDOW: usize = 256 << 10;

/// A piece of work.
#[derive(Debug)]
pub(super) enum Task {
    /// Records to be moved as they are, each with its column: neighbours in one file.
    Copy(Vec<(usize, Piece)>),
    /// The entries of one column in one cluster, to be made anew.
    Make { column: usize, entries: Range<u64>, depth: Depth },
    /// The entries of one cluster in columns that become others, by their number among such.
    Recode { group: usize, entries: Range<u64> },
}

/// How deep a column's entries are opened in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Records are moved as they are.
    Copy,
    /// Records are decompressed and compressed anew.
    Recompress,
    /// Entries are put into new baskets.
    Regroup,
    /// Entries are decoded and encoded in another form.
    Recode,
}

/// How many clusters of a column are treated at each depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Depths {
    /// Copied.
    pub copy: u64,
    /// Recompressed.
    pub recompress: u64,
    /// Regrouped.
    pub regroup: u64,
    /// Recoded.
    pub recode: u64,
}

impl Depths {
    /// Counts one more.
    pub fn count(&mut self, depth: Depth) {
        match depth {
            Depth::Copy => self.copy += 1,
            Depth::Recompress => self.recompress += 1,
            Depth::Regroup => self.regroup += 1,
            Depth::Recode => self.recode += 1,
        }
    }
}

impl std::ops::Add for Depths {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            copy: self.copy + other.copy,
            recompress: self.recompress + other.recompress,
            regroup: self.regroup + other.regroup,
            recode: self.recode + other.recode,
        }
    }
}

/// A cluster of the output, as far as the choice of depth goes.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Its entries.
    pub entries: Range<u64>,
    /// Whether it is put together from several clusters of the inputs.
    pub packed: bool,
    /// Whether records may be copied.
    pub copies_fit: bool,
}

/// The shallowest depth that brings a column's entries of one cluster, which these pieces hold, into the asked layout.
pub(crate) fn depth(column: &Column, range: &Range<usize>, asked: &Asked) -> Depth {
    let entries = &asked.entries;
    let pieces = column.pieces.get(range.clone()).unwrap_or_default();
    let whole = |p: &Piece| p.first_entry >= entries.start && p.end() <= entries.end && !p.is_embedded();
    let whole = column.takes_whole(range) && pieces.iter().all(whole);
    if column.is_misread() || !whole || !shape_fits(column, pieces, asked.packed) {
        return Depth::Regroup;
    }
    let as_asked = |p: &Piece| usize::try_from(p.file).ok().and_then(|f| column.as_asked.get(f)).is_some_and(|a| *a);
    if asked.copies_fit && pieces.iter().all(as_asked) {
        return Depth::Copy;
    }
    Depth::Recompress
}

/// Whether the baskets there are, are as asked. Their sizes before compression are estimated: only their
/// records know them.
fn shape_fits(column: &Column, pieces: &[Piece], packed: bool) -> bool {
    // A basket that the next one's first half would still fit into was closed too early.
    let full = |size: u32| {
        let enough = |pair: &[Piece]| column.expanded(&pair[0]) + column.expanded(&pair[1]) / 2 > u64::from(size);
        pieces.windows(2).all(enough)
    };
    match column.shape {
        // Baskets cannot be joined where a branch has fewer entries than its tree.
        Shape::Keep(size) => !packed || has_gap(pieces) || full(column.packed_size.unwrap_or(size)),
        Shape::PerCluster => pieces.len() <= 1,
        Shape::Size(size) => {
            let most = u64::from(size) + u64::from(size) / 8;
            full(size) && pieces.iter().all(|p| column.expanded(p) <= most || p.entries == 1)
        }
    }
}

fn has_gap(pieces: &[Piece]) -> bool {
    pieces.windows(2).any(|pair| pair[0].end() != pair[1].first_entry)
}

impl Job<'_> {
    /// Whether the cluster that holds an entry is put together from several.
    pub fn is_packed(&self, entry: u64) -> bool {
        let cluster = self.bounds.partition_point(|&bound| bound <= entry).checked_sub(1);
        cluster.and_then(|cluster| self.packed.get(cluster)).copied().unwrap_or(false)
    }

    /// A cluster of the output.
    pub fn asked(&self, cluster: usize, entries: Range<u64>) -> Asked {
        let packed = self.packed.get(cluster).copied().unwrap_or(false);
        Asked { entries, packed, copies_fit: self.copies_fit }
    }
}

pub(super) struct Tasks<'a> {
    job: &'a Job<'a>,
    cluster: usize,
    /// Where in its pieces each column is, and how its clusters so far are treated.
    places: Vec<(usize, Depths)>,
    ready: VecDeque<Task>,
}

impl<'a> Tasks<'a> {
    pub fn new(job: &'a Job<'a>) -> Self {
        Self { job, cluster: 0, places: vec![(0, Depths::default()); job.columns.len()], ready: VecDeque::new() }
    }

    pub fn next(&mut self) -> Option<Task> {
        while self.ready.is_empty() {
            let start = *self.job.bounds.get(self.cluster)?;
            let end = *self.job.bounds.get(self.cluster + 1)?;
            let asked = self.job.asked(self.cluster, start..end);
            self.cluster += 1;
            self.fill(&asked);
        }
        self.ready.pop_front()
    }

    /// How the clusters of each column are treated, once there are no more tasks.
    pub fn depths(&self) -> impl Iterator<Item = Depths> {
        self.places.iter().map(|(_, depths)| *depths)
    }

    fn fill(&mut self, asked: &Asked) {
        let entries = &asked.entries;
        let mut copies = Vec::new();
        let mut makes = Vec::new();
        for ((i, column), (at, depths)) in self.job.columns.iter().enumerate().zip(&mut self.places) {
            let range = column.overlapping_next(at, entries);
            if range.is_empty() {
                continue;
            }
            let depth = depth(column, &range, asked);
            let pieces = column.pieces.get(range).unwrap_or_default();
            depths.count(depth);
            match depth {
                Depth::Copy => copies.extend(pieces.iter().map(|piece| (i, *piece))),
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

    /// Neighbours are moved together: pieces in the order they lie in, cut into windows.
    fn add_copies(&mut self, mut copies: Vec<(usize, Piece)>) {
        copies.sort_unstable_by_key(|(column, piece)| (piece.file, piece.seek, *column));
        let mut left = copies.as_slice();
        while let Some((_, first)) = left.first() {
            let fits = |p: &Piece| p.file == first.file && p.seek + u64::from(p.nbytes) - first.seek <= WINDOW as u64;
            // At least one, however large it is.
            let more = left.iter().skip(1).take_while(|(_, piece)| fits(piece)).count();
            let (window, rest) = left.split_at(1 + more);
            self.ready.push_back(Task::Copy(window.to_vec()));
            left = rest;
        }
    }
}
