//! Objects of equal size as rows of a table: where the numbers are, and which bytes (frames, versions) every object must
//! repeat. The first object defines the form; objects of another form are read one by one.

use std::collections::BTreeMap;

use rootfile::tags::Frame;

use super::column::Column;
use super::walk::{Walk, read_checksum};
use super::words::Words;
use crate::decode::program::class_reader::{Destination, find};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;

/// Bytes of a `TObject` without a process identifier: version, unique number, bits.
const TOBJECT: usize = 10;
/// The byte of a `TObject` that says whether a process identifier follows, and the bit.
const REFERENCED: (usize, u8) = (9, 1 << 4);
/// Deepest nesting of classes.
const MAX_DEPTH: usize = 10;

/// The form of objects of equal size.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Bytes of an object.
    size: usize,
    /// Bits that every object repeats.
    same: Vec<Same>,
    fields: Vec<Field>,
}

/// Some bits of the eight bytes at a place, as a little-endian number.
#[derive(Clone, Debug)]
struct Same {
    at: usize,
    mask: u64,
    value: u64,
}

impl Same {
    /// From single bytes by position, each a mask and a value. An object has `size` bytes.
    fn of(bytes: &BTreeMap<usize, (u8, u8)>, size: usize) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (&at, &(mask, value)) in bytes {
            if all.last().is_none_or(|same| at >= same.at + 8) {
                // Within the object, if it has eight bytes.
                all.push(Self { at: at.min(size.saturating_sub(8)), mask: 0, value: 0 });
            }
            if let Some(same) = all.last_mut() {
                let shift = 8 * (at - same.at);
                same.mask |= u64::from(mask) << shift;
                same.value |= u64::from(mask & value) << shift;
            }
        }
        all
    }

    /// Whether some of these objects, of `size` bytes each, have other bits.
    fn differ(&self, bytes: &[u8], size: usize) -> bool {
        let rows = bytes.get(self.at..).unwrap_or_default().chunks(size);
        rows.fold(0, |wrong, row| wrong | (word(row) ^ self.value)) & self.mask != 0
    }
}

/// The first eight bytes, padded with zeros.
#[inline]
fn word(row: &[u8]) -> u64 {
    row.first_chunk().map_or_else(|| short(row), |word| u64::from_le_bytes(*word))
}

#[cold]
fn short(row: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(row).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

#[derive(Clone, Debug)]
enum Field {
    Number { part: usize, at: usize, number: Number },
    Array { part: usize, at: usize, len: usize },
    Record { part: usize, fields: Vec<Field> },
}

impl Rows {
    /// The form of the object at the walk's cursor, if its class has only numbers.
    pub(super) fn of(walk: &Walk<'_>, reader: usize) -> Option<Self> {
        let mut walk = walk.clone();
        let start = walk.cursor.pos();
        let (mut same, mut fields) = (BTreeMap::new(), Vec::new());
        Self::object(&mut walk, start, reader, &mut same, &mut fields, 0)?;
        let size = walk.cursor.pos().checked_sub(start)?;
        Some(Self { size, same: Same::of(&same, size), fields })
    }

    fn object(
        walk: &mut Walk<'_>,
        start: usize,
        reader: usize,
        same: &mut BTreeMap<usize, (u8, u8)>,
        fields: &mut Vec<Field>,
        depth: usize,
    ) -> Option<()> {
        let from = walk.cursor.pos();
        let frame = Frame::read(&mut walk.cursor).ok().filter(|_| depth < MAX_DEPTH)?;
        let end = frame.end?;
        let checksum = read_checksum(&mut walk.cursor, walk.readers, frame.version, reader).ok()?;
        let header = walk.cursor.data().get(from..walk.cursor.pos())?;
        same.extend((from - start..).zip(header.iter().map(|&byte| (u8::MAX, byte))));
        let readers = walk.readers;
        let version = find(readers.get(reader)?, frame.version.into(), checksum).ok()?;
        if !version.missing.is_empty() {
            return None;
        }
        for step in version.steps.as_ref().ok()? {
            let at = walk.cursor.pos() - start;
            match (&step.destination, &step.op) {
                (Destination::Part(part), Op::Number(number)) if step.counts.is_none() => {
                    fields.push(Field::Number { part: *part, at, number: *number });
                    walk.cursor.skip(number.size()).ok()?;
                }
                (Destination::Part(part), op @ Op::Fixed(..)) if is_array(op) => {
                    let len = op.fixed_size()?;
                    fields.push(Field::Array { part: *part, at, len });
                    walk.cursor.skip(len).ok()?;
                }
                (Destination::Part(part), Op::Object(inner)) => {
                    let mut parts = Vec::new();
                    Self::object(walk, start, *inner, same, &mut parts, depth + 1)?;
                    fields.push(Field::Record { part: *part, fields: parts });
                }
                (Destination::Base { reader, .. }, _) => Self::object(walk, start, *reader, same, fields, depth + 1)?,
                (Destination::TObject, _) => {
                    let version = walk.cursor.bytes(TOBJECT).ok()?.first_chunk::<2>()?;
                    same.extend((at..).zip(version.iter().map(|&byte| (u8::MAX, byte))));
                    same.insert(at + REFERENCED.0, (REFERENCED.1, 0));
                }
                _ => return None,
            }
        }
        (end == walk.cursor.pos()).then_some(())
    }

    /// Bytes of an object.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether all objects have this form.
    pub(super) fn fits(&self, bytes: &[u8]) -> bool {
        self.size > 0 && !self.same.iter().any(|same| same.differ(bytes, self.size))
    }

    /// Reads `n` objects that have this form into the parts of a record.
    pub(super) fn push(&self, bytes: &[u8], n: usize, parts: &mut [Column]) {
        self.push_fields(&self.fields, bytes, n, parts);
    }

    fn push_fields(&self, fields: &[Field], bytes: &[u8], n: usize, parts: &mut [Column]) {
        for field in fields {
            match field {
                Field::Number { part, at, number } => {
                    if let Some(Column::Numbers(_, words)) = parts.get_mut(*part) {
                        match bytes.get(*at..*at + number.size()) {
                            Some(only) if n == 1 => words.push_be(only),
                            _ => words.extend_strided(bytes, n, *at, self.size),
                        }
                    }
                }
                Field::Array { part, at, len } => {
                    if let Some(words) = parts.get_mut(*part).and_then(|column| grow(column, n)) {
                        for row in bytes.chunks_exact(self.size) {
                            words.extend_be(row.get(*at..*at + *len).unwrap_or_default());
                        }
                    }
                }
                Field::Record { part, fields } => {
                    if let Some(Column::Record { len, parts, .. }) = parts.get_mut(*part) {
                        *len += n;
                        self.push_fields(fields, bytes, n, parts);
                    }
                }
            }
        }
    }
}

/// Whether the operation reads an array of numbers of any rank.
fn is_array(op: &Op) -> bool {
    match op {
        Op::Fixed(_, item) => is_array(item),
        op => matches!(op, Op::Number(_)),
    }
}

/// Adds `n` arrays, and returns the buffer to which the caller adds their numbers.
fn grow(column: &mut Column, n: usize) -> Option<&mut Words> {
    match column {
        Column::Fixed { size, len, items, .. } => {
            *len += n;
            grow(items, n * *size)
        }
        Column::Numbers(_, words) => Some(words),
        _ => None,
    }
}
