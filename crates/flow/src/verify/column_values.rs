//! Compares columns by value, of trees or RNTuples. Both sides are decoded portion by portion, assembled from their branches, and
//! compared bit for bit.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use dataset::assemble::LogicalColumn;
use dataset::table::FileRange;
use rootfile::{Error, ErrorKind, Result};

use super::announced::{Announced, places};
use super::common_type::converted;
use super::first_difference;
use super::memory_bits;
use super::ntuple_side::NtupleSide;
use super::tasks::{self, ColumnDifference, DifferenceKind, Outcome, Task};
use super::tolerance::{LargestError, Tolerance, settled};
use super::verdict::ColumnError;
use crate::execute::budget::Share;
use crate::execute::fetch::tree::column_stream::{ColumnStream, DecodeSource};
use crate::execute::fetch::tree::fetcher::Fetcher;
use crate::execute::progress::{Progress, tell};
use crate::table::piece::Files;

/// Bytes of a field that are compared at a time. Pages at the ends of a portion are decompressed for both portions.
const FIELD_PORTION: u64 = 4 << 20;

/// A column that both sides have.
pub(super) struct ValuePair {
    /// Name of the column.
    pub name: String,
    /// Where each side has its values.
    pub sides: [PairSide; 2],
    /// The type that both sides' values are cast to, if their types differ.
    common_type: Option<DataType>,
    /// Entries that are compared at a time.
    portion: u64,
    /// By how much numbers may differ, and by how much they do.
    pub tolerance: Option<Tolerance>,
    pub largest: LargestError,
    /// Whether it is fBits of `TObject`s, whose bits about memory are not compared.
    is_tobject_bits: bool,
}

/// Where one side has the values of a column.
pub(super) enum PairSide {
    /// In branches, which are assembled if there are several.
    Branches { sources: Vec<DecodeSource>, whole: Option<LogicalColumn> },
    /// In a field of an RNTuple.
    Field { table: Arc<NtupleSide>, field: usize },
}

/// Buffers of a thread.
struct Buffers(Fetcher);

impl Default for Buffers {
    fn default() -> Self {
        Self(Fetcher::new())
    }
}

impl ValuePair {
    pub fn new(name: String, sides: [PairSide; 2], common_type: Option<DataType>) -> Self {
        let [a, b] = sides.each_ref().map(PairSide::portion);
        let (tolerance, largest) = (None, LargestError::default());
        Self { name, sides, common_type, portion: a.min(b), tolerance, largest, is_tobject_bits: false }
    }

    /// The same pair, of fBits of `TObject`s if `is_it` says so.
    pub fn of_tobject_bits(self, is_it: bool) -> Self {
        Self { is_tobject_bits: is_it, ..self }
    }

    /// How an entry differs: the path of the first member or item, and both values. None if the values are the same.
    pub fn difference_in(&self, entry: u64, files: [&Files; 2]) -> Result<Option<(String, String)>> {
        let mut fetcher = Fetcher::new();
        let mut value = |side: &PairSide, files: &Files| {
            let mut reader = SideReader { side, files, streams: side.streams(files, entry) };
            converted(reader.values(&(entry..entry.saturating_add(1)), &mut fetcher)?.0, self.common_type.as_ref())
        };
        let [first, second] = &self.sides;
        let (a, b) = (value(first, files[0])?, value(second, files[1])?);
        Ok(first_difference::first_row(&a, &b).map(|row| first_difference::describe(&a, &b, row)))
    }

    /// Bytes of buffers that a thread needs for it.
    fn scratch(&self) -> u64 {
        self.sides.iter().map(|side| side.scratch(self.portion)).sum()
    }

