//! One column of an output: where its entries come from, over all inputs, and how they are to lie.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use dataset::tree::basket::{BasketHeader, GENERATE_OFFSET_MAP, Listed, Peek};
use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::counted_offsets::CountedOffsets;
use super::entry_set::Selected;
use super::piece::{FILL, Piece};

/// How the entries of a column are to be cut into baskets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// As they are, as far as clusters allow; where they must be cut anew, by this size.
    Keep(u32),
    /// Where ROOT's writer would close a basket of this size.
    Size(u32),
    /// One basket a cluster.
    PerCluster,
}

/// What of a record is taken, if not all.
#[derive(Clone, Copy, Debug)]
struct PartialRecord {
    /// Its index among the pieces.
    piece: usize,
    /// The entries of the record, counted over all inputs.
    first_entry: u64,
    entries: u64,
}

/// Which entries of a column are taken, where they are chosen.
#[derive(Clone, Debug)]
pub struct ChosenEntries {
    selected: Arc<Selected>,
    parts: Vec<PartialRecord>,
}

/// A column of the output.
#[derive(Debug)]
pub struct Column {
    /// Its branch in the output tree.
    pub branch: usize,
    /// Name of the branch and title of its baskets: the tree's name.
    pub names: (String, String),
    /// Where its entries are, in order.
    pub pieces: Vec<Piece>,
    /// The baskets that lie in trees' records, by index among `pieces`.
    pub embedded: HashMap<usize, Vec<u8>>,
    /// How it is to be compressed.
    pub compression: Compression,
    /// Whether no compression was asked for, so that any there is may stay.
    pub keeps_compression: bool,
    /// Whether pieces of a file have that compression already, by file.
    pub as_asked: Vec<bool>,
    /// How it is to be cut.
    pub shape: Shape,
    /// Size of baskets in clusters that are put together from small ones, where the shape keeps what there is.
    pub packed_size: Option<u32>,
    /// Buffer sizes recorded in the output are this times the largest basket, if asked for.
    pub memory_ratio: Option<f64>,
    /// Whether entries vary in length.
    pub has_offsets: bool,
    /// The branch's IO features, which say how offsets lie in its baskets: the same in all of them, since ROOT
    /// reads one into the object that held another.
    pub io_bits: u8,
    /// Whether entries may hold class tags, which count from where the entry lies.
    pub has_tags: bool,
    /// Bytes before compression over bytes on disk, of what there is.
    pub expansion: f64,
    /// Bytes before compression of all inputs' baskets together; no single one is larger.
    pub tot_bytes: u64,
    /// How entry lengths follow from a counter, where offsets were left out.
    pub generated: Option<CountedOffsets>,
    /// The bytes of an entry of pieces whose file is [`FILL`].
    pub fill: Option<Vec<u8>>,
    /// Which entries are taken, if not all.
    pub choice: Option<ChosenEntries>,
    /// Names of all branches of the inputs' trees.
    pub siblings: Arc<HashSet<String>>,
}

impl Column {
    /// A column without entries.
    pub fn new(branch: usize, names: (String, String), compression: Compression, shape: Shape) -> Self {
        Self {
            branch,
            names,
            pieces: Vec::new(),
            embedded: HashMap::new(),
            compression,
            keeps_compression: false,
            as_asked: Vec::new(),
            shape,
            packed_size: None,
            memory_ratio: None,
            has_offsets: false,
            io_bits: 0,
            has_tags: false,
            expansion: 1.0,
            tot_bytes: 0,
            generated: None,
            fill: None,
            choice: None,
            siblings: Arc::default(),
        }
    }

    /// Holds the header of a record against a piece with all of its entries. Says whether only the payload can tell if
    /// it is right.
    pub fn check(&self, piece: &Piece, header: &Peek<'_>) -> Result<bool> {
        let unsure = header.check(&Listed { seek: piece.seek, nbytes: piece.nbytes, entries: piece.entries })?;
        let [_, branch, tree] = header.names;
        // A branch or tree that was renamed leaves its old name in its baskets.
        if branch != self.names.0.as_bytes()
            && tree == self.names.1.as_bytes()
            && let Ok(other) = std::str::from_utf8(branch)
            && self.siblings.contains(other)
        {
            return Err(Error::corrupt(format!("the basket here is one of branch {other}")));
        }
        Ok(unsure)
    }

