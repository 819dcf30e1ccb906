//! One column of an output: where its entries come from, over all inputs, and how they are to lie.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use dataset::tree::basket::{BasketHeader, GENERATE_OFFSET_MAP};
use rootfile::Source;
use rootfile::codec::Compression;

use crate::engine::Generated;

/// Some consecutive entries of a column that lie in one record of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First entry, counted over all inputs.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Offset of the record; 0 for a basket that lies in the tree's record.
    pub seek: u64,
    /// Bytes of the record.
    pub nbytes: u32,
    /// Which of the files of the job holds it.
    pub file: u32,
}

impl Piece {
    /// The entry after the last.
    pub fn end(&self) -> u64 {
        self.first_entry + self.entries
    }

    /// Whether it lies in the tree's record.
    pub fn is_embedded(&self) -> bool {
        self.seek == 0
    }
}

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
    pub generated: Option<Generated>,
    /// The bytes of an entry of pieces whose file is [`FILL`].
    pub fill: Option<Vec<u8>>,
}

/// Number of no file: pieces of it hold the column's default entry.
pub const FILL: u32 = u32::MAX;

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
        }
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
        self.io_bits & GENERATE_OFFSET_MAP != 0 && self.generated.as_ref().is_some_and(Generated::root_agrees)
    }

    /// Whether baskets may leave out offsets that readers would then not find.
    pub fn is_misread(&self) -> bool {
        self.generated.is_some() && !self.may_leave_out_offsets()
    }

    /// Bytes that a piece is thought to have before compression.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, clamped")]
    pub fn expanded(&self, piece: &Piece) -> u64 {
        ((f64::from(piece.nbytes) * self.expansion.max(1.0)) as u64).min(self.tot_bytes.max(u64::from(piece.nbytes)))
    }
}

/// The bytes of all inputs.
pub type Files = [Arc<dyn Source>];
