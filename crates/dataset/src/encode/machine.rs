//! Runs the steps of a plan from values to bytes: the mirror of what reads them. Values of one size are written into
//! room made for all of them, one member after the other; others one by one.

use rootfile::bytes::Writer;
use rootfile::object::tags::{NEW_CLASS_TAG, begin_frame, end_frame};
use rootfile::{Error, Result};

use super::forms::{Forms, TOBJECT};
use super::numbers::{convert, pack, place};
use super::view::{Ends, View, Words};
use crate::decode::op::{Op, Reader};
use crate::decode::types::Number;
use crate::layout::Streaming;

/// `TObject` bit: a `TRef` points here, and a process identifier follows.
pub(super) const IS_REFERENCED: u32 = 1 << 4;
/// The class version of `TStreamerInfo`, which frames around containers have (`TStreamerInfo::WriteBufferAux`, `kSTL`):
/// that of the infos in the files that this crate writes. ROOT writes 10 since 6.36, which lie no other way, and looks at
/// it only for whether it is 8 or more. Of 10 groot, in its releases before that, says that it is too new; of 9 nobody.
pub(super) const STREAMER_INFO: i16 = 9;

/// What a write needs besides values.
pub(super) struct Machine<'a> {
    pub out: Writer,
    pub readers: &'a [Reader],
    pub forms: &'a Forms,
    pub streaming: Streaming,
    /// The values of each counter for the values that are written; none of those that are written elsewhere.
    pub counters: Vec<Option<Vec<u64>>>,
}

#[cold]
pub(super) fn unfit() -> Error {
    Error::unsupported("a plan that does not fit its values")
}

/// A count as it is written.
pub(super) fn count(n: usize) -> Result<i32> {
    i32::try_from(n).map_err(|_| Error::request(format!("{n} items, of which there can be 2^31 at most")))
}

/// The characters of a text.
fn text<'a>(ends: Ends<'_>, bytes: &'a [u8], i: usize) -> Result<&'a [u8]> {
    let (start, len) = ends.list(i);
    bytes.get(start..start + len).ok_or_else(unfit)
}

