//! Runs the steps of a plan over bytes, into a [`Column`]. Every read is checked by the cursor; what does not fit
//! the plan is an error. Each step reads any number of values that follow each other, so that numbers are taken in
//! one go.

use rootfile::bytes::Cursor;
use rootfile::object::read_tobject;
use rootfile::object::tags::{Frame, ReadTags, Tag};
use rootfile::{Error, Result};

use super::arrays::Note;
use super::column::{Column, Words};
use super::op::{Op, Reader};
use super::rows::Rows;
use super::together::Together;
use super::types::Number;

/// `TObject` bit: a `TRef` points here, and a process identifier follows.
const IS_REFERENCED: u32 = 1 << 4;
/// Values without bytes that one container may hold.
pub(super) const MOST_EMPTY: usize = 1 << 24;

/// What a read needs besides bytes.
pub(super) struct Machine<'a> {
    /// The bytes of an entry, or of several where all have the same length.
    pub cursor: Cursor<'a>,
    /// The values of each counter for the values that are read.
    pub counters: Vec<Vec<u64>>,
    pub readers: &'a [Reader],
    /// Class tags of the entry.
    pub tags: ReadTags,
    /// Where the object that is read ends, if it says so.
    pub end: Option<usize>,
    /// Whether bytes were passed over in which there may be objects.
    pub passed: bool,
    /// Bytes of the entry that were read again because several pointers point to them.
    pub again: usize,
    /// Arrays met whose plan does not know their class, if they are to be noted.
    pub notes: Option<Vec<Note>>,
    /// The form of the objects of each reader, once one was met: none if they have no fixed form.
    pub rows: Vec<Option<Option<Rows>>>,
    /// The form of the members of each reader's objects, once some were met that are written together.
    pub together: Vec<Option<Together>>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(bytes: &'a [u8], readers: &'a [Reader], slots: usize) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            counters: vec![Vec::new(); slots],
            readers,
            tags: ReadTags::new(0),
            end: None,
            passed: false,
            again: 0,
            notes: None,
            rows: vec![None; readers.len()],
            together: vec![None; readers.len()],
        }
    }

    /// Another machine at the same place.
    pub(super) fn fork(&self) -> Self {
        let mut fork = Self::new(&[], self.readers, 0);
        fork.cursor = self.cursor.clone();
        fork
    }

    /// Reads `n` values.
    pub(super) fn read(&mut self, op: &Op, n: usize, column: &mut Column) -> Result<()> {
        match (op, column) {
            (Op::Number(number), Column::Numbers(_, words)) => self.numbers(*number, n, words)?,
            (Op::Convert(from), Column::Numbers(to, words)) => {
                self.fits(n, from.size())?;
                for _ in 0..n {
                    let value = read_number(&mut self.cursor, *from)?;
                    words.push_number(*to, value);
                }
            }
            (Op::Packed(packed), Column::Numbers(to, words)) => {
                self.fits(n, packed.size())?;
                for _ in 0..n {
                    let value = packed.read(&mut self.cursor)?;
                    words.push_number(*to, Value::Float(value));
                }
            }
            (Op::Bits, Column::Numbers(_, Words::W4(words))) => {
                self.fits(n, 4)?;
                words.reserve(n);
                for _ in 0..n {
                    let bits = self.cursor.u32()?;
                    if bits & IS_REFERENCED != 0 {
                        self.cursor.u16()?;
                    }
                    words.push(bits);
                }
            }
            (Op::Text, Column::Text { offsets, bytes }) => {
                self.fits(n, 1)?;
                for _ in 0..n {
                    let string = self.cursor.string_bytes()?;
                    bytes.extend_from_slice(string);
                    offsets.push(string.len());
                }
            }
            (Op::CharStar, Column::Text { offsets, bytes }) => {
                self.fits(n, 4)?;
                for _ in 0..n {
                    let len = self.cursor.count(1)?;
                    bytes.extend_from_slice(self.cursor.bytes(len)?);
                    offsets.push(len);
                }
            }
            (Op::CString, Column::Text { offsets, bytes }) => {
                for _ in 0..n {
                    let string = self.cursor.string_bytes()?;
                    let string = string.split(|&b| b == 0).next().unwrap_or_default();
                    bytes.extend_from_slice(string);
                    offsets.push(string.len());
                }
            }
            (Op::Counter(slot, number), column) => {
                self.peek_counter(*slot, *number, n)?;
                self.read(&Op::Number(*number), n, column)?;
            }
            (Op::Whole { reader, version, checksum, .. }, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.whole(*reader, (*version, *checksum), parts)?;
                }
                *len += n;
            }
            (Op::Fixed(size, item), Column::Fixed { len, items, .. }) => {
                self.read(item, n.checked_mul(*size).ok_or_else(too_many)?, items)?;
                *len += n;
            }
            (Op::Counted { counter, flag, item }, Column::List { offsets, items, .. }) => {
                for i in 0..n {
                    let count = self.counters.get(*counter).and_then(|c| c.get(i)).copied();
                    let count = count.ok_or_else(|| Error::corrupt("an array without its counter"))?;
                    let count = if *flag && self.cursor.u8()? == 0 { 0 } else { count };
                    let count = self.cursor.checked_count(i64::try_from(count).unwrap_or(-1), 1)?;
                    self.read(item, count, items)?;
                    offsets.push(count);
                }
            }
            (Op::Rest { flag, item }, Column::List { offsets, items, .. }) => {
                for _ in 0..n {
                    let before = items.len();
                    self.rest(*flag, item, items)?;
                    offsets.push(items.len() - before);
                }
            }
            (Op::Objects { objects, framed, item, .. }, Column::List { offsets, items, .. }) => {
                if *framed && self.cursor.remaining() > 0 {
                    Frame::read(&mut self.cursor)?;
                }
                let count = self.counters.get(*objects).and_then(|c| c.first()).copied().unwrap_or(0);
                let count = usize::try_from(count).map_err(|_| too_many())?;
                if count > self.cursor.remaining() && count > MOST_EMPTY {
                    return Err(too_many());
                }
                self.read(item, count, items)?;
                offsets.push(count);
            }
            (Op::Named { class, object }, column) => {
                for _ in 0..n {
                    // A byte of length, the name, and a zero (TLeafObject::ReadBasket).
                    let len = self.cursor.u8()?;
                    let name = self.cursor.bytes(usize::from(len))?;
                    self.cursor.skip(1)?;
                    if name != class.as_bytes() {
                        return Err(Error::unsupported(format!(
                            "a {} instead of a {class}",
                            rootfile::text::decode(name)
                        )));
                    }
                    self.read(object, 1, column)?;
                }
            }
            (Op::Record(ops), Column::Record { len, parts, .. }) if only_numbers(ops) => {
                let stride = op.fixed_size().unwrap_or(0);
                let bytes = self.cursor.bytes(n.checked_mul(stride).ok_or_else(too_many)?)?;
                let mut at = 0;
                for (op, part) in ops.iter().zip(parts) {
                    if let (Op::Number(number), Column::Numbers(_, words)) = (op, part) {
                        words.extend_strided(bytes, n, at, stride);
                        at += number.size();
                    }
                }
                *len += n;
            }
            (Op::Record(ops), Column::Record { len, parts, .. }) => {
                self.fits(n, 1)?;
                for _ in 0..n {
                    for (op, part) in ops.iter().zip(parts.iter_mut()) {
                        self.read(op, 1, part)?;
                    }
                }
                *len += n;
            }
            (Op::Framed(inner), column) => self.framed(inner, n, column)?,
            (Op::Container(container), Column::List { offsets, items, .. }) => {
                if let (Op::Number(number), Column::Numbers(_, words)) = (&container.item, &mut **items) {
                    for _ in 0..n {
                        let count = self.cursor.count(number.size())?;
                        words.extend_be(self.cursor.bytes(count * number.size())?);
                        offsets.push(count);
                    }
                    return Ok(());
                }
                for _ in 0..n {
                    let count = self.cursor.count(0)?;
                    self.fits(count, 1)?;
                    if !self.bare(&container.item, count, items)? {
                        self.read(&container.item, count, items)?;
                    }
                    offsets.push(count);
                }
            }
            (Op::Bitset(size), Column::Fixed { len, items, .. }) => {
                for _ in 0..n {
                    let count = self.cursor.count(1)?;
                    if count != *size {
                        return Err(Error::corrupt(format!("{count} bits, where the type has {size}")));
                    }
                    self.read(&Op::Number(Number::Bool), count, items)?;
                }
                *len += n;
            }
            (Op::Array(number), Column::List { offsets, items, .. }) => {
                for _ in 0..n {
                    let count = self.cursor.count(number.size())?;
                    self.read(&Op::Number(*number), count, items)?;
                    offsets.push(count);
                }
            }
            (Op::Object(reader), Column::Record { len, parts, .. }) => {
                self.objects(*reader, n, parts)?;
                *len += n;
            }
            (Op::TObject, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    let object = read_tobject(&mut self.cursor)?;
                    for (part, value) in parts.iter_mut().zip([object.unique_id, object.bits]) {
                        if let Column::Numbers(_, Words::W4(words)) = part {
                            words.push(value);
                        }
                    }
                }
                *len += n;
            }
            (Op::Ref, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    let reference = read_tobject(&mut self.cursor)?.unique_id;
                    self.cursor.u16()?;
                    if let Some(Column::Numbers(_, Words::W4(words))) = parts.first_mut() {
                        words.push(reference);
                    }
                }
                *len += n;
            }
            (Op::RefArray, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.ref_array(parts)?;
                }
                *len += n;
            }
            (Op::Triangle { base, rows, number }, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.object(*base, parts)?;
                    let rows = match parts.get(*rows) {
                        Some(Column::Numbers(_, Words::W4(words))) => words.last().copied().unwrap_or(0),
                        _ => 0,
                    };
                    let count = u64::from(rows).saturating_mul(u64::from(rows).saturating_add(1)) / 2;
                    let count = i64::try_from(count).unwrap_or(-1);
                    let count = self.cursor.checked_count(count, number.size())?;
                    if let Some(Column::List { offsets, items, .. }) = parts.last_mut() {
                        self.read(&Op::Number(*number), count, items)?;
                        offsets.push(count);
                    }
                }
                *len += n;
            }
            (Op::Pointer { class, target }, Column::Optional { valid, value }) => {
                self.fits(n, 4)?;
                for _ in 0..n {
                    let there = self.pointer(class, target, value)?;
                    valid.push(there);
                }
            }
            (Op::AnyPointer, Column::Bytes { offsets, bytes }) => {
                for _ in 0..n {
                    let start = self.cursor.pos();
                    if let Tag::New { class, end, slot } = self.tags.read(&mut self.cursor)? {
                        self.tags.register(slot, start);
                        self.passed = true;
                        let end = end.ok_or_else(|| Error::unsupported(format!("a {class} without a byte count")))?;
                        self.cursor.seek(end);
                    }
                    let range = self.cursor.data().get(start..self.cursor.pos()).unwrap_or_default();
                    bytes.extend_from_slice(range);
                    offsets.push(range.len());
                }
            }
            (Op::AnyArray(array), column) => {
                for _ in 0..n {
                    self.any_array(array, column)?;
                }
            }
            (Op::Tables { arrays, counter, item }, column) => self.tables(*arrays, *counter, item, n, column)?,
            (Op::Opaque, Column::Bytes { offsets, bytes }) => {
                for _ in 0..n {
                    let start = self.cursor.pos();
                    let frame = Frame::read(&mut self.cursor)?;
                    let end = frame.end.ok_or_else(|| Error::unsupported("an object without a byte count"))?;
                    self.passed = true;
                    self.cursor.seek(end);
                    let range = self.cursor.data().get(start..end).unwrap_or_default();
                    bytes.extend_from_slice(range);
                    offsets.push(range.len());
                }
            }
            _ => return Err(Error::unsupported("a plan that does not fit its column")),
        }
        Ok(())
    }

    #[inline]
    pub(super) fn numbers(&mut self, number: Number, n: usize, words: &mut Words) -> Result<()> {
        if n == 1 {
            words.push_be(self.cursor.bytes(number.size())?);
        } else {
            words.extend_be(self.cursor.bytes(n.checked_mul(number.size()).ok_or_else(too_many)?)?);
        }
        Ok(())
    }

    /// Checks that `n` values of at least `each` bytes can be there.
    pub(super) fn fits(&self, n: usize, each: usize) -> Result<()> {
        if n <= 1 || n.checked_mul(each).is_some_and(|bytes| bytes <= self.cursor.remaining()) {
            return Ok(());
        }
        Err(too_many())
    }

    /// Reads values up to the end of the bytes; where a frame goes around them, up to its end.
    fn rest(&mut self, flag: bool, item: &Op, items: &mut Column) -> Result<()> {
        if self.cursor.remaining() == 0 || (flag && self.cursor.u8()? == 0) {
            return Ok(());
        }
        if let Some(size) = item.fixed_size().filter(|size| *size > 0) {
            let n = self.cursor.remaining() / size;
            return self.read(item, n, items);
        }
        let Op::Framed(inner) = item else {
            while self.cursor.remaining() > 0 {
                let at = self.cursor.pos();
                self.read(item, 1, items)?;
                if self.cursor.pos() == at {
                    return Err(Error::corrupt("items without bytes"));
                }
            }
            return Ok(());
        };
        let frame = Frame::read(&mut self.cursor)?;
        let end = frame.end.unwrap_or(self.cursor.data().len());
        let member_wise = self.member_wise(frame.version, inner)?;
        while self.cursor.pos() < end {
            match member_wise {
                Some((version, checksum)) => self.members_of(inner, (version, checksum), 1, items)?,
                None => self.read(inner, 1, items)?,
            }
        }
        frame.finish(&mut self.cursor, "container")
    }

    pub(super) fn peek_counter(&mut self, slot: usize, number: Number, n: usize) -> Result<()> {
        self.fits(n, number.size())?;
        let mut cursor = self.cursor.clone();
        let Some(counter) = self.counters.get_mut(slot) else { return Ok(()) };
        counter.clear();
        for _ in 0..n {
            let value = match read_number(&mut cursor, number)? {
                Value::Int(value) => u64::try_from(value).unwrap_or(0),
                Value::Float(_) => return Err(Error::unsupported("a counter that is no whole number")),
            };
            counter.push(value);
        }
        Ok(())
    }
}

/// A number of any type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Int(i128),
    Float(f64),
}

fn read_number(c: &mut Cursor<'_>, number: Number) -> Result<Value> {
    Ok(match number {
        Number::Bool => Value::Int(i128::from(c.u8()? != 0)),
        Number::I8 => Value::Int(c.i8()?.into()),
        Number::U8 => Value::Int(c.u8()?.into()),
        Number::I16 => Value::Int(c.i16()?.into()),
        Number::U16 => Value::Int(c.u16()?.into()),
        Number::I32 => Value::Int(c.i32()?.into()),
        Number::U32 => Value::Int(c.u32()?.into()),
        Number::I64 => Value::Int(c.i64()?.into()),
        Number::U64 => Value::Int(c.u64()?.into()),
        Number::F32 => Value::Float(c.f32()?.into()),
        Number::F64 => Value::Float(c.f64()?),
    })
}

#[cold]
pub(super) fn too_many() -> Error {
    Error::corrupt("more values than there can be")
}

/// Whether a record has nothing but numbers, which are then taken one column after the other.
fn only_numbers(ops: &[Op]) -> bool {
    ops.iter().all(|op| matches!(op, Op::Number(_)))
}