    /// Takes only some entries, by which pieces are counted from now on. What holds none of them is forgotten.
    pub fn choose(&mut self, selected: &Arc<Selected>) {
        let mut parts = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut embedded = HashMap::new();
        for (index, piece) in self.pieces.iter().enumerate() {
            let entries = selected.count(&(piece.first_entry..piece.end()));
            if entries == 0 {
                continue;
            }
            if entries < piece.entries && piece.file != FILL {
                parts.push(PartialRecord {
                    piece: pieces.len(),
                    first_entry: piece.first_entry,
                    entries: piece.entries,
                });
            }
            if let Some(bytes) = self.embedded.remove(&index) {
                embedded.insert(pieces.len(), bytes);
            }
            pieces.push(Piece { first_entry: selected.rank(piece.first_entry), entries, ..*piece });
        }
        pieces.shrink_to_fit();
        (self.pieces, self.embedded) = (pieces, embedded);
        self.choice = Some(ChosenEntries { selected: Arc::clone(selected), parts });
    }

    /// What is taken of pieces' records, of those that are not taken whole.
    fn parts(&self, pieces: &Range<usize>) -> &[PartialRecord] {
        let Some(choice) = &self.choice else { return &[] };
        let from = choice.parts.partition_point(|part| part.piece < pieces.start);
        let to = choice.parts.partition_point(|part| part.piece < pieces.end);
        choice.parts.get(from..to).unwrap_or_default()
    }

    /// Whether all entries of the records of some pieces are taken.
    pub fn takes_whole(&self, pieces: &Range<usize>) -> bool {
        self.parts(pieces).is_empty()
    }

    /// A piece with all entries of its record, counted over all inputs.
    pub fn record(&self, index: usize) -> Option<Piece> {
        let piece = *self.pieces.get(index)?;
        let Some(choice) = &self.choice else { return Some(piece) };
        Some(match self.parts(&(index..index + 1)).first() {
            Some(part) => Piece { first_entry: part.first_entry, entries: part.entries, ..piece },
            None => Piece { first_entry: choice.selected.nth(piece.first_entry).unwrap_or(0), ..piece },
        })
    }

    /// Where entries that lie in a piece, are in its record: runs of neighbours.
    pub fn places(&self, index: usize, entries: &Range<u64>) -> impl Iterator<Item = Range<usize>> {
        let local = |entry: u64, first: u64| usize::try_from(entry.saturating_sub(first)).unwrap_or(usize::MAX);
        let chosen = self.choice.as_ref().zip(self.parts(&(index..index + 1)).first());
        let whole = match chosen {
            Some(_) => None,
            None => {
                self.pieces.get(index).map(|p| local(entries.start, p.first_entry)..local(entries.end, p.first_entry))
            }
        };
        let runs = chosen.map(|(choice, part)| {
            let first = part.first_entry;
            choice.selected.runs(entries.clone()).map(move |run| local(run.start, first)..local(run.end, first))
        });
        whole.into_iter().chain(runs.into_iter().flatten())
    }

    /// Entries of all records, taken or not.
    pub fn recorded_entries(&self) -> u64 {
        let taken: u64 = self.pieces.iter().map(|p| p.entries).sum();
        let left = |part: &PartialRecord| {
            part.entries - self.pieces.get(part.piece).map_or(0, |p| p.entries).min(part.entries)
        };
        taken + self.parts(&(0..self.pieces.len())).iter().map(left).sum::<u64>()
    }

    /// Bytes on disk that fall to entries of a range, which some pieces hold.
    #[expect(clippy::cast_precision_loss, reason = "shares")]
    pub fn share(&self, pieces: Range<usize>, entries: &Range<u64>) -> f64 {
        let of = |index: usize| {
            let (piece, record) = (self.pieces.get(index)?, self.record(index)?);
            let n = piece.end().min(entries.end).saturating_sub(piece.first_entry.max(entries.start));
            Some(f64::from(piece.nbytes) * n as f64 / record.entries.max(1) as f64)
        };
        pieces.filter_map(of).sum()
    }

    /// Bytes that the choice of entries takes, besides the set of them.
    pub fn choice_memory(&self) -> u64 {
        self.choice.as_ref().map_or(0, |choice| choice.parts.capacity() as u64 * 24)
    }

    /// Whether there are all entries of a range.
    pub fn covers(&self, entries: &Range<u64>) -> bool {
        let mut at = entries.start;
        for piece in self.pieces.iter().take_while(|piece| piece.first_entry < entries.end) {
            if piece.first_entry > at {
                break;
            }
            at = at.max(piece.end());
        }
        at >= entries.end
    }

    /// The pieces that hold entries of a range.
    pub fn overlapping(&self, entries: &Range<u64>) -> Range<usize> {
        let from = self.pieces.partition_point(|p| p.end() <= entries.start);
        let to = self.pieces.partition_point(|p| p.first_entry < entries.end);
        from..to.max(from)
    }