impl Machine<'_> {
    /// Makes room for `n` values of one size and gives it.
    fn room(&mut self, n: usize, size: usize) -> Result<&mut [u8]> {
        let start = self.out.bytes.len();
        let len = n.checked_mul(size).and_then(|len| len.checked_add(start)).ok_or_else(unfit)?;
        self.out.bytes.resize(len, 0);
        self.out.bytes.get_mut(start..).ok_or_else(unfit)
    }

    /// Writes `n` values from the one at `at` on.
    pub(super) fn write(&mut self, op: &Op, at: usize, n: usize, view: &View<'_>) -> Result<()> {
        match (op, view) {
            (Op::Object(_) | Op::Whole { .. } | Op::Record(_), _) if n == 0 => {}
            (Op::Number(number), View::Numbers(_, words)) => {
                let (words, size) = (*words, number.size());
                place(words, at, n, self.room(n, size)?, size);
            }
            (Op::Convert(to), view) => convert(*to, view, at, n, &mut self.out.bytes)?,
            (Op::Packed(packed), view) => {
                let size = packed.size();
                pack(*packed, view, at, n, self.room(n, size)?, size)?;
            }
            (Op::Fixed(size, item), View::Fixed { items, .. }) => {
                self.write(item, at * size, n.checked_mul(*size).ok_or_else(unfit)?, items)?;
            }
            (Op::Object(_) | Op::Whole { .. } | Op::Record(_), view)
                if let Some(size) = self.forms.size(op, self.readers) =>
            {
                let (forms, readers) = (self.forms, self.readers);
                let out = self.room(n, size)?;
                super::rows::Rows { forms, readers, stride: size }.value(op, at, n, view, out)?;
            }
            (Op::Bits, View::Numbers(_, Words::W4(words))) => {
                for bits in words.get(at..at + n).ok_or_else(unfit)? {
                    self.out.u32(*bits);
                    if bits & IS_REFERENCED != 0 {
                        self.out.u16(0);
                    }
                }
            }
            (Op::Text, View::Text { ends, bytes }) => {
                for i in at..at + n {
                    self.out.string_bytes(text(*ends, bytes, i)?);
                }
            }
            (Op::CharStar, View::Text { ends, bytes }) => {
                for i in at..at + n {
                    let text = text(*ends, bytes, i)?;
                    self.out.i32(count(text.len())?);
                    self.out.raw(text);
                }
            }
            (Op::CString, View::Text { ends, bytes }) => {
                for i in at..at + n {
                    let text = text(*ends, bytes, i)?;
                    if text.contains(&0) {
                        return Err(Error::request("a zero in a text that ends at the first"));
                    }
                    self.out.string_bytes(text);
                }
            }
            (Op::Counter(slot, number), view @ View::Numbers(..)) => {
                self.set_counter(*slot, *number, at, n, view)?;
                self.write(&Op::Number(*number), at, n, view)?;
            }
            (Op::Counted { counter, flag, item }, View::List { ends, items }) => {
                for i in 0..n {
                    let (start, len) = ends.list(at + i);
                    if let Some(Some(counts)) = self.counters.get(*counter) {
                        let counted = counts.get(i).copied().unwrap_or(0);
                        // An array that is not there has no items, whatever counts it.
                        if u64::try_from(len) != Ok(counted) && !(*flag && len == 0) {
                            return Err(Error::request(format!(
                                "an array of {len} items, whose counter says {counted}"
                            )));
                        }
                    }
                    if *flag {
                        self.out.u8(u8::from(len > 0));
                    }
                    self.write(item, start, len, items)?;
                }
            }
            (Op::Rest { flag, item }, View::List { ends, items }) => {
                for i in at..at + n {
                    let (start, len) = ends.list(i);
                    self.rest(*flag, item, start, len, items)?;
                }
            }
            (Op::Objects { framed, item, .. }, View::List { ends, items }) => {
                for i in at..at + n {
                    let (start, len) = ends.list(i);
                    let frame = framed.then(|| begin_frame(&mut self.out, STREAMER_INFO));
                    self.write(item, start, len, items)?;
                    if let Some(frame) = frame {
                        end_frame(&mut self.out, frame);
                    }
                }
            }
            (Op::Named { class, object }, view) => {
                let len =
                    u8::try_from(class.len()).map_err(|_| Error::unsupported(format!("{class}, which is long")))?;
                for i in at..at + n {
                    self.out.u8(len);
                    self.out.raw(class.as_bytes());
                    self.out.u8(0);
                    self.write(object, i, 1, view)?;
                }
            }
            (Op::Record(ops), View::Record(parts)) => {
                for i in at..at + n {
                    for (op, part) in ops.iter().zip(parts) {
                        self.write(op, i, 1, part)?;
                    }
                }
            }
            (Op::Framed(inner), view) => self.framed(inner, at, n, view)?,
            (Op::Container(container), View::List { ends, items }) => {
                for i in at..at + n {
                    let (start, len) = ends.list(i);
                    self.out.i32(count(len)?);
                    self.write(&container.item, start, len, items)?;
                }
            }
            (Op::Bitset(_), View::Fixed { size, items }) => {
                for i in at..at + n {
                    self.out.i32(count(*size)?);
                    self.write(&Op::Number(Number::Bool), i * size, *size, items)?;
                }
            }
            (Op::Array(number), View::List { ends, items }) => {
                for i in at..at + n {
                    let (start, len) = ends.list(i);
                    self.out.i32(count(len)?);
                    self.write(&Op::Number(*number), start, len, items)?;
                }
            }
            (Op::Object(reader), View::Record(parts)) => {
                for i in at..at + n {
                    self.object(*reader, None, i, parts)?;
                }
            }
            (Op::Whole { reader, version, checksum, framed }, View::Record(parts)) => {
                for i in at..at + n {
                    self.whole(*reader, (*version, *checksum), *framed, i, parts)?;
                }
            }
            (Op::TObject, View::Record(parts)) => {
                let [View::Numbers(_, Words::W4(ids)), View::Numbers(_, Words::W4(bits))] = parts.as_slice() else {
                    return Err(unfit());
                };
                let rows = ids.get(at..at + n).zip(bits.get(at..at + n)).ok_or_else(unfit)?;
                for (id, bits) in rows.0.iter().zip(rows.1) {
                    rootfile::object::write_tobject(&mut self.out, *id, *bits);
                    if bits & IS_REFERENCED != 0 {
                        self.out.u16(0);
                    }
                }
            }
            (Op::Ref, View::Record(parts)) => {
                let Some(View::Numbers(_, Words::W4(references))) = parts.first() else { return Err(unfit()) };
                for reference in references.get(at..at + n).ok_or_else(unfit)? {
                    rootfile::object::write_tobject(&mut self.out, *reference, 0);
                    self.out.u16(0);
                }
            }
            (Op::RefArray, View::Record(parts)) => {
                for i in at..at + n {
                    self.ref_array(i, parts)?;
                }
            }
            (Op::Triangle { base, rows, number }, View::Record(parts)) => {
                for i in at..at + n {
                    self.triangle(*base, *rows, *number, i, parts)?;
                }
            }
            (Op::Pointer { class, target }, View::Optional { nulls, value }) => {
                for i in at..at + n {
                    if nulls.is_some_and(|nulls| i < nulls.len() && nulls.is_null(i)) {
                        self.out.u32(0);
                        continue;
                    }
                    // A tag counts from the start of the basket, which is not known here: each names its class.
                    let start = self.out.pos();
                    self.out.u32(0);
                    self.out.u32(NEW_CLASS_TAG);
                    self.out.raw(&rootfile::text::encode(class));
                    self.out.u8(0);
                    self.write(target, i, 1, value)?;
                    end_frame(&mut self.out, start);
                }
            }
            (Op::AnyArray(array), view) => self.any_array(array, at, n, view)?,
            (Op::Tables { arrays, counter, item }, view) => self.tables(*arrays, *counter, item, at, n, view)?,
            _ => return Err(unfit()),
        }
        Ok(())
    }

    /// Writes values up to the end of an entry; where a frame goes around them, one for all.
    fn rest(&mut self, flag: bool, item: &Op, start: usize, len: usize, items: &View<'_>) -> Result<()> {
        if flag {
            self.out.u8(u8::from(len > 0));
            if len == 0 {
                return Ok(());
            }
        }
        if matches!(item, Op::Framed(_)) || self.forms.size(item, self.readers).is_some() {
            return self.write(item, start, len, items);
        }
        (start..start + len).try_for_each(|i| self.write(item, i, 1, items))
    }

    /// Takes note of the values of a counter.
    pub(super) fn set_counter(
        &mut self,
        slot: usize,
        number: Number,
        at: usize,
        n: usize,
        view: &View<'_>,
    ) -> Result<()> {
        let View::Numbers(_, words) = view else { return Err(unfit()) };
        let value = |i: usize| -> Option<u64> {
            let negative = |negative: bool, value: u64| if negative { 0 } else { value };
            Some(match words {
                Words::Bool(bits) => (i < bits.len() && bits.value(i)).into(),
                Words::W1(v) => negative(number == Number::I8 && v.get(i)?.cast_signed() < 0, (*v.get(i)?).into()),
                Words::W2(v) => negative(number == Number::I16 && v.get(i)?.cast_signed() < 0, (*v.get(i)?).into()),
                Words::W4(v) => negative(number == Number::I32 && v.get(i)?.cast_signed() < 0, (*v.get(i)?).into()),
                Words::W8(v) => negative(number == Number::I64 && v.get(i)?.cast_signed() < 0, *v.get(i)?),
            })
        };
        if let Some(counter) = self.counters.get_mut(slot) {
            let values = counter.get_or_insert_default();
            values.clear();
            values.extend((at..at + n).map_while(value));
        }
        Ok(())
    }

    /// `TRefArray::Streamer`: a frame, `TObject`, the name, the number of slots, the lower bound, the process, and
    /// a number for each slot.
    fn ref_array(&mut self, i: usize, parts: &[View<'_>]) -> Result<()> {
        let [name @ View::Text { .. }, _, View::List { ends, items }] = parts else { return Err(unfit()) };
        let frame = begin_frame(&mut self.out, 1);
        self.out.raw(&TOBJECT);
        self.write(&Op::Text, i, 1, name)?;
        let (start, len) = ends.list(i);
        self.out.i32(count(len)?);
        self.out.raw(&[0; 6]);
        self.write(&Op::Number(Number::I32), start, len, items)?;
        end_frame(&mut self.out, frame);
        Ok(())
    }

    fn triangle(&mut self, base: usize, rows: usize, number: Number, i: usize, parts: &[View<'_>]) -> Result<()> {
        self.object(base, None, i, parts)?;
        let Some(View::Numbers(_, Words::W4(values))) = parts.get(rows) else { return Err(unfit()) };
        let rows = values.get(i).copied().map_or(0, u64::from);
        let Some(View::List { ends, items }) = parts.last() else { return Err(unfit()) };
        let (start, len) = ends.list(i);
        if rows.saturating_mul(rows.saturating_add(1)) / 2 != u64::try_from(len).unwrap_or(u64::MAX) {
            return Err(Error::request(format!("{len} elements of a symmetric matrix of {rows} rows")));
        }
        self.write(&Op::Number(number), start, len, items)
    }

    /// Writes a fixed array of arrays that one counter counts.
    fn tables(
        &mut self,
        arrays: usize,
        counter: Option<usize>,
        item: &Op,
        at: usize,
        n: usize,
        view: &View<'_>,
    ) -> Result<()> {
        if let View::Fixed { size, items } = view {
            let n = n.checked_mul(*size).ok_or_else(unfit)?;
            return self.tables(arrays, counter, item, at * size, n, items);
        }
        let View::List { ends, items } = view else { return Err(unfit()) };
        let counts = counter.and_then(|counter| self.counters.get(counter)).and_then(Option::as_ref);
        let first = ends.list(at).1;
        for i in 0..n {
            let len = ends.list(at + i).1;
            let counted = match counts {
                Some(counts) => counts.get(i / arrays.max(1)).copied().unwrap_or(0),
                None => u64::try_from(first).unwrap_or(u64::MAX),
            };
            if u64::try_from(len) != Ok(counted) {
                return Err(Error::request(format!("an array of {len} items, whose counter says {counted}")));
            }
        }
        for i in at..at + n {
            let (start, len) = ends.list(i);
            match counter {
                Some(_) => self.write(item, start, len, items)?,
                None => (start..start + len).try_for_each(|i| self.write(item, i, 1, items))?,
            }
        }
        Ok(())
    }
}