    fn tasks(&self, index: usize, entries: u64) -> Vec<Task> {
        let [first, _] = &self.sides;
        match first {
            PairSide::Branches { sources, .. } => {
                // The source with most baskets gives the finest cuts.
                let Some(source) = sources.iter().max_by_key(|source| source.column.source.pieces.len()) else {
                    return Vec::new();
                };
                let bytes = |source: &DecodeSource| {
                    source.column.source.pieces.iter().map(|p| u64::from(p.packed_len())).sum::<u64>()
                };
                let share = sources.iter().map(bytes).sum::<u64>() / bytes(source).max(1);
                tasks::cut(index, (&source.column, entries), share.max(1))
            }
            PairSide::Field { table, field } => tasks::cut_evenly(index, entries, table.bytes_per_entry(*field)),
        }
    }
}

impl PairSide {
    fn portion(&self) -> u64 {
        match self {
            Self::Branches { sources, .. } => DecodeSource::portion(sources),
            Self::Field { table, field } => (FIELD_PORTION / table.bytes_per_entry(*field)).max(1),
        }
    }

    fn scratch(&self, portion: u64) -> u64 {
        match self {
            Self::Branches { sources, .. } => sources.iter().map(|source| source.scratch(portion)).sum(),
            // The values are read, joined, and cast.
            Self::Field { table, field } => {
                table.largest_page + 3 * portion.saturating_mul(table.bytes_per_entry(*field))
            }
        }
    }
}

/// Memory of the metadata of the RNTuples that have them, with the pieces of all compared fields.
pub(super) fn ntuple_metadata(pairs: &[ValuePair]) -> u64 {
    let mut tables: Vec<&Arc<NtupleSide>> = Vec::new();
    for side in pairs.iter().flat_map(|pair| &pair.sides) {
        if let PairSide::Field { table, .. } = side
            && !tables.iter().any(|known| Arc::ptr_eq(known, table))
        {
            tables.push(table);
        }
    }
    tables.iter().map(|side| side.rows().metadata()).fold(0, u64::saturating_add)
}

/// Bytes that a thread needs for any of them.
pub(super) fn scratch(pairs: &[ValuePair]) -> u64 {
    pairs.iter().map(ValuePair::scratch).max().unwrap_or(0)
}

/// The columns that differ within their tolerance.
pub(super) fn errors(pairs: &[ValuePair]) -> Vec<ColumnError> {
    let error = |pair: &ValuePair| ColumnError {
        column: pair.name.clone(),
        largest: pair.largest.absolute(),
        relative: pair.largest.relative(),
    };
    pairs.iter().map(error).filter(|error| error.largest > 0.0).collect()
}

/// Compares the first `entries` entries of all pairs.
pub(super) fn compare(
    pairs: &[ValuePair],
    entries: u64,
    files: [&Files; 2],
    share: Share,
    progress: Progress<'_>,
) -> Result<Outcome> {
    let all: Vec<Task> = pairs.iter().enumerate().flat_map(|(i, pair)| pair.tasks(i, entries)).collect();
    let announced = Announced::new(files, share);
    let files = announced.files();
    let places = |task: &Task, side: usize| {
        let side = pairs.get(task.pair).and_then(|pair| pair.sides.get(side));
        side.map(|side| side.places(&task.entries)).unwrap_or_default()
    };
    let begin = |number: usize| announced.begin(number, &all, &places);
    tasks::run(&all, pairs.len(), (share.threads, progress), &begin, &|task, earliest, buffers: &mut Buffers, bytes| {
        let Some(pair) = pairs.get(task.pair) else { return Ok(None) };
        let mut at = task.entries.start;
        let compared = compare_task(pair, files, task, (&mut at, earliest), (buffers, bytes), progress);
        match compared {
            // A column that cannot be decoded counts as different, and the others are still compared.
            Err(e) if !matches!(e.kind(), ErrorKind::Io(_) | ErrorKind::Memory(_) | ErrorKind::Interrupted) => {
                let e = if matches!(pair.sides, [PairSide::Branches { .. }, PairSide::Branches { .. }]) {
                    e.object(format!("branch {}", pair.name))
                } else {
                    e
                };
                Ok(Some(ColumnDifference { entry: at, kind: DifferenceKind::Undecodable(e) }))
            }
            compared => compared,
        }
    })
}

