//! The entries of an array as bytes: all at once where entries or list items have equal size, else one by one.

use std::ops::Range;

use arrow_array::Array;
use rootfile::bytes::Writer;
use rootfile::tags::BYTE_COUNT_MASK;
use rootfile::{Error, Result};

use super::encoded::EncodedEntries;
use super::encoder::Encoder;
use super::forms::Forms;
use super::numbers::place;
use super::objects::STREAMER_INFO;
use super::view::{Ends, View, Words, shape_mismatch};
use crate::decode::program::model::{EntryLayout, Program};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;
use crate::layout::Streaming;

/// Byte count, version and number of items: what comes before the items of a vector.
const HEADER: usize = 10;

/// Appends all entries of an array.
pub(super) fn append(
    program: &Program,
    forms: &Forms,
    streaming: Streaming,
    array: &dyn Array,
    out: &mut EncodedEntries,
) -> Result<()> {
    let view = View::new(&program.shape, array)?;
    let n = array.len();
    if let (Some(number), View::List { ends, items }) = (vector_of(&program.op), &view)
        && let View::Numbers(_, words) = &**items
    {
        return vectors(number, *ends, *words, n, out);
    }
    append_values(program, forms, streaming, &view, 0..n, out)
}

/// Appends the values `range` of a view.
pub(crate) fn append_values(
    program: &Program,
    forms: &Forms,
    streaming: Streaming,
    view: &View<'_>,
    range: Range<usize>,
    out: &mut EncodedEntries,
) -> Result<()> {
    let (readers, counters) = (program.readers.as_slice(), vec![None; program.slots]);
    let bytes = std::mem::take(&mut out.bytes);
    let mut encoder = Encoder { out: Writer { bytes }, readers, forms, streaming, counters };
    let written = write(program, &mut encoder, range, view, (out.start, &mut out.ends));
    out.bytes = encoder.out.bytes;
    written
}

fn write(
    program: &Program,
    encoder: &mut Encoder<'_>,
    range: Range<usize>,
    view: &View<'_>,
    (base, ends): (usize, &mut Vec<u32>),
) -> Result<()> {
    let (first, n) = (range.start, range.len());
    match (program.layout, view) {
        (EntryLayout::Fixed, view) => encoder.write(&program.op, first, n, view),
        (EntryLayout::Items, View::List { ends: lists, items }) => {
            let size = program.op.fixed_size().ok_or_else(shape_mismatch)?;
            let (before, start) = (encoder.out.pos().saturating_sub(base), lists.bound(first));
            encoder.write(&program.op, start, lists.bound(range.end).saturating_sub(start), items)?;
            // The last is the largest: if it can be told, all can.
            end(encoder.out.pos(), base)?;
            #[expect(clippy::cast_possible_truncation, reason = "no more than the last")]
            ends.extend((first + 1..=range.end).map(|i| (before + (lists.bound(i) - start) * size) as u32));
            Ok(())
        }
        (EntryLayout::Each, view) => {
            ends.reserve(n);
            for i in range {
                let start = encoder.out.pos();
                encoder.write(&program.op, i, 1, view).map_err(|e| e.object(format!("entry {i} of an array")))?;
                // What a byte count can say: no frame is longer than its entry.
                if encoder.out.pos() - start >= BYTE_COUNT_MASK as usize {
                    return Err(Error::request("an entry of more than a gigabyte"));
                }
                ends.push(end(encoder.out.pos(), base)?);
            }
            Ok(())
        }
        _ => Err(shape_mismatch()),
    }
}

fn end(pos: usize, base: usize) -> Result<u32> {
    u32::try_from(pos.saturating_sub(base))
        .map_err(|_| Error::request("entries of more than four gigabytes in one basket"))
}

/// The numbers of which an entry is a vector.
fn vector_of(op: &Op) -> Option<Number> {
    let Op::Framed(inner) = op else { return None };
    match &**inner {
        Op::Container(container) => match container.item {
            Op::Number(number) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// Vectors of numbers: a frame, a count, and the numbers.
fn vectors(number: Number, lists: Ends<'_>, words: Words<'_>, n: usize, out: &mut EncodedEntries) -> Result<()> {
    let size = number.size();
    let items = lists.bound(n).saturating_sub(lists.bound(0));
    let start = out.bytes.len();
    let total = items.checked_mul(size).and_then(|bytes| bytes.checked_add(n.checked_mul(HEADER)?)?.checked_add(start));
    let total = total.ok_or_else(shape_mismatch)?;
    end(total, out.start)?;
    out.bytes.resize(total, 0);
    out.ends.reserve(n);
    let mut pos = start;
    for i in 0..n {
        let (first, len) = lists.list(i);
        let bytes = len * size;
        let entry =
            out.bytes.get_mut(pos..pos + HEADER + bytes).and_then(|entry| entry.split_first_chunk_mut::<HEADER>());
        let (header, values) = entry.ok_or_else(shape_mismatch)?;
        let frame = u32::try_from(bytes + HEADER - 4).ok().filter(|frame| *frame < BYTE_COUNT_MASK);
        let frame = frame.ok_or_else(|| Error::request("an entry of more than a gigabyte"))?;
        let [a, b, c, d] = (frame | BYTE_COUNT_MASK).to_be_bytes();
        let [v, w] = STREAMER_INFO.to_be_bytes();
        // Less than a gigabyte, so that it fits.
        let [e, f, g, h] = u32::try_from(len).unwrap_or(0).to_be_bytes();
        *header = [a, b, c, d, v, w, e, f, g, h];
        place(words, first, len, values, size);
        pos += HEADER + bytes;
        out.ends.push(end(pos, out.start)?);
    }
    Ok(())
}
