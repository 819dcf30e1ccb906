//! One column of an output: the source of its entries, their form, and their target layout.

use std::ops::Range;
use std::sync::Arc;

use dataset::defaults::DefaultItems;
use dataset::table::ColumnPieces;
use dataset::table::piece::Piece;
use dataset::tree::basket::{BasketHeader, GENERATE_OFFSET_MAP, Listed, Peek};
use rootfile::codec::Compression;
use rootfile::{Error, Result};

use super::source::ColumnSource;
use crate::table::target::{ColumnTarget, Shape};

/// A column of the output.
#[derive(Clone, Debug)]
pub struct Column {
    /// Index of its branch in the output tree.
    pub branch: usize,
    /// Name of the branch.
    pub name: String,
    /// Name of the tree, which is the title of baskets.
    pub tree_name: String,
    /// Its entries in the inputs.
    pub source: ColumnSource,
    /// The form of its entries in baskets.
    pub form: EntryForm,
    /// Its layout in the output.
    pub target: ColumnTarget,
}

/// The form of a column's entries in its baskets.
#[derive(Clone, Debug, Default)]
pub struct EntryForm {
    /// Whether entries vary in length.
    pub has_offsets: bool,
    /// The branch's IO features, which define the form of offsets in baskets. They are the same in all baskets, since ROOT
    /// reads one basket into the object of another.
    pub io_bits: u8,
    /// Whether entries may hold class tags, which count from the offset of the entry.
    pub has_tags: bool,
    /// Whether some baskets of the inputs may leave out offsets that follow from a counter.
    pub leaves_out_offsets: bool,
    /// How entry lengths follow from a counter, if offsets were left out.
    pub counted: Option<CountedOffsets>,
    /// How long default entries are, if a counter counts their items.
    pub filled: Option<CountedDefaults>,
}

/// Default entries of as many items as the branch's counter says.
#[derive(Clone, Debug)]
pub struct CountedDefaults {
    /// How the lengths follow from the counter.
    pub counts: CountedOffsets,
    /// What entries consist of.
    pub items: DefaultBytes,
}

/// The bytes of default entries with counted items.
#[derive(Clone, Debug)]
pub enum DefaultBytes {
    /// Zeros.
    Zeros,
    /// Those of an encoder.
    Encoded(DefaultItems),
    /// An item has no default: there may be none.
    Unknown,
}

/// Entry offsets that were left out of baskets (`kGenerateOffsetMap`): how they follow from the branch's counter.
///
/// With that feature ROOT does not write the offsets of a branch whose entries' lengths follow from another
/// branch (`TBasket::GetEntryOffset`, `TLeaf::GenerateOffsetArrayBase`): an entry has the counter's value times
/// the length of one item.
#[derive(Clone, Debug)]
pub struct CountedOffsets {
    /// The counting branch.
    pub counter: Arc<Column>,
    /// Offset of the count in an entry of the counter.
    pub at: usize,
    /// Bytes of the count.
    pub width: usize,
    /// Bytes of an entry per count.
    pub each: u32,
    /// Bytes of an entry that do not depend on the count.
    pub besides: u32,
    /// Bytes of one number. ROOT assumes these bytes per count: where items are arrays it computes wrong offsets, and reads
    /// wrong values (seen with 6.40).
    pub number: u32,
}

impl CountedOffsets {
    /// Whether ROOT finds the right offsets, so that they may be left out.
    pub(crate) fn root_agrees(&self) -> bool {
        self.each == self.number && self.besides == 0
    }
}

impl Column {
    /// A column without entries.
    pub fn new(branch: usize, (name, tree_name): (String, String), compression: Compression, shape: Shape) -> Self {
        let target = ColumnTarget::new(compression, shape);
        Self { branch, name, tree_name, source: ColumnSource::default(), form: EntryForm::default(), target }
    }

    /// A column of a table of any container, to be read only.
    pub fn stored(branch: usize, names: (String, String), stored: ColumnPieces) -> Self {
        let mut column = Self::new(branch, names, Compression::NONE, Shape::PerCluster);
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let expansion = stored.raw_len as f64 / stored.packed_len.max(1) as f64;
        column.source.expansion = expansion.max(1.0);
        column.source.tot_bytes = stored.raw_len;
        column.source.pieces = stored.pieces;
        column
    }

    /// The same entries, to be read only.
    pub fn only_source(&self) -> Self {
        let mut target = ColumnTarget::new(self.target.compression, self.target.shape);
        (target.packed_size, target.keeps_compression) = (self.target.packed_size, true);
        Self {
            branch: self.branch,
            name: self.name.clone(),
            tree_name: self.tree_name.clone(),
            source: self.source.clone(),
            form: EntryForm { counted: None, ..self.form.clone() },
            target,
        }
    }

