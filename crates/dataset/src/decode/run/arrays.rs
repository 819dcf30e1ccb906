//! Reads arrays whose bytes name the class of their items: `TClonesArray`, `TObjArray` and `TList`. Records the class where
//! the caller asks for that, so that the planner can make a better program.
//!
//! Facts (`TClonesArray::Streamer`, `TObjArray::Streamer`, `TList::Streamer`): all have a frame, a `TObject`, a name and
//! a count. A `TClonesArray` names its class and version, then has the members of all objects together, or (by its bits)
//! each object in a frame, preceded by a byte that is zero for a null. The other arrays have pointers.

use rootfile::object::read_tobject;
use rootfile::tags::{Frame, Tag};
use rootfile::{Error, Result, text};

use super::column::Column;
use super::interpreter::Interpreter;
use super::value::{MOST_EMPTY, shape_mismatch, too_many};
use crate::decode::program::class_reader::{ClassReader, ClassVersion, find};
use crate::decode::program::learned::SeenArray;
use crate::decode::program::op::{ArrayKind, BYPASS_STREAMER, ObjectArray, Op};

/// The bit [`BYPASS_STREAMER`] in version 3 of `TClonesArray`.
const OLD_BYPASS_STREAMER: u32 = 1 << 14;
/// Arrays that one read records.
const MOST_NOTES: usize = 100_000;

impl Interpreter<'_> {
    pub(super) fn object_array(&mut self, array: &ObjectArray, column: &mut Column) -> Result<()> {
        let start = self.cursor.pos();
        let frame = Frame::read(&mut self.cursor)?;
        match column {
            Column::List { offsets, items, .. } => {
                let count = match array.kind {
                    ArrayKind::Clones => self.clones(array, &frame, items)?,
                    _ => self.collected(array, frame.version, items)?,
                };
                offsets.push(count);
                frame.finish(&mut self.cursor, array.kind.name())
            }
            Column::Bytes { offsets, bytes } => {
                let end = frame.end.ok_or_else(|| Error::unsupported("a TClonesArray without a byte count"))?;
                if self.seen_arrays.is_some() {
                    self.clones_header(array, frame.version)?;
                }
                self.skipped_objects = true;
                self.cursor.seek(end);
                self.copy_since(start, offsets, bytes);
                Ok(())
            }
            _ => Err(shape_mismatch()),
        }
    }

    fn record_array(&mut self, array: usize, class: &str, nullable: bool) {
        if let Some(seen) = self.seen_arrays.as_mut().filter(|seen| seen.len() < MOST_NOTES) {
            let array = SeenArray { array, class: class.to_owned(), nullable };
            if seen.last() != Some(&array) {
                seen.push(array);
            }
        }
    }

    /// Reads the head of a `TClonesArray`: whether it is member-wise, its class, the class's version, and the number of objects.
    fn clones_header(&mut self, array: &ObjectArray, version: i16) -> Result<(bool, String, i32, u32)> {
        let bits = if version > 2 { read_tobject(&mut self.cursor)?.bits } else { BYPASS_STREAMER };
        let memberwise = bits & BYPASS_STREAMER != 0 || (version == 3 && bits & OLD_BYPASS_STREAMER != 0);
        if version > 1 {
            self.cursor.string_bytes()?;
        }
        let class = text::decode(self.cursor.string_bytes()?);
        let (class, of_class) = class.split_once(';').unwrap_or((&class, "0"));
        let count = self.cursor.i32()?.unsigned_abs();
        self.cursor.i32()?;
        self.record_array(array.array, class, !memberwise);
        Ok((memberwise, class.to_owned(), of_class.parse().unwrap_or(0), count))
    }

    fn clones(&mut self, array: &ObjectArray, frame: &Frame, items: &mut Column) -> Result<usize> {
        let (memberwise, class, version, count) = self.clones_header(array, frame.version)?;
        let count = usize::try_from(count).map_err(|_| too_many())?;
        let readers = self.readers;
        let reader = array.reader.and_then(|reader| readers.get(reader));
        let reader =
            reader.filter(|reader| reader.class == class).ok_or_else(|| unexpected_class(array.kind, &class))?;
        if !memberwise {
            self.fits(count, 1)?;
            for _ in 0..count {
                match (self.cursor.u8()? != 0, &mut *items) {
                    (true, Column::Optional { valid, value }) => {
                        self.read(&array.item, 1, value)?;
                        valid.push(true);
                    }
                    (true, items) => self.read(&array.item, 1, items)?,
                    (false, items @ Column::Optional { .. }) => items.push_default(1)?,
                    (false, _) => return Err(Error::unsupported("a TClonesArray with gaps")),
                }
            }
            return Ok(count);
        }
        let items = match items {
            Column::Optional { valid, value } => {
                if count > self.cursor.remaining() {
                    return Err(too_many());
                }
                valid.resize(valid.len() + count, true);
                &mut **value
            }
            items => items,
        };
        let Column::Record { len, parts, .. } = items else {
            return Err(shape_mismatch());
        };
        // Objects without members take no bytes, but then the column has no parts either.
        if count > self.cursor.remaining() && (count > MOST_EMPTY || !parts.is_empty()) {
            return Err(too_many());
        }
        // ROOT 6 writes the frames of some members even for zero objects.
        if count > 0 || frame.end.is_some_and(|end| end > self.cursor.pos()) {
            self.members(of_clones(reader, version)?, count, true, parts)?;
        }
        *len += count;
        Ok(count)
    }

    /// The pointers of a `TObjArray` or a `TList`.
    fn collected(&mut self, array: &ObjectArray, version: i16, items: &mut Column) -> Result<usize> {
        let list = array.kind == ArrayKind::List;
        if version > 2 {
            read_tobject(&mut self.cursor)?;
        }
        if version > 1 {
            self.cursor.string_bytes()?;
        }
        let count = self.cursor.count(4)?;
        if !list {
            self.cursor.i32()?;
        }
        for _ in 0..count {
            if self.seen_arrays.is_some()
                && let Tag::New { class, .. } = self.tags.read(&mut self.cursor.clone())?
            {
                self.record_array(array.array, &class, true);
            }
            match (&array.item, &mut *items) {
                (Op::Pointer { class, target }, Column::Optional { valid, value }) => {
                    let is_set = self.pointer(class, target, value)?;
                    valid.push(is_set);
                }
                (item, items) => self.read(item, 1, items)?,
            }
            if list && version > 3 {
                // The option that TList::Add was called with.
                match self.cursor.u8()? {
                    255 if version > 4 => {
                        let len = self.cursor.count(1)?;
                        self.cursor.skip(len)?;
                    }
                    len => self.cursor.skip(len.into())?,
                }
            }
        }
        Ok(count)
    }
}

/// The version of a class that a `TClonesArray` names; the newest where it names none.
fn of_clones(reader: &ClassReader, version: i32) -> Result<&ClassVersion> {
    if version > 0 {
        return find(reader, version, 0);
    }
    reader.newest().ok_or_else(|| Error::unsupported(format!("{} is not described", reader.class)))
}

#[cold]
fn unexpected_class(kind: ArrayKind, class: &str) -> Error {
    Error::unsupported(format!("a {} of {class}, but other entries hold another class", kind.name()))
}
