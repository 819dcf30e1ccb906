//! Decodes the entries of a basket: all at once where they have equal length, else one by one.

use std::iter::Peekable;
use std::ops::Range;

use rootfile::bytes::Cursor;
use rootfile::tags::BYTE_COUNT_MASK;
use rootfile::{Error, Result};

use super::column::Column;
use super::interpreter::Interpreter;
use super::words::{Offsets, Words};
use crate::decode::program::learned::SeenArray;
use crate::decode::program::model::Program;
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;
use crate::tree::basket::{BasketData, Entries};

/// Bytes before the items of a vector: byte count, version and number of items.
const HEADER: usize = 10;
/// Entries whose boundaries are looked at together.
const BLOCK: usize = 512;

/// The bytes of some entries.
pub(in crate::decode) fn slice(basket: &BasketData, entries: Range<usize>) -> Result<&[u8]> {
    let first = basket.range(entries.start).map(|r| r.start);
    let last = basket.range(entries.end.saturating_sub(1)).map(|r| r.end);
    let range = first.zip(last).map(|(start, end)| start..end);
    range.and_then(|r| basket.data.get(r)).ok_or_else(|| beyond(basket))
}

#[cold]
pub(in crate::decode) fn beyond(basket: &BasketData) -> Error {
    match basket.entries {
        Entries::Generated => Error::unsupported("entries without boundaries"),
        _ => Error::corrupt("entries beyond their basket"),
    }
}

/// Entries of equal length, each one value.
pub(in crate::decode) fn fixed(op: &Op, column: &mut Column, basket: &BasketData, entries: Range<usize>) -> Result<()> {
    let size = op.fixed_size().unwrap_or(0);
    let bytes = slice(basket, entries.clone())?;
    if Some(bytes.len()) != size.checked_mul(entries.len()) {
        let n = entries.len();
        return Err(Error::corrupt(format!("{n} entries in {} bytes, where each takes {size}", bytes.len())));
    }
    Interpreter::new(bytes, &[], 0).read(op, entries.len(), column)
}

/// Entries that are lists of values of equal length.
pub(in crate::decode) fn items(
    op: &Op,
    offsets: &mut Offsets,
    items: &mut Column,
    basket: &BasketData,
    entries: Range<usize>,
) -> Result<()> {
    let size = op.fixed_size().filter(|size| *size > 0);
    let size = size.ok_or_else(|| Error::unsupported("items of varying length"))?;
    let bytes = slice(basket, entries.clone())?;
    Interpreter::new(bytes, &[], 0).read(op, bytes.len() / size, items)?;
    ends(offsets, basket, entries, size)
}

/// Entries as bytes.
pub(in crate::decode) fn opaque(
    offsets: &mut Offsets,
    bytes: &mut Vec<u8>,
    basket: &BasketData,
    mut entries: impl Iterator<Item = usize>,
) -> Result<()> {
    entries.try_for_each(|i| {
        let entry = slice(basket, i..i + 1)?;
        bytes.extend_from_slice(entry);
        offsets.push(entry.len());
        Ok(())
    })
}

/// Makes room for entries that are vectors of numbers.
pub(in crate::decode) fn reserve(
    program: &Program,
    column: &mut Column,
    basket: &BasketData,
    entries: Range<usize>,
) -> Result<()> {
    if let (Some(number), Column::List { items, .. }) = (vector_of(&program.op), column) {
        items.reserve(slice(basket, entries)?.len() / number.size());
    }
    Ok(())
}

