//! The interpreter: runs the operations of a program over bytes, into a [`Column`]. The cursor checks every read; bytes that
//! do not fit the program are an error. Each operation reads any number of consecutive values, so that numbers are read
//! in one go.

use rootfile::bytes::Cursor;
use rootfile::tags::ReadTags;
use rootfile::{Error, Result};

use super::column::Column;
use super::memberwise::MemberwiseForm;
use super::rows::Rows;
use super::value::{shape_mismatch, too_many};
use super::words::Words;
use crate::decode::program::class_reader::ClassReader;
use crate::decode::program::learned::SeenArray;
use crate::decode::program::op::Op;

/// The state of a read.
pub(in crate::decode) struct Interpreter<'a> {
    /// The bytes of an entry, or of several where all have the same length.
    pub cursor: Cursor<'a>,
    /// The values of each counter for the values that are read.
    pub counters: Vec<Vec<u64>>,
    pub readers: &'a [ClassReader],
    /// Class tags of the entry.
    pub tags: ReadTags,
    /// Where the current object ends, if its frame has a byte count.
    pub object_end: Option<usize>,
    /// Whether skipped bytes may hold objects that later pointers refer to.
    pub skipped_objects: bool,
    /// Bytes of the entry that were read again because several pointers refer to them.
    pub reread_bytes: usize,
    /// Arrays whose item class the program does not know, if the caller wants them recorded.
    pub seen_arrays: Option<Vec<SeenArray>>,
    /// For each class reader the form of the first object met: none if its objects have no fixed form.
    pub(super) row_forms: Vec<Option<Option<Rows>>>,
    /// For each class reader the form of the members of the first member-wise objects met.
    pub(super) memberwise_forms: Vec<Option<MemberwiseForm>>,
}

impl<'a> Interpreter<'a> {
    pub(in crate::decode) fn new(bytes: &'a [u8], readers: &'a [ClassReader], slots: usize) -> Self {
        Self {
            cursor: Cursor::new(bytes),
            counters: vec![Vec::new(); slots],
            readers,
            tags: ReadTags::new(0),
            object_end: None,
            skipped_objects: false,
            reread_bytes: 0,
            seen_arrays: None,
            row_forms: vec![None; readers.len()],
            memberwise_forms: vec![None; readers.len()],
        }
    }

    /// Begins an entry whose tags count from `origin` bytes before it.
    pub(super) fn begin_entry(&mut self, origin: usize) {
        self.tags = ReadTags::new(origin);
        self.skipped_objects = false;
        self.reread_bytes = 0;
    }