fn compare_task(
    pair: &ValuePair,
    files: [&Files; 2],
    task: &Task,
    (at, earliest): (&mut u64, &AtomicU64),
    (Buffers(fetcher), bytes): (&mut Buffers, &mut u64),
    progress: Progress<'_>,
) -> Result<Option<ColumnDifference>> {
    let ([first, second], [files_a, files_b]) = (&pair.sides, files);
    let mut ours = SideReader { side: first, files: files_a, streams: first.streams(files_a, *at) };
    let mut theirs = SideReader { side: second, files: files_b, streams: second.streams(files_b, *at) };
    let common_type = pair.common_type.as_ref();
    while *at < task.entries.end && *at < earliest.load(Ordering::Relaxed) {
        let entries = *at..at.saturating_add(pair.portion).min(task.entries.end);
        let (a, read_a) = ours.values(&entries, fetcher)?;
        let (b, read_b) = theirs.values(&entries, fetcher)?;
        *bytes += ours.bytes(&entries, &a);
        tell(progress, read_a + read_b)?;
        let (mut a, mut b) = (converted(a, common_type)?, converted(b, common_type)?);
        if pair.is_tobject_bits {
            (a, b) = (memory_bits::without(a), memory_bits::without(b));
        }
        if let Some(tolerance) = pair.tolerance {
            b = settled(&a, &b, tolerance, &pair.largest);
        }
        if let Some(row) = first_difference::first_row(&a, &b) {
            let (member, what) = first_difference::describe(&a, &b, row);
            return Ok(Some(ColumnDifference { entry: *at + row as u64, kind: DifferenceKind::Member(member, what) }));
        }
        *at = entries.end;
    }
    Ok(None)
}

impl PairSide {
    fn places(&self, entries: &Range<u64>) -> Vec<FileRange> {
        match self {
            Self::Branches { sources, .. } => {
                sources.iter().flat_map(|source| places(&source.column, entries)).collect()
            }
            Self::Field { table, field } => table.places(*field, entries),
        }
    }

    fn streams<'a>(&'a self, files: &'a Files, at: u64) -> Vec<ColumnStream<'a>> {
        match self {
            Self::Branches { sources, .. } => {
                sources.iter().map(|source| ColumnStream::new(files, source, at)).collect()
            }
            Self::Field { .. } => Vec::new(),
        }
    }
}

/// Reads one side of a pair, in the order of entries.
struct SideReader<'a> {
    side: &'a PairSide,
    files: &'a Files,
    /// The branches, if it has some.
    streams: Vec<ColumnStream<'a>>,
}

impl SideReader<'_> {
    /// The values of a range of entries, and the bytes that were read for them.
    fn values(&mut self, entries: &Range<u64>, fetcher: &mut Fetcher) -> Result<(ArrayRef, u64)> {
        let whole = match self.side {
            PairSide::Field { table, field } => return table.values(*field, entries, self.files, fetcher),
            PairSide::Branches { whole, .. } => whole,
        };
        let mut read = 0;
        let mut arrays = Vec::with_capacity(self.streams.len());
        for stream in &mut self.streams {
            read += stream.load(self.files, entries, fetcher)?;
            arrays.push(stream.decode(entries)?);
        }
        let array = match whole {
            Some(whole) => whole.assemble(&arrays)?,
            None => arrays.pop().ok_or_else(|| Error::request("a column of no branch"))?,
        };
        Ok((array, read))
    }

    /// Bytes of some entries that were read, before compression.
    fn bytes(&self, entries: &Range<u64>, values: &ArrayRef) -> u64 {
        match self.side {
            PairSide::Branches { .. } => self.streams.iter().map(|stream| stream.bytes(entries)).sum(),
            PairSide::Field { .. } => values.to_data().get_slice_memory_size().unwrap_or(0) as u64,
        }
    }
}
