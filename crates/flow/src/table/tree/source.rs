//! The source of a column: the pieces that hold its entries, over all inputs, and the entries of them that are selected.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use dataset::EntrySet;
use dataset::recast::Recast;
use dataset::table::piece::{Piece, Stored};

/// A record of which not all entries are selected.
#[derive(Clone, Copy, Debug)]
struct PartialRecord {
    /// Index of its piece.
    piece: usize,
    /// The entries of the record, counted over all inputs.
    first_entry: u64,
    entries: u64,
}

/// The selected entries of a column.
#[derive(Clone, Debug)]
pub struct ChosenEntries {
    selected: Arc<EntrySet>,
    parts: Vec<PartialRecord>,
}

/// The entries of a column in the inputs.
#[derive(Clone, Debug)]
pub struct ColumnSource {
    /// The pieces that hold the entries, in order.
    pub pieces: Vec<Piece>,
    /// The baskets inside records of trees, by the numbers that pieces have for them.
    pub embedded: Vec<Vec<u8>>,
    /// Bytes of the default entry, for pieces of default entries.
    pub fill: Option<Vec<u8>>,
    /// Whether the last entries are in no piece, and there is no default for them.
    pub ends_early: bool,
    /// Of records that go on behind the end of their tree, the entries, by index of their pieces.
    pub overlong: HashMap<usize, u64>,
    /// For files whose bytes mean other things than those of the column, how their entries become the column's.
    pub recasts: HashMap<u32, Arc<Recast>>,
    /// The selected entries, if not all.
    pub chosen: Option<ChosenEntries>,
    /// Ratio of bytes before compression to bytes on disk.
    pub expansion: f64,
    /// Bytes before compression of the baskets of all inputs. No single basket is larger.
    pub tot_bytes: u64,
    /// Names of all branches of the inputs' trees.
    pub siblings: Arc<HashSet<String>>,
}

impl Default for ColumnSource {
    fn default() -> Self {
        Self {
            pieces: Vec::new(),
            embedded: Vec::new(),
            fill: None,
            ends_early: false,
            overlong: HashMap::new(),
            recasts: HashMap::new(),
            chosen: None,
            expansion: 1.0,
            tot_bytes: 0,
            siblings: Arc::default(),
        }
    }
}

impl ColumnSource {
    /// Drops all entries.
    pub fn clear(&mut self) {
        self.pieces = Vec::new();
        self.embedded.clear();
        self.overlong.clear();
    }

    /// Drops entries from `end` on. They lie behind the end of their tree.
    pub fn cut(&mut self, end: u64) {
        while self.pieces.last().is_some_and(|piece| piece.first_entry >= end) {
            self.pieces.pop();
        }
        let index = self.pieces.len().saturating_sub(1);
        if let Some(last) = self.pieces.last_mut().filter(|last| last.end() > end) {
            self.overlong.entry(index).or_insert(last.entries);
            last.entries = end - last.first_entry;
        }
    }

    /// Reduces the source to the selected entries. From here on pieces count selected entries only. Pieces without selected
    /// entries are dropped.
    pub fn select(&mut self, selected: &Arc<EntrySet>) {
        let mut parts = Vec::new();
        let mut pieces: Vec<Piece> = Vec::new();
        let overlong = std::mem::take(&mut self.overlong);
        for (index, piece) in self.pieces.iter().enumerate() {
            let entries = selected.count(&(piece.first_entry..piece.end()));
            if entries == 0 {
                continue;
            }
            let recorded = overlong.get(&index).copied().unwrap_or(piece.entries);
            if entries < recorded {
                let first_entry = piece.first_entry;
                parts.push(PartialRecord { piece: pieces.len(), first_entry, entries: recorded });
            }
            pieces.push(Piece { first_entry: selected.rank(piece.first_entry), entries, ..*piece });
        }
        pieces.shrink_to_fit();
        self.pieces = pieces;
        self.chosen = Some(ChosenEntries { selected: Arc::clone(selected), parts });
    }

    /// The records among some pieces of which not all entries are selected.
    fn partial_records(&self, pieces: &Range<usize>) -> &[PartialRecord] {
        let Some(choice) = &self.chosen else { return &[] };
        let from = choice.parts.partition_point(|part| part.piece < pieces.start);
        let to = choice.parts.partition_point(|part| part.piece < pieces.end);
        choice.parts.get(from..to).unwrap_or_default()
    }

    /// Whether all entries in the records of some pieces are selected.
    pub fn takes_whole(&self, pieces: &Range<usize>) -> bool {
        self.partial_records(pieces).is_empty() && !self.overlong.keys().any(|index| pieces.contains(index))
    }

    /// A piece with all entries of its record, counted over all inputs.
    pub fn record(&self, index: usize) -> Option<Piece> {
        let piece = *self.pieces.get(index)?;
        let recorded = self.overlong.get(&index).copied().unwrap_or(piece.entries);
        let Some(choice) = &self.chosen else { return Some(Piece { entries: recorded, ..piece }) };
        Some(match self.partial_records(&(index..index + 1)).first() {
            Some(part) => Piece { first_entry: part.first_entry, entries: part.entries, ..piece },
            None => Piece { first_entry: choice.selected.nth(piece.first_entry).unwrap_or(0), ..piece },
        })
    }

