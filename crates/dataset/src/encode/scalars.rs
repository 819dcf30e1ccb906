//! Writes strings, counters, pointers and the small classes that ROOT streams by hand: `TObject` and `TRef`.

use arrow_buffer::NullBuffer;
use rootfile::object::write_tobject;
use rootfile::tags::{NEW_CLASS_TAG, begin_frame, end_frame};
use rootfile::{Error, Result};

use super::encoder::Encoder;
use super::forms::TOBJECT;
use super::view::{Ends, View, Words, count, shape_mismatch};
use crate::decode::program::op::Op;
use crate::decode::program::types::Number;

/// `TObject` bit: a `TRef` points here, and a process identifier follows.
const IS_REFERENCED: u32 = 1 << 4;

/// The characters of a text.
fn text<'a>(ends: Ends<'_>, bytes: &'a [u8], i: usize) -> Result<&'a [u8]> {
    let (start, len) = ends.list(i);
    bytes.get(start..start + len).ok_or_else(shape_mismatch)
}

impl Encoder<'_> {
    /// `TObject::fBits`.
    #[inline]
    pub(super) fn tobject_bits(&mut self, words: &[u32], at: usize, n: usize) -> Result<()> {
        for bits in words.get(at..at + n).ok_or_else(shape_mismatch)? {
            self.out.u32(*bits);
            if bits & IS_REFERENCED != 0 {
                self.out.u16(0);
            }
        }
        Ok(())
    }

    /// `TString`s.
    #[inline]
    pub(super) fn tstrings(&mut self, ends: Ends<'_>, bytes: &[u8], at: usize, n: usize) -> Result<()> {
        for i in at..at + n {
            self.out.string_bytes(text(ends, bytes, i)?);
        }
        Ok(())
    }

    /// `char*` members.
    #[inline]
    pub(super) fn char_stars(&mut self, ends: Ends<'_>, bytes: &[u8], at: usize, n: usize) -> Result<()> {
        for i in at..at + n {
            let text = text(ends, bytes, i)?;
            self.out.i32(count(text.len())?);
            self.out.raw(text);
        }
        Ok(())
    }

    /// Strings of `TLeafC`.
    #[inline]
    pub(super) fn c_strings(&mut self, ends: Ends<'_>, bytes: &[u8], at: usize, n: usize) -> Result<()> {
        for i in at..at + n {
            let text = text(ends, bytes, i)?;
            if text.contains(&0) {
                return Err(Error::request("a string with a zero byte, which ends strings of this type"));
            }
            self.out.string_bytes(text);
        }
        Ok(())
    }

    /// `TObject`s, from unique number and bits, and the process where that is kept.
    #[inline]
    pub(super) fn tobjects(&mut self, parts: &[View<'_>], at: usize, n: usize) -> Result<()> {
        let [View::Numbers(_, Words::W4(ids)), View::Numbers(_, Words::W4(bits)), kept @ ..] = parts else {
            return Err(shape_mismatch());
        };
        let processes = match kept {
            [View::Numbers(_, Words::W2(processes))] => Some(processes),
            _ => None,
        };
        let rows = ids.get(at..at + n).zip(bits.get(at..at + n)).ok_or_else(shape_mismatch)?;
        for (k, (id, bits)) in rows.0.iter().zip(rows.1).enumerate() {
            write_tobject(&mut self.out, *id, *bits);
            if bits & IS_REFERENCED != 0 {
                self.out.u16(processes.and_then(|processes| processes.get(at + k)).copied().unwrap_or(0));
            }
        }
        Ok(())
    }

    /// `TRef`s, from the unique numbers of what they refer to.
    #[inline]
    pub(super) fn trefs(&mut self, parts: &[View<'_>], at: usize, n: usize) -> Result<()> {
        let Some(View::Numbers(_, Words::W4(references))) = parts.first() else { return Err(shape_mismatch()) };
        for reference in references.get(at..at + n).ok_or_else(shape_mismatch)? {
            write_tobject(&mut self.out, *reference, 0);
            self.out.u16(0);
        }
        Ok(())
    }

    /// A pointer to an object of this class, or null.
    #[inline]
    pub(super) fn pointer(
        &mut self,
        class: &str,
        target: &Op,
        i: usize,
        nulls: Option<&NullBuffer>,
        value: &View<'_>,
    ) -> Result<()> {
        if nulls.is_some_and(|nulls| i < nulls.len() && nulls.is_null(i)) {
            self.out.u32(0);
            return Ok(());
        }
        // A tag counts from the start of the basket, which is unknown here: each object names its class.
        let start = self.out.pos();
        self.out.u32(0);
        self.out.u32(NEW_CLASS_TAG);
        self.out.raw(&rootfile::text::encode(class));
        self.out.u8(0);
        self.write(target, i, 1, value)?;
        end_frame(&mut self.out, start);
        Ok(())
    }

    /// Sets a counter to the values that are written.
    pub(super) fn set_counter(
        &mut self,
        slot: usize,
        number: Number,
        at: usize,
        n: usize,
        view: &View<'_>,
    ) -> Result<()> {
        let View::Numbers(_, words) = view else { return Err(shape_mismatch()) };
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
    pub(super) fn tref_array(&mut self, i: usize, parts: &[View<'_>]) -> Result<()> {
        let [name @ View::Text { .. }, _, View::List { ends, items }] = parts else { return Err(shape_mismatch()) };
        let frame = begin_frame(&mut self.out, 1);
        self.out.raw(&TOBJECT);
        self.write(&Op::TString, i, 1, name)?;
        let (start, len) = ends.list(i);
        self.out.i32(count(len)?);
        self.out.raw(&[0; 6]);
        self.write(&Op::Number(Number::I32), start, len, items)?;
        end_frame(&mut self.out, frame);
        Ok(())
    }
}
