//! Writes values as bytes: the mirror of the decoder's interpreter. Values of equal size are written into room for all of
//! them, one member after the other; other values one by one.

use rootfile::Result;
use rootfile::bytes::Writer;

use super::forms::Forms;
use super::numbers::{convert, pack, place};
use super::rows::Rows;
use super::view::{View, Words, shape_mismatch};
use crate::decode::program::class_reader::ClassReader;
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;
use crate::layout::Streaming;

/// The state of a write.
pub(super) struct Encoder<'a> {
    pub out: Writer,
    pub readers: &'a [ClassReader],
    pub forms: &'a Forms,
    pub streaming: Streaming,
    /// The values of each counter for the values that are written; none if another branch has the counter.
    pub counters: Vec<Option<Vec<u64>>>,
}

impl Encoder<'_> {
    /// Makes room for `n` values of `size` bytes and returns it.
    fn room(&mut self, n: usize, size: usize) -> Result<&mut [u8]> {
        let start = self.out.bytes.len();
        let len = n.checked_mul(size).and_then(|len| len.checked_add(start)).ok_or_else(shape_mismatch)?;
        self.out.bytes.resize(len, 0);
        self.out.bytes.get_mut(start..).ok_or_else(shape_mismatch)
    }

    /// Writes `n` values from the one at `at` on.
    pub(super) fn write(&mut self, op: &Op, at: usize, n: usize, view: &View<'_>) -> Result<()> {
        match (op, view) {
            (Op::Object(_) | Op::UnsplitObject { .. } | Op::Record(_), _) if n == 0 => Ok(()),
            (Op::Number(number), View::Numbers(_, words)) => {
                let (words, size) = (*words, number.size());
                place(words, at, n, self.room(n, size)?, size);
                Ok(())
            }
            (Op::Convert(to), view) => convert(*to, view, at, n, &mut self.out.bytes),
            (Op::Packed(packed), view) => {
                let size = packed.size();
                pack(*packed, view, at, n, self.room(n, size)?, size)
            }
            (Op::Fixed(size, item), View::Fixed { items, .. }) => {
                self.write(item, at * size, n.checked_mul(*size).ok_or_else(shape_mismatch)?, items)
            }
            (Op::Object(_) | Op::UnsplitObject { .. } | Op::Record(_), view)
                if let Some(size) = self.forms.size(op, self.readers) =>
            {
                let (forms, readers) = (self.forms, self.readers);
                let out = self.room(n, size)?;
                Rows { forms, readers, stride: size }.value(op, at, n, view, out).map(|_| ())
            }
            (Op::TObjectBits, View::Numbers(_, Words::W4(words))) => self.tobject_bits(words, at, n),
            (Op::TString, View::Text { ends, bytes }) => self.tstrings(*ends, bytes, at, n),
            (Op::CharStar, View::Text { ends, bytes }) => self.char_stars(*ends, bytes, at, n),
            (Op::CString, View::Text { ends, bytes }) => self.c_strings(*ends, bytes, at, n),
            (Op::Counter(slot, number), view @ View::Numbers(..)) => {
                self.set_counter(*slot, *number, at, n, view)?;
                self.write(&Op::Number(*number), at, n, view)
            }
            (Op::Counted { counter, flag, item }, View::List { ends, items }) => {
                self.counted_lists(*counter, *flag, item, at, n, *ends, items)
            }
            (Op::ToEnd { flag, item }, View::List { ends, items }) => (at..at + n).try_for_each(|i| {
                let (start, len) = ends.list(i);
                self.items_to_end(*flag, item, start, len, items)
            }),
            (Op::CountedPerObject { framed, item, .. }, View::List { ends, items }) => {
                (at..at + n).try_for_each(|i| self.list_of_objects(*framed, item, ends.list(i), items))
            }
            (Op::NamedObject { class, object }, view) => self.named_objects(class, object, at, n, view),
            (Op::Record(ops), View::Record(parts)) => {
                for i in at..at + n {
                    for (op, part) in ops.iter().zip(parts) {
                        self.write(op, i, 1, part)?;
                    }
                }
                Ok(())
            }
            (Op::Framed(inner), view) => self.framed(inner, at, n, view),
            (Op::Container(container), View::List { ends, items }) => {
                (at..at + n).try_for_each(|i| self.counted_items(&container.item, ends.list(i), items))
            }
            (Op::Bitset(_), View::Fixed { size, items }) => {
                (at..at + n).try_for_each(|i| self.counted_items(&Op::Number(Number::Bool), (i * size, *size), items))
            }
            (Op::TArray(number), View::List { ends, items }) => {
                (at..at + n).try_for_each(|i| self.counted_items(&Op::Number(*number), ends.list(i), items))
            }
            (Op::Object(reader), View::Record(parts)) => {
                (at..at + n).try_for_each(|i| self.object(*reader, None, i, parts))
            }
            (Op::UnsplitObject { reader, version, checksum, framed }, View::Record(parts)) => {
                (at..at + n).try_for_each(|i| self.unsplit_object(*reader, (*version, *checksum), *framed, i, parts))
            }
            (Op::TObject, View::Record(parts)) => self.tobjects(parts, at, n),
            (Op::TRef, View::Record(parts)) => self.trefs(parts, at, n),
            (Op::TRefArray, View::Record(parts)) => (at..at + n).try_for_each(|i| self.tref_array(i, parts)),
            (Op::SymmetricMatrix { base, rows, number }, View::Record(parts)) => {
                (at..at + n).try_for_each(|i| self.symmetric_matrix(*base, *rows, *number, i, parts))
            }
            (Op::Pointer { class, target }, View::Optional { nulls, value }) => {
                (at..at + n).try_for_each(|i| self.pointer(class, target, i, *nulls, value))
            }
            (Op::ObjectArray(array), view) => self.object_array(array, at, n, view),
            (Op::CountedArrays { arrays, counter, item }, view) => {
                self.counted_arrays(*arrays, *counter, item, at, n, view)
            }
            _ => Err(shape_mismatch()),
        }
    }
}