/// Entries of any length, each one value, in ascending order. Counts are those of all entries from the first to the
/// last.
pub(in crate::decode) fn each(
    program: &Program,
    column: &mut Column,
    basket: &BasketData,
    entries: impl Iterator<Item = usize>,
    counts: &[Vec<u64>],
) -> Result<()> {
    let mut entries = entries.peekable();
    let mut counts = Counts::new(&program.op, counts, entries.peek().copied().unwrap_or(0));
    let mut interpreter = Interpreter::new(&[], &program.readers, program.slots);
    let vector = vector_of(&program.op);
    loop {
        if let (Some(number), Column::List { offsets, items, .. }) = (vector, &mut *column)
            && let Column::Numbers(_, words) = &mut **items
        {
            usual_vectors(number.size(), offsets, words, basket, &mut entries);
        }
        let Some(entry) = entries.next() else { return Ok(()) };
        let bytes = basket.range(entry).and_then(|r| basket.data.get(r)).ok_or_else(|| beyond(basket))?;
        counts.pass_to(entry, &mut interpreter.counters)?;
        let at_entry = |e: Error| e.object(format!("entry {entry} of a basket"));
        value(program, &mut interpreter, bytes, || basket.origin(entry) as usize, column).map_err(at_entry)?;
    }
}

/// One value, which has all of the bytes.
fn value<'a>(
    program: &'a Program,
    interpreter: &mut Interpreter<'a>,
    bytes: &'a [u8],
    origin: impl FnOnce() -> usize,
    column: &mut Column,
) -> Result<()> {
    if bytes.is_empty() {
        // ROOT writes no bytes for an entry that was null in memory.
        return column.push_default(1);
    }
    interpreter.cursor = Cursor::new(bytes);
    if program.pointers {
        interpreter.begin_entry(origin());
    }
    interpreter.read(&program.op, 1, column)?;
    match interpreter.cursor.remaining() {
        0 => Ok(()),
        _ => {
            let (len, read) = (bytes.len(), interpreter.cursor.pos());
            Err(Error::corrupt(format!("{len} bytes, of which {read} were read")))
        }
    }
}

/// Objects that were streamed each into a buffer of its own, from whose start their tags count.
pub(crate) fn objects<'a>(
    program: &'a Program,
    column: &mut Column,
    objects: impl Iterator<Item = &'a [u8]>,
) -> Result<()> {
    let mut interpreter = Interpreter::new(&[], &program.readers, program.slots);
    let mut objects = objects.enumerate();
    objects.try_for_each(|(i, bytes)| {
        value(program, &mut interpreter, bytes, || 0, column).map_err(|e| e.object(format!("object {i}")))
    })
}

/// The arrays in the entries of a basket and their item classes, as far as the entries can be read.
pub(in crate::decode) fn seen_arrays(program: &Program, basket: &BasketData) -> Vec<SeenArray> {
    let mut interpreter = Interpreter::new(&[], &program.readers, program.slots);
    interpreter.seen_arrays = Some(Vec::new());
    for entry in 0..basket.count as usize {
        let Some(bytes) = basket.range(entry).and_then(|r| basket.data.get(r)).filter(|bytes| !bytes.is_empty()) else {
            continue;
        };
        interpreter.cursor = Cursor::new(bytes);
        interpreter.begin_entry(basket.origin(entry) as usize);
        if interpreter.read(&program.op, 1, &mut Column::new(&program.shape, 1)).is_err() {
            break;
        }
    }
    interpreter.seen_arrays.unwrap_or_default()
}