    /// Compares the header of a record with its piece. Returns whether only the payload can tell if the header is right.
    pub fn check(&self, piece: &Piece, header: &Peek<'_>) -> Result<bool> {
        let record = piece.record().ok_or_else(no_record)?;
        let unsure = header.check(&Listed { seek: record.offset, nbytes: record.len, entries: piece.entries })?;
        let [_, branch, tree] = header.names;
        // The baskets of a renamed branch or tree keep the old name.
        if branch != self.name.as_bytes()
            && tree == self.tree_name.as_bytes()
            && let Ok(other) = std::str::from_utf8(branch)
            && self.source.siblings.contains(other)
        {
            return Err(Error::corrupt(format!("this basket belongs to branch {other}")));
        }
        Ok(unsure)
    }

    /// Largest expected number of baskets in `clusters` clusters.
    pub fn most_baskets(&self, clusters: u64) -> u64 {
        let pieces = self.source.pieces.len() as u64;
        let (Some(first), Some(last)) = (self.source.pieces.first(), self.source.pieces.last()) else { return 0 };
        // A cluster has at least one entry.
        let clusters = clusters.min(last.end() - first.first_entry);
        match self.target.shape {
            Shape::PerCluster => clusters,
            Shape::Keep(_) => pieces + clusters,
            Shape::Size(size) => {
                let bytes: u64 = self.source.pieces.iter().map(|p| self.source.expanded_bytes(p)).sum();
                clusters + (bytes / u64::from(size.max(1))).max(pieces)
            }
        }
    }

    /// Bytes of a piece's entries in memory, with their offsets if they vary in length.
    pub fn unpacked(&self, piece: &Piece) -> u64 {
        let places = if self.form.has_offsets { 4 * piece.entries } else { 0 };
        self.source.loaded_bytes(piece).max(piece.packed_len().into()).saturating_add(places)
    }

    /// Largest number of bytes of the pieces that begin in one cluster, among some pieces.
    pub fn largest_cluster(&self, bounds: &[u64], pieces: Range<usize>) -> u64 {
        let (mut cluster, mut bytes, mut most) = (0, 0u64, 0);
        for piece in self.source.pieces.get(pieces).unwrap_or_default() {
            while bounds.get(cluster + 1).is_some_and(|&end| end <= piece.first_entry) {
                (cluster, bytes) = (cluster + 1, 0);
            }
            bytes = bytes.saturating_add(self.unpacked(piece));
            most = most.max(bytes);
        }
        most
    }

    /// Bytes of the largest of some pieces in memory.
    pub fn largest(&self, pieces: Range<usize>) -> u64 {
        let pieces = self.source.pieces.get(pieces).unwrap_or_default();
        pieces.iter().map(|piece| self.unpacked(piece)).max().unwrap_or(0)
    }

    /// Renumbers its branch and its files, behind `branches` and `files` others.
    pub fn join(&mut self, branches: usize, files: u32) {
        self.branch += branches;
        self.source.pieces.iter_mut().for_each(|piece| *piece = piece.behind(files));
        let recasts = std::mem::take(&mut self.source.recasts);
        self.source.recasts = recasts.into_iter().map(|(file, recast)| (file + files, recast)).collect();
        let filled = self.form.filled.as_mut().map(|filled| &mut filled.counts);
        for counted in self.form.counted.as_mut().into_iter().chain(filled) {
            let mut counter = counted.counter.only_source();
            counter.join(branches, files);
            counted.counter = Arc::new(counter);
        }
    }

    /// Bytes of the key of a basket in the output.
    pub fn keylen(&self) -> usize {
        self.basket_header().keylen()
    }

    /// The part of the header that all its baskets in the output have in common.
    pub fn basket_header(&self) -> BasketHeader {
        BasketHeader::new(&self.name, &self.tree_name, 0, 0).with_io_bits(self.form.io_bits)
    }

    /// Whether readers can compute entry offsets that are not written.
    pub fn may_leave_out_offsets(&self) -> bool {
        self.form.io_bits & GENERATE_OFFSET_MAP != 0
            && self.form.counted.as_ref().is_some_and(CountedOffsets::root_agrees)
    }

    /// Whether baskets may leave out offsets that ROOT computes wrong.
    pub fn is_misread(&self) -> bool {
        self.form.counted.is_some() && !self.may_leave_out_offsets()
    }
}

/// The error for a piece whose bytes are in no record.
#[cold]
pub(crate) fn no_record() -> Error {
    Error::request("a piece without a record of its own")
}
