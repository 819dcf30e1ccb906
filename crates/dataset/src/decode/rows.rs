//! Objects of a class that all take the same bytes, as rows of a table: where their numbers lie, and which bytes
//! (frames, versions) have to be the same in each. The first object says both; objects that differ are read one by
//! one.

use rootfile::object::tags::Frame;

use super::column::{Column, Words};
use super::machine::Machine;
use super::objects::find;
use super::op::{Into, Op};
use super::types::Number;

/// Bytes of a `TObject` without a process identifier: version, unique number, bits.
const TOBJECT: usize = 10;
/// The byte of a `TObject` that says whether a process identifier follows, and the bit.
const REFERENCED: (usize, u8) = (9, 1 << 4);
/// Classes inside classes that are looked through.
const MAX_DEPTH: usize = 10;

/// The form of a class's objects.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// Bytes of an object.
    size: usize,
    /// Bytes that are the same in each, and where.
    same: Vec<(usize, Vec<u8>)>,
    /// Where the bits of a `TObject` are.
    tobjects: Vec<usize>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug)]
enum Field {
    Number { part: usize, at: usize, number: Number },
    Array { part: usize, at: usize, len: usize },
    Record { part: usize, fields: Vec<Field> },
}

impl Rows {
    /// The form of the object at the machine's cursor, if its class has but numbers.
    pub(super) fn of(machine: &Machine<'_>, reader: usize) -> Option<Self> {
        let mut walk = machine.fork();
        let start = walk.cursor.pos();
        let mut rows = Self::default();
        let mut fields = Vec::new();
        rows.object(&mut walk, start, reader, &mut fields, 0)?;
        rows.fields = fields;
        rows.size = walk.cursor.pos().checked_sub(start)?;
        Some(rows)
    }

    fn object(
        &mut self,
        walk: &mut Machine<'_>,
        start: usize,
        reader: usize,
        fields: &mut Vec<Field>,
        depth: usize,
    ) -> Option<()> {
        let from = walk.cursor.pos();
        let frame = Frame::read(&mut walk.cursor).ok().filter(|_| depth < MAX_DEPTH)?;
        let end = frame.end?;
        let checksum = walk.checksum(frame.version, reader).ok()?;
        let header = walk.cursor.data().get(from..walk.cursor.pos())?;
        self.same.push((from - start, header.to_vec()));
        let readers = walk.readers;
        let version = find(readers.get(reader)?, frame.version.into(), checksum).ok()?;
        if !version.missing.is_empty() {
            return None;
        }
        for step in version.steps.as_ref().ok()? {
            let at = walk.cursor.pos() - start;
            match (&step.into, &step.op) {
                (Into::Part(part), Op::Number(number)) if step.counts.is_none() => {
                    fields.push(Field::Number { part: *part, at, number: *number });
                    walk.cursor.skip(number.size()).ok()?;
                }
                (Into::Part(part), op @ Op::Fixed(..)) if is_array(op) => {
                    let len = op.fixed_size()?;
                    fields.push(Field::Array { part: *part, at, len });
                    walk.cursor.skip(len).ok()?;
                }
                (Into::Part(part), Op::Object(inner)) => {
                    let mut parts = Vec::new();
                    self.object(walk, start, *inner, &mut parts, depth + 1)?;
                    fields.push(Field::Record { part: *part, fields: parts });
                }
                (Into::Base { reader, .. }, _) => self.object(walk, start, *reader, fields, depth + 1)?,
                (Into::TObject, _) => {
                    let version = walk.cursor.bytes(TOBJECT).ok()?.first_chunk::<2>()?;
                    self.same.push((at, version.to_vec()));
                    self.tobjects.push(at + REFERENCED.0);
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

    /// Whether an object has this form.
    fn fits(&self, row: &[u8]) -> bool {
        let same = |(at, bytes): &(usize, Vec<u8>)| row.get(*at..).is_some_and(|rest| rest.starts_with(bytes));
        self.same.iter().all(same) && self.tobjects.iter().all(|&at| row.get(at).is_some_and(|b| b & REFERENCED.1 == 0))
    }

    /// Reads objects into the parts of a record, if all have this form.
    pub(super) fn read(&self, bytes: &[u8], parts: &mut [Column]) -> bool {
        if self.size == 0 || !bytes.chunks_exact(self.size).all(|row| self.fits(row)) {
            return false;
        }
        self.push(&self.fields, bytes, parts);
        true
    }

    fn push(&self, fields: &[Field], bytes: &[u8], parts: &mut [Column]) {
        let n = bytes.len() / self.size;
        for field in fields {
            match field {
                Field::Number { part, at, number } => {
                    if let Some(Column::Numbers(_, words)) = parts.get_mut(*part) {
                        match bytes.get(*at..*at + number.size()) {
                            Some(only) if n == 1 => words.push_be(only),
                            _ => words.extend_strided(bytes, *at, self.size),
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
                        self.push(fields, bytes, parts);
                    }
                }
            }
        }
    }
}

/// Whether it is an array of numbers, of any rank.
fn is_array(op: &Op) -> bool {
    match op {
        Op::Fixed(_, item) => is_array(item),
        op => matches!(op, Op::Number(_)),
    }
}

/// Makes arrays longer by `n`, and gives the numbers in them, which are still to be added.
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