/// The number type, if an entry is a vector of numbers.
fn vector_of(op: &Op) -> Option<Number> {
    match op {
        Op::Framed(inner) => match &**inner {
            Op::Container(container) => match container.item {
                Op::Number(number) => Some(number),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Vectors of numbers of `size` bytes, up to the first that has not the usual form.
fn usual_vectors(
    size: usize,
    offsets: &mut Offsets,
    words: &mut Words,
    basket: &BasketData,
    entries: &mut Peekable<impl Iterator<Item = usize>>,
) {
    let data: &[u8] = &basket.data;
    words.extend_each_be(|| {
        let bytes = data.get(basket.range(*entries.peek()?)?)?;
        let (values, count) = vector_values(bytes, size)?;
        entries.next();
        offsets.push(count);
        Some(values)
    });
}

/// The values of a vector of numbers and their count, if the entry has the usual form: a frame around the whole entry,
/// and as many values as the count.
#[inline]
fn vector_values(bytes: &[u8], size: usize) -> Option<(&[u8], usize)> {
    let (header, values) = bytes.split_first_chunk::<HEADER>()?;
    let [a, b, c, d, v, _, e, f, g, h] = *header;
    let frame = (u32::from_be_bytes([a, b, c, d]) ^ BYTE_COUNT_MASK) as usize;
    let count = u32::from_be_bytes([e, f, g, h]) as usize;
    let fits = frame == bytes.len() - 4 && v == 0 && count.checked_mul(size) == Some(values.len());
    fits.then_some((values, count))
}

/// Hands the values of counters out, entry by entry.
struct Counts<'a> {
    /// The entry that is next.
    at: usize,
    values: Vec<std::slice::Iter<'a, u64>>,
    /// The counter of objects, and that which has a value for each object.
    objects: Option<(usize, usize)>,
}

impl<'a> Counts<'a> {
    /// Of the entries from the first that is read.
    fn new(op: &Op, counts: &'a [Vec<u64>], at: usize) -> Self {
        let objects = match op {
            Op::CountedPerObject { objects, counter, .. } => Some((*objects, *counter)),
            _ => None,
        };
        Self { at, values: counts.iter().map(|values| values.iter()).collect(), objects }
    }

    /// Sets the counters for an entry; those before it have values, too.
    fn pass_to(&mut self, entry: usize, counters: &mut [Vec<u64>]) -> Result<()> {
        while self.at <= entry && !self.values.is_empty() {
            self.next(counters)?;
            self.at += 1;
        }
        Ok(())
    }

    fn next(&mut self, counters: &mut [Vec<u64>]) -> Result<()> {
        let missing = || Error::corrupt("fewer counts than entries");
        let mut of_objects = 0;
        for (i, (values, counter)) in self.values.iter_mut().zip(counters.iter_mut()).enumerate() {
            counter.clear();
            match self.objects {
                Some((_, each)) if each == i => {
                    let n = usize::try_from(of_objects).unwrap_or(usize::MAX);
                    if values.len() < n {
                        return Err(missing());
                    }
                    counter.extend(values.by_ref().take(n));
                }
                _ => {
                    of_objects = *values.next().ok_or_else(missing)?;
                    counter.push(of_objects);
                }
            }
        }
        Ok(())
    }
}

/// Adds where the items of each entry end, and checks that entries hold whole items.
fn ends(offsets: &mut Offsets, basket: &BasketData, entries: Range<usize>, size: usize) -> Result<()> {
    // Numbers have sizes that are powers of two: no division for each entry.
    let shift = size.is_power_of_two().then_some(size.trailing_zeros()).filter(|shift| *shift < u32::BITS);
    let mut rest = 0;
    match (&basket.entries, shift) {
        (Entries::Offsets(bounds), Some(shift)) => {
            let bounds = bounds.get(entries.start..=entries.end).unwrap_or_default();
            let (&start, bounds) = bounds.split_first().ok_or_else(|| beyond(basket))?;
            // Two plain loops over each block, which the compiler makes loops over vector registers.
            let base = offsets.last();
            for block in bounds.chunks(BLOCK) {
                rest |= block.iter().fold(0, |bits, bound| bits | bound.wrapping_sub(start));
                let ends = block.iter().map(|bound| i64::from(bound.wrapping_sub(start) >> shift));
                offsets.extend_from(base, ends);
            }
            rest &= (1 << shift) - 1;
        }
        _ => {
            let each = u32::try_from(size).map_err(|_| beyond(basket))?;
            let start = basket.range(entries.start).map_or(0, |r| r.start);
            let mut ends = Vec::with_capacity(entries.len());
            for entry in entries {
                let len = basket.range(entry).map_or(0, |range| range.end - start);
                let len = u32::try_from(len).map_err(|_| beyond(basket))?;
                rest |= len % each;
                ends.push(i64::from(len / each));
            }
            offsets.extend_ends(ends.into_iter());
        }
    }
    if rest == 0 { Ok(()) } else { Err(ragged(size)) }
}

#[cold]
pub(in crate::decode) fn ragged(size: usize) -> Error {
    Error::corrupt(format!("entries that are not whole items of {size} bytes"))
}