    /// The same for ranges in ascending order: `at` is where the last search ended, 0 before the first.
    pub fn overlapping_next(&self, at: &mut usize, entries: &Range<u64>) -> Range<usize> {
        let ahead = |from: usize, is_before: &dyn Fn(&Piece) -> bool| {
            from + self.pieces.get(from..).unwrap_or_default().iter().take_while(|p| is_before(p)).count()
        };
        let from = ahead(*at, &|p| p.end() <= entries.start);
        let to = ahead(from, &|p| p.first_entry < entries.end);
        // The last one may reach into the next range.
        *at = to.saturating_sub(1).max(from);
        from..to
    }

    /// About how many baskets it will have in so many clusters, at most.
    pub fn most_baskets(&self, clusters: u64) -> u64 {
        let pieces = self.pieces.len() as u64;
        let (Some(first), Some(last)) = (self.pieces.first(), self.pieces.last()) else { return 0 };
        // A cluster has at least one entry.
        let clusters = clusters.min(last.end() - first.first_entry);
        match self.shape {
            Shape::PerCluster => clusters,
            Shape::Keep(_) => pieces + clusters,
            Shape::Size(size) => {
                let bytes: u64 = self.pieces.iter().map(|p| self.expanded(p)).sum();
                clusters + (bytes / u64::from(size.max(1))).max(pieces)
            }
        }
    }

    /// Bytes of a piece's entries in memory, and of their places where they vary in length.
    pub fn unpacked(&self, piece: &Piece) -> u64 {
        let places = if self.has_offsets { 4 * piece.entries } else { 0 };
        self.expanded(piece).max(u64::from(piece.nbytes)).saturating_add(places)
    }

    /// Bytes of the pieces that begin in one cluster, at most, of some pieces.
    pub fn largest_cluster(&self, bounds: &[u64], pieces: Range<usize>) -> u64 {
        let (mut cluster, mut bytes, mut most) = (0, 0u64, 0);
        for piece in self.pieces.get(pieces).unwrap_or_default() {
            while bounds.get(cluster + 1).is_some_and(|&end| end <= piece.first_entry) {
                (cluster, bytes) = (cluster + 1, 0);
            }
            bytes = bytes.saturating_add(self.unpacked(piece));
            most = most.max(bytes);
        }
        most
    }

    /// The same entries, to be read only.
    pub fn only_pieces(&self) -> Self {
        Self {
            branch: self.branch,
            names: self.names.clone(),
            pieces: self.pieces.clone(),
            embedded: self.embedded.clone(),
            compression: self.compression,
            keeps_compression: true,
            as_asked: Vec::new(),
            shape: self.shape,
            packed_size: self.packed_size,
            memory_ratio: None,
            has_offsets: self.has_offsets,
            io_bits: self.io_bits,
            has_tags: self.has_tags,
            expansion: self.expansion,
            tot_bytes: self.tot_bytes,
            generated: None,
            fill: self.fill.clone(),
            choice: self.choice.clone(),
            siblings: Arc::clone(&self.siblings),
        }
    }

    /// Gives its branch and its files numbers behind so many others.
    pub fn join(&mut self, branches: usize, files: u32) {
        self.branch += branches;
        for piece in self.pieces.iter_mut().filter(|piece| piece.file != FILL) {
            piece.file += files;
        }
        if let Some(generated) = &mut self.generated {
            let mut counter = generated.counter.only_pieces();
            counter.join(branches, files);
            generated.counter = Arc::new(counter);
        }
    }

    /// Bytes of a basket's key in the output.
    pub fn keylen(&self) -> usize {
        self.basket_header().keylen()
    }

    /// The header of its baskets in the output, as far as it is the same for all.
    pub fn basket_header(&self) -> BasketHeader {
        BasketHeader::new(&self.names.0, &self.names.1, 0, 0).with_io_bits(self.io_bits)
    }

    /// Whether readers find entry offsets that are not written.
    pub fn may_leave_out_offsets(&self) -> bool {
        self.io_bits & GENERATE_OFFSET_MAP != 0 && self.generated.as_ref().is_some_and(CountedOffsets::root_agrees)
    }

    /// Whether baskets may leave out offsets that readers would then not find.
    pub fn is_misread(&self) -> bool {
        self.generated.is_some() && !self.may_leave_out_offsets()
    }

    /// Bytes before compression of an entry, on average in the piece where that is most.
    pub fn largest_entry(&self) -> u64 {
        let of = |(index, piece): (usize, &Piece)| {
            let entries = self.record(index).map_or(piece.entries, |record| record.entries);
            self.expanded(piece).div_ceil(entries.max(1))
        };
        self.pieces.iter().enumerate().map(of).max().unwrap_or(0)
    }

    /// Bytes that a piece is thought to have before compression.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, clamped")]
    pub fn expanded(&self, piece: &Piece) -> u64 {
        ((f64::from(piece.nbytes) * self.expansion.max(1.0)) as u64).min(self.tot_bytes.max(u64::from(piece.nbytes)))
    }
}