    /// Reads `n` values.
    pub(in crate::decode) fn read(&mut self, op: &Op, n: usize, column: &mut Column) -> Result<()> {
        match (op, column) {
            (Op::Number(number), Column::Numbers(_, words)) => self.numbers(*number, n, words),
            (Op::Convert(from), Column::Numbers(to, words)) => self.converted_numbers(*from, *to, n, words),
            (Op::Packed(packed), Column::Numbers(to, words)) => self.packed_numbers(*packed, *to, n, words),
            (Op::TObjectBits, Column::Numbers(_, Words::W4(words))) => self.tobject_bits(n, words),
            (Op::TString, Column::Text { offsets, bytes }) => self.tstrings(n, offsets, bytes),
            (Op::CharStar, Column::Text { offsets, bytes }) => self.char_stars(n, offsets, bytes),
            (Op::CString, Column::Text { offsets, bytes }) => self.c_strings(n, offsets, bytes),
            (Op::Counter(slot, number), column) => {
                self.peek_counter(*slot, *number, n)?;
                self.read(&Op::Number(*number), n, column)
            }
            (Op::UnsplitObject { reader, version, checksum, .. }, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.unsplit_object(*reader, (*version, *checksum), parts)?;
                }
                *len += n;
                Ok(())
            }
            (Op::Fixed(size, item), Column::Fixed { len, items, .. }) => {
                self.read(item, n.checked_mul(*size).ok_or_else(too_many)?, items)?;
                *len += n;
                Ok(())
            }
            (Op::Counted { counter, flag, item }, Column::List { offsets, items, .. }) => {
                self.counted_lists(*counter, *flag, item, n, offsets, items)
            }
            (Op::ToEnd { flag, item }, Column::List { offsets, items, .. }) => {
                for _ in 0..n {
                    let before = items.len();
                    self.items_to_end(*flag, item, items)?;
                    offsets.push(items.len() - before);
                }
                Ok(())
            }
            (Op::CountedPerObject { objects, framed, item, .. }, Column::List { offsets, items, .. }) => {
                self.lists_of_objects(*objects, *framed, item, offsets, items)
            }
            (Op::NamedObject { class, object }, column) => self.named_objects(class, object, n, column),
            (Op::Record(ops), Column::Record { len, parts, .. }) => {
                self.records(op, ops, n, parts)?;
                *len += n;
                Ok(())
            }
            (Op::Framed(inner), column) => self.framed(inner, n, column),
            (Op::Container(container), Column::List { offsets, items, .. }) => {
                self.containers(container, n, offsets, items)
            }
            (Op::Bitset(size), Column::Fixed { len, items, .. }) => {
                self.bitsets(*size, n, items)?;
                *len += n;
                Ok(())
            }
            (Op::TArray(number), Column::List { offsets, items, .. }) => self.tarrays(*number, n, offsets, items),
            (Op::Object(reader), Column::Record { len, parts, .. }) => {
                self.objects(*reader, n, parts)?;
                *len += n;
                Ok(())
            }
            (Op::TObject, Column::Record { len, parts, .. }) => {
                self.tobjects(n, parts)?;
                *len += n;
                Ok(())
            }
            (Op::TRef, Column::Record { len, parts, .. }) => {
                self.trefs(n, parts)?;
                *len += n;
                Ok(())
            }
            (Op::TRefArray, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.tref_array(parts)?;
                }
                *len += n;
                Ok(())
            }
            (Op::SymmetricMatrix { base, rows, number }, Column::Record { len, parts, .. }) => {
                for _ in 0..n {
                    self.symmetric_matrix(*base, *rows, *number, parts)?;
                }
                *len += n;
                Ok(())
            }
            (Op::Pointer { class, target }, Column::Optional { valid, value }) => {
                self.fits(n, 4)?;
                for _ in 0..n {
                    let is_set = self.pointer(class, target, value)?;
                    valid.push(is_set);
                }
                Ok(())
            }
            (Op::OpaquePointer, Column::Bytes { offsets, bytes }) => {
                (0..n).try_for_each(|_| self.opaque_pointer(offsets, bytes))
            }
            (Op::ObjectArray(array), column) => (0..n).try_for_each(|_| self.object_array(array, column)),
            (Op::CountedArrays { arrays, counter, item }, column) => {
                self.counted_arrays(*arrays, *counter, item, n, column)
            }
            (Op::Opaque, Column::Bytes { offsets, bytes }) => (0..n).try_for_each(|_| self.opaque(offsets, bytes)),
            _ => Err(shape_mismatch()),
        }
    }

    /// Checks that the remaining bytes can hold `n` values of at least `each` bytes.
    pub(super) fn fits(&self, n: usize, each: usize) -> Result<()> {
        if n <= 1 || n.checked_mul(each).is_some_and(|bytes| bytes <= self.cursor.remaining()) {
            return Ok(());
        }
        Err(too_many())
    }

    /// Reads items until the bytes end.
    pub(super) fn until_bytes_end(&mut self, item: &Op, items: &mut Column) -> Result<()> {
        while self.cursor.remaining() > 0 {
            let at = self.cursor.pos();
            self.read(item, 1, items)?;
            if self.cursor.pos() == at {
                return Err(Error::corrupt("items without bytes"));
            }
        }
        Ok(())
    }
}
