//! Reads what pointers point to: an object that follows, one that was met before in the entry, or nothing; and arrays
//! of objects that one counter counts.

use rootfile::object::tags::{BYTE_COUNT_MASK, CLASS_MASK, ReadTags, Tag};
use rootfile::{Error, Result};

use super::column::Column;
use super::machine::{Machine, too_many};
use super::op::Op;

/// Bytes that may be read again in an entry because several pointers point to them, and those beside for each byte.
const AGAIN: (usize, usize) = (1 << 20, 64);

/// Arrays without items that are read together.
const MOST_ARRAYS: usize = 1 << 16;

impl Machine<'_> {
    /// Begins an entry whose tags count from `origin` bytes before it.
    pub(super) fn begin(&mut self, origin: usize) {
        self.tags = ReadTags::new(origin);
        self.passed = false;
        self.again = 0;
    }

    /// Reads a pointer to a class. Whether it points to anything.
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
                // 1 is the buffer's parent, which is nothing in a tree.
                if self.passed && word.u32()? > 1 {
                    return Err(Error::unsupported(format!("a pointer to {class}, to something that was passed over")));
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

    /// Whether there is an object without a class where a pointer should be: a byte count, and behind it no class but a
    /// version. Arrays of pointers in files up to 5.15/08 have such (`TStreamerInfo::ReadBuffer`, `kStreamLoop`).
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
                Err(Error::corrupt(format!("a {class} that does not end where its byte count says")))
            }
            _ => Ok(true),
        }
    }

    /// Reads an object once more that another pointer pointed to, at `at`.
    fn pointed_again(&mut self, class: &str, target: &Op, at: usize, value: &mut Column) -> Result<bool> {
        let after = self.cursor.clone();
        self.cursor.seek(at);
        let Tag::New { class: found, end: Some(end), .. } = self.tags.read(&mut self.cursor)? else {
            return Err(Error::unsupported(format!("a pointer back to a {class} without a byte count")));
        };
        // A few bytes of pointers inside of what they point to could make a column of any size.
        self.again = self.again.saturating_add(end.saturating_sub(at));
        if self.again > AGAIN.0.saturating_add(self.cursor.data().len().saturating_mul(AGAIN.1)) {
            return Err(Error::unsupported(format!("too many pointers to the same {class}")));
        }
        self.pointed(class, &found, target, Some(end), value)?;
        self.cursor = after;
        Ok(true)
    }

    /// Reads a fixed array of arrays that one counter counts; without a counter, up to the end of the entry.
    pub(super) fn tables(
        &mut self,
        arrays: usize,
        counter: Option<usize>,
        item: &Op,
        n: usize,
        column: &mut Column,
    ) -> Result<()> {
        if let Column::Fixed { size, len, items, .. } = column {
            // Of several dimensions the inner ones hold the arrays.
            *len += n;
            return self.tables(arrays, counter, item, n.checked_mul(*size).ok_or_else(too_many)?, items);
        }
        let Column::List { offsets, items, .. } = column else {
            return Err(Error::unsupported("a plan that does not fit its column"));
        };
        // Arrays of no items take no bytes.
        if n > MOST_ARRAYS.max(self.cursor.remaining()) {
            return Err(too_many());
        }
        let Some(counter) = counter else {
            let before = items.len();
            while self.cursor.remaining() > 0 {
                let at = self.cursor.pos();
                self.read(item, 1, items)?;
                if self.cursor.pos() == at {
                    return Err(Error::corrupt("items without bytes"));
                }
            }
            let found = items.len() - before;
            if !found.is_multiple_of(n.max(1)) {
                return Err(Error::corrupt(format!("{n} arrays of the same length, with {found} items")));
            }
            (0..n).for_each(|_| offsets.push(found / n.max(1)));
            return Ok(());
        };
        for i in 0..n {
            let counts = self.counters.get(counter);
            let count = counts.and_then(|counts| counts.get(i / arrays.max(1))).copied();
            let count = count.ok_or_else(|| Error::corrupt("an array without its counter"))?;
            let count = self.cursor.checked_count(i64::try_from(count).unwrap_or(-1), 1)?;
            self.read(item, count, items)?;
            offsets.push(count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;

    use super::*;
    use crate::decode::op::Container;
    use crate::decode::types::{Number, Shape};

    /// A vector of pointers to `A`, which is a number.
    fn pointers() -> (Shape, Op) {
        let target = Box::new(Op::Number(Number::I32));
        let item = Op::Pointer { class: "A".to_owned(), target };
        let shape = Shape::Optional(Box::new(Shape::Number(Number::I32)));
        (shape.list(), Op::Container(Box::new(Container { item, members: None })))
    }

    /// A pointer to a new `A` whose value is 7.
    const SEVEN: [u8; 14] = [0x40, 0, 0, 10, 0xFF, 0xFF, 0xFF, 0xFF, b'A', 0, 0, 0, 0, 7];

    fn read(origin: usize, bytes: &[u8]) -> Result<Column> {
        let (shape, op) = pointers();
        let mut column = Column::new(&shape, 1);
        let mut machine = Machine::new(bytes, &[], 0);
        machine.begin(origin);
        machine.read(&op, 1, &mut column).map(|()| column)
    }

    #[test]
    fn an_object_met_before_has_the_same_value() {
        // The first pointer is at 4: 2 more make its tag, and the origin.
        let bytes = [&[0, 0, 0, 3][..], &SEVEN, &[0, 0, 0, 76], &[0, 0, 0, 0]].concat();
        let list = read(70, &bytes).unwrap().finish().unwrap();
        let items = list.as_list::<i64>().value(0);
        assert_eq!(items.as_primitive::<Int32Type>().iter().collect::<Vec<_>>(), [Some(7), Some(7), None]);
    }

    #[test]
    fn objects_without_a_class_are_no_pointers() {
        // A byte count of 4, and what would be a tag but says no class.
        let bytes = [0, 0, 0, 1, 0x40, 0, 0, 4, 0, 1, 0, 0];
        let (shape, _) = pointers();
        let mut column = Column::new(&shape, 1);
        let item = Op::Pointer { class: "A".to_owned(), target: Box::new(Op::Number(Number::I64)) };
        let op = Op::Container(Box::new(Container { item, members: None }));
        let Column::List { items, .. } = &mut column else { panic!() };
        **items = Column::new(&Shape::Optional(Box::new(Shape::Number(Number::I64))), 0);
        Machine::new(&bytes, &[], 0).read(&op, 1, &mut column).unwrap();
        assert_eq!(column.len(), 1);
    }

    #[test]
    fn pointers_that_make_more_than_there_is_are_refused() {
        let back = [0, 0, 0, 6].repeat(200_000);
        let many = [&u32::to_be_bytes(200_001)[..], &SEVEN, &back].concat();
        assert!(read(0, &many).is_ok(), "small objects may have many pointers");
        let mut machine = Machine::new(&many, &[], 0);
        machine.begin(0);
        machine.again = AGAIN.0 + many.len() * AGAIN.1;
        let (shape, op) = pointers();
        let error = machine.read(&op, 1, &mut Column::new(&shape, 1)).unwrap_err();
        assert!(error.to_string().contains("too many pointers"), "{error}");
    }

    #[test]
    fn arrays_of_arrays_are_no_more_than_there_can_be() {
        let (shape, item) = (Shape::Number(Number::I32).list(), Op::Number(Number::I32));
        let read = |arrays: usize, bytes: &[u8]| {
            let mut column = Column::new(&shape.clone().fixed(&[arrays]), 0);
            let op = Op::Tables { arrays, counter: None, item: Box::new(item.clone()) };
            Machine::new(bytes, &[], 0).read(&op, 1, &mut column).map(|()| column.finish().unwrap())
        };
        let array = read(2, &[0, 0, 0, 1, 0, 0, 0, 2]).unwrap();
        assert_eq!(array.as_fixed_size_list().values().as_list::<i64>().offsets().as_ref(), [0, 1, 2]);
        assert!(read(2, &[]).is_ok() && read(2, &[0, 0, 0, 1]).is_err());
        assert!(read(1 << 31, &[]).unwrap_err().to_string().contains("more values"));
    }

    #[test]
    fn what_was_passed_over_is_not_nothing() {
        let bytes = [&[0, 0, 0, 2][..], &SEVEN, &[0, 0, 0, 99]].concat();
        let nulls = read(0, &bytes).unwrap().finish().unwrap();
        assert_eq!(nulls.as_list::<i64>().value(0).null_count(), 1, "as ROOT has it");
        let (shape, op) = pointers();
        let mut machine = Machine::new(&bytes, &[], 0);
        machine.passed = true;
        assert!(machine.read(&op, 1, &mut Column::new(&shape, 1)).is_err());
    }
}