    /// The indices in a piece's record of some of its entries, as runs of neighbours.
    pub fn indices(&self, index: usize, entries: &Range<u64>) -> impl Iterator<Item = Range<usize>> {
        let local = |entry: u64, first: u64| usize::try_from(entry.saturating_sub(first)).unwrap_or(usize::MAX);
        let chosen = self.chosen.as_ref().zip(self.partial_records(&(index..index + 1)).first());
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

    /// Number of entries in all records, selected or not.
    pub fn recorded_entries(&self) -> u64 {
        let taken: u64 = self.pieces.iter().map(|p| p.entries).sum();
        let left = |part: &PartialRecord| {
            part.entries - self.pieces.get(part.piece).map_or(0, |p| p.entries).min(part.entries)
        };
        taken + self.partial_records(&(0..self.pieces.len())).iter().map(left).sum::<u64>()
    }

    /// Bytes on disk of a range of entries in some pieces, by their share of each record.
    #[expect(clippy::cast_precision_loss, reason = "shares")]
    pub fn share(&self, pieces: Range<usize>, entries: &Range<u64>) -> f64 {
        let share = |index: usize| {
            let (piece, record) = (self.pieces.get(index)?, self.record(index)?);
            let n = piece.end().min(entries.end).saturating_sub(piece.first_entry.max(entries.start));
            Some(f64::from(piece.packed_len()) * n as f64 / record.entries.max(1) as f64)
        };
        pieces.filter_map(share).sum()
    }

    /// Bytes of a range of entries in some pieces, by their share of each: on disk; of baskets in the record of a tree as they are
    /// there, and of default entries before compression.
    #[expect(clippy::cast_precision_loss, reason = "shares")]
    pub fn weight(&self, pieces: Range<usize>, entries: &Range<u64>) -> f64 {
        let elsewhere = |index: usize| {
            let (piece, record) = (self.pieces.get(index)?, self.record(index)?);
            let n = piece.end().min(entries.end).saturating_sub(piece.first_entry.max(entries.start));
            let bytes = match piece.stored {
                Stored::Embedded { number, .. } => self.embedded.get(number as usize).map_or(0, Vec::len) as u64,
                _ if piece.is_default() => self.loaded_bytes(piece),
                _ => 0,
            };
            Some(bytes as f64 * n as f64 / record.entries.max(1) as f64)
        };
        self.share(pieces.clone(), entries) + pieces.filter_map(elsewhere).sum::<f64>()
    }

    /// Memory of the selection besides the entry set, in bytes.
    pub fn selection_memory(&self) -> u64 {
        self.chosen.as_ref().map_or(0, |choice| choice.parts.capacity() as u64 * 24)
    }

    /// Whether the pieces hold all entries of a range.
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

    /// Adds a piece whose basket is inside the record of its tree.
    pub fn push_embedded(&mut self, (first_entry, entries): (u64, u64), file: u32, basket: Vec<u8>) {
        let number = u32::try_from(self.embedded.len()).unwrap_or(u32::MAX);
        self.embedded.push(basket);
        self.pieces.push(Piece { first_entry, entries, stored: Stored::Embedded { file, number } });
    }

    /// How the entries of a piece become the column's, if they mean other things.
    pub fn recast(&self, piece: &Piece) -> Option<&Arc<Recast>> {
        self.recasts.get(&piece.file()?)
    }

    /// The pieces that hold entries of a range.
    pub fn pieces_with(&self, entries: &Range<u64>) -> &[Piece] {
        self.pieces.get(self.overlapping(entries)).unwrap_or_default()
    }

    /// Their indices.
    pub fn overlapping(&self, entries: &Range<u64>) -> Range<usize> {
        let from = self.pieces.partition_point(|p| p.end() <= entries.start);
        let to = self.pieces.partition_point(|p| p.first_entry < entries.end);
        from..to.max(from)
    }

    /// The same for ranges in ascending order. `at` is the state of the search, 0 at first.
    pub fn overlapping_next(&self, at: &mut usize, entries: &Range<u64>) -> Range<usize> {
        let ahead = |from: usize, is_before: &dyn Fn(&Piece) -> bool| {
            from + self.pieces.get(from..).unwrap_or_default().iter().take_while(|p| is_before(p)).count()
        };
        let from = ahead(*at, &|p| p.end() <= entries.start);
        let to = ahead(from, &|p| p.first_entry < entries.end);
        // The last piece may reach into the next range.
        *at = to.saturating_sub(1).max(from);
        from..to
    }

    /// Largest average size of an entry in a piece, in bytes before compression.
    pub fn largest_entry(&self) -> u64 {
        let entry_bytes = |(index, piece): (usize, &Piece)| {
            let entries = self.record(index).map_or(piece.entries, |record| record.entries);
            self.loaded_bytes(piece).div_ceil(entries.max(1))
        };
        self.pieces.iter().enumerate().map(entry_bytes).max().unwrap_or(0)
    }

    /// Estimated bytes of a piece in memory: default entries take some too.
    pub fn loaded_bytes(&self, piece: &Piece) -> u64 {
        match (piece.is_default(), &self.fill) {
            (true, Some(entry)) => piece.entries.saturating_mul(entry.len() as u64),
            _ => self.expanded_bytes(piece),
        }
    }

    /// Estimated bytes of a piece before compression, as far as it is in a file.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate, clamped")]
    pub fn expanded_bytes(&self, piece: &Piece) -> u64 {
        let packed = piece.packed_len();
        ((f64::from(packed) * self.expansion.max(1.0)) as u64).min(self.tot_bytes.max(packed.into()))
    }
}
