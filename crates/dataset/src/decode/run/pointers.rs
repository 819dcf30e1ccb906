//! Reads pointers: an object that follows, one that came before in the entry, or null. Copies objects that the program
//! does not decode.

use rootfile::tags::{BYTE_COUNT_MASK, CLASS_MASK, Frame, Tag};
use rootfile::{Error, Result};

use super::column::Column;
use super::interpreter::Interpreter;
use super::words::Offsets;
use crate::decode::program::op::Op;

/// Bytes of an entry that may be read again because several pointers refer to them: this many,
const MOST_REREAD: usize = 1 << 20;
/// and this many more for each byte of the entry.
const MOST_REREAD_PER_BYTE: usize = 64;

impl Interpreter<'_> {
    /// Reads a pointer to a class. Returns false for null.
    pub(super) fn pointer(&mut self, class: &str, target: &Op, value: &mut Column) -> Result<bool> {
        let start = self.cursor.pos();
        if self.is_bare_object() {
            self.read(target, 1, value)?;
            return Ok(true);
        }
        match self.tags.read(&mut self.cursor)? {
            Tag::Null => {
                let mut word = self.cursor.clone();
                word.seek(start);
                // 1 refers to the buffer's parent, which a tree does not have.
                if self.skipped_objects && word.u32()? > 1 {
                    return Err(Error::unsupported(format!("a pointer to a {class} inside of skipped bytes")));
                }
                value.push_default(1)?;
                Ok(false)
            }
            Tag::Object(at) => self.pointed_again(class, target, at, value),
            Tag::New { class: found, end, slot } => {
                self.tags.register(slot, start);
                self.pointed(class, &found, target, end, value)
            }
        }
    }

    /// Whether an object without its class stands in the place of a pointer: a byte count, followed by a version and not by
    /// a class. Arrays of pointers in files before 5.15/08 have such objects (`TStreamerInfo::ReadBuffer`, `kStreamLoop`).
    fn is_bare_object(&self) -> bool {
        let mut peek = self.cursor.clone();
        let (Ok(count), Ok(tag)) = (peek.u32(), peek.u32()) else { return false };
        count & CLASS_MASK == 0 && count & BYTE_COUNT_MASK != 0 && tag & CLASS_MASK == 0
    }

    fn pointed(
        &mut self,
        class: &str,
        found: &str,
        target: &Op,
        end: Option<usize>,
        value: &mut Column,
    ) -> Result<bool> {
        if found != class {
            return Err(Error::unsupported(format!("a pointer to {class} that points to a {found}")));
        }
        self.read(target, 1, value)?;
        match end {
            Some(end) if end != self.cursor.pos() => {
                Err(Error::corrupt(format!("a {class} that does not end at its byte count")))
            }
            _ => Ok(true),
        }
    }

    /// Reads the object at `at` again, which an earlier pointer refers to.
    fn pointed_again(&mut self, class: &str, target: &Op, at: usize, value: &mut Column) -> Result<bool> {
        let after = self.cursor.clone();
        self.cursor.seek(at);
        let Tag::New { class: found, end: Some(end), .. } = self.tags.read(&mut self.cursor)? else {
            return Err(Error::unsupported(format!("a pointer back to a {class} without a byte count")));
        };
        // A few bytes of pointers could otherwise fill a column of any size.
        self.reread_bytes = self.reread_bytes.saturating_add(end.saturating_sub(at));
        if self.reread_bytes > MOST_REREAD.saturating_add(self.cursor.data().len().saturating_mul(MOST_REREAD_PER_BYTE))
        {
            return Err(Error::unsupported(format!("too many pointers to the same {class}")));
        }
        self.pointed(class, &found, target, Some(end), value)?;
        self.cursor = after;
        Ok(true)
    }

    /// Copies a pointer to an object of any class, with the object if it follows.
    pub(super) fn opaque_pointer(&mut self, offsets: &mut Offsets, bytes: &mut Vec<u8>) -> Result<()> {
        let start = self.cursor.pos();
        if let Tag::New { class, end, slot } = self.tags.read(&mut self.cursor)? {
            self.tags.register(slot, start);
            self.skipped_objects = true;
            let end = end.ok_or_else(|| Error::unsupported(format!("a {class} without a byte count")))?;
            self.cursor.seek(end);
        }
        self.copy_since(start, offsets, bytes);
        Ok(())
    }

    /// Copies a frame with its content.
    pub(super) fn opaque(&mut self, offsets: &mut Offsets, bytes: &mut Vec<u8>) -> Result<()> {
        let start = self.cursor.pos();
        let frame = Frame::read(&mut self.cursor)?;
        let end = frame.end.ok_or_else(|| Error::unsupported("an object without a byte count"))?;
        self.skipped_objects = true;
        self.cursor.seek(end);
        self.copy_since(start, offsets, bytes);
        Ok(())
    }

    /// Adds the bytes from `start` to the cursor as one item.
    pub(super) fn copy_since(&self, start: usize, offsets: &mut Offsets, bytes: &mut Vec<u8>) {
        let range = self.cursor.data().get(start..self.cursor.pos()).unwrap_or_default();
        bytes.extend_from_slice(range);
        offsets.push(range.len());
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    use super::*;
    use crate::decode::program::op::{Container, Holds};
    use crate::decode::program::types::{Number, Shape};

    /// A vector of pointers to `A`, which is a number.
    fn pointers() -> (Shape, Op) {
        let target = Box::new(Op::Number(Number::I32));
        let item = Op::Pointer { class: "A".to_owned(), target };
        let shape = Shape::Optional(Box::new(Shape::Number(Number::I32)));
        (shape.list(), Op::Container(Box::new(Container { item, members: None, holds: Holds::Items })))
    }

    /// A pointer to a new `A` whose value is 7.
    const SEVEN: [u8; 14] = [0x40, 0, 0, 10, 0xFF, 0xFF, 0xFF, 0xFF, b'A', 0, 0, 0, 0, 7];

    fn read(origin: usize, bytes: &[u8]) -> Result<Column> {
        let (shape, op) = pointers();
        let mut column = Column::new(&shape, 1);
        let mut interpreter = Interpreter::new(bytes, &[], 0);
        interpreter.begin_entry(origin);
        interpreter.read(&op, 1, &mut column).map(|()| column)
    }

    #[test]
    fn a_repeated_object_has_the_same_value() {
        // The first pointer is at 4: 2 more make its tag, and the origin.
        let bytes = [&[0, 0, 0, 3][..], &SEVEN, &[0, 0, 0, 76], &[0, 0, 0, 0]].concat();
        let list = read(70, &bytes).unwrap().finish().unwrap();
        let items = list.as_list::<i64>().value(0);
        assert_eq!(items.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(7), Some(7), None]);
    }

    #[test]
    fn an_object_without_a_class_is_read_in_place_of_a_pointer() {
        // A byte count of 4, and what would be a tag but says no class.
        let bytes = [0, 0, 0, 1, 0x40, 0, 0, 4, 0, 1, 0, 0];
        let (shape, _) = pointers();
        let mut column = Column::new(&shape, 1);
        let item = Op::Pointer { class: "A".to_owned(), target: Box::new(Op::Number(Number::I64)) };
        let op = Op::Container(Box::new(Container { item, members: None, holds: Holds::Items }));
        let Column::List { items, .. } = &mut column else { panic!() };
        **items = Column::new(&Shape::Optional(Box::new(Shape::Number(Number::I64))), 0);
        Interpreter::new(&bytes, &[], 0).read(&op, 1, &mut column).unwrap();
        assert_eq!(column.len(), 1);
    }

    #[test]
    fn too_many_pointers_to_the_same_object_are_refused() {
        let back = [0, 0, 0, 6].repeat(200_000);
        let many = [&u32::to_be_bytes(200_001)[..], &SEVEN, &back].concat();
        assert!(read(0, &many).is_ok(), "small objects may have many pointers");
        let mut interpreter = Interpreter::new(&many, &[], 0);
        interpreter.begin_entry(0);
        interpreter.reread_bytes = MOST_REREAD + many.len() * MOST_REREAD_PER_BYTE;
        let (shape, op) = pointers();
        let error = interpreter.read(&op, 1, &mut Column::new(&shape, 1)).unwrap_err();
        assert!(error.to_string().contains("too many pointers"), "{error}");
    }

    #[test]
    fn arrays_of_arrays_are_limited_by_the_bytes() {
        let (shape, item) = (Shape::Number(Number::I32).list(), Op::Number(Number::I32));
        let read = |arrays: usize, bytes: &[u8]| {
            let mut column = Column::new(&shape.clone().fixed(&[arrays]), 0);
            let op = Op::CountedArrays { arrays, counter: None, item: Box::new(item.clone()) };
            Interpreter::new(bytes, &[], 0).read(&op, 1, &mut column).map(|()| column.finish().unwrap())
        };
        let array = read(2, &[0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
        assert_eq!(array.as_fixed_size_list().values().as_list::<i64>().offsets().as_ref(), [0, 1, 2]);
        assert!(read(2, &[]).is_ok() && read(2, &[0, 0, 0, 1]).is_err());
        assert!(read(1 << 31, &[]).unwrap_err().to_string().contains("more values"));
    }

    #[test]
    fn a_pointer_into_skipped_bytes_is_an_error() {
        let bytes = [&[0, 0, 0, 2][..], &SEVEN, &[0, 0, 0, 99]].concat();
        let nulls = read(0, &bytes).unwrap().finish().unwrap();
        assert_eq!(nulls.as_list::<i64>().value(0).null_count(), 1, "as ROOT has it");
        let (shape, op) = pointers();
        let mut interpreter = Interpreter::new(&bytes, &[], 0);
        interpreter.skipped_objects = true;
        assert!(interpreter.read(&op, 1, &mut Column::new(&shape, 1)).is_err());
    }
}
