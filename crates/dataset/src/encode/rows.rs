//! Writes objects and records of equal size as rows of a table: one member of all objects after the other, frames like
//! members.

use rootfile::tags::BYTE_COUNT_MASK;
use rootfile::{Error, Result};

use super::forms::{Form, Forms, TOBJECT, no_reader, version_or_newest};
use super::numbers::{convert, pack, place, repeat};
use super::view::{View, shape_mismatch};
use crate::decode::program::class_reader::{ClassReader, ClassVersion, Destination};
use crate::decode::program::op::Op;

/// The state of writing rows.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub forms: &'a Forms,
    pub readers: &'a [ClassReader],
    /// Bytes of a row.
    pub stride: usize,
}

impl Rows<'_> {
    /// Writes one value of each of `n` rows at the start of `out`, and returns the size of the value.
    pub(super) fn value(self, op: &Op, at: usize, n: usize, view: &View<'_>, out: &mut [u8]) -> Result<usize> {
        match (op, view) {
            (Op::Number(number), View::Numbers(_, words)) => {
                place(*words, at, n, out, self.stride);
                Ok(number.size())
            }
            (Op::Packed(packed), view) => {
                pack(*packed, view, at, n, out, self.stride)?;
                Ok(packed.size())
            }
            (Op::Convert(to), view) => {
                let mut bytes = Vec::new();
                convert(*to, view, at, n, &mut bytes)?;
                for (row, value) in out.chunks_mut(self.stride.max(1)).zip(bytes.chunks(to.size())) {
                    row.get_mut(..to.size()).ok_or_else(shape_mismatch)?.copy_from_slice(value);
                }
                Ok(to.size())
            }
            (Op::Fixed(size, item), View::Fixed { items, .. }) => {
                let each = self.forms.size(item, self.readers).ok_or_else(shape_mismatch)?;
                if *size == 0 {
                    return Ok(0);
                }
                // Usually arrays are short and rows are many; in a single row the array is longer.
                if n == 1 {
                    Rows { stride: each.max(1), ..self }.value(item, at * size, *size, items, out)?;
                    return Ok(each * size);
                }
                for (row, i) in out.chunks_mut(self.stride.max(1)).zip(at..at + n) {
                    Rows { stride: each.max(1), ..self }.value(item, i * size, *size, items, row)?;
                }
                Ok(each * size)
            }
            (Op::Record(ops), View::Record(parts)) => {
                let mut pos = 0;
                for (op, part) in ops.iter().zip(parts) {
                    pos += self.value(op, at, n, part, out.get_mut(pos..).ok_or_else(shape_mismatch)?)?;
                }
                Ok(pos)
            }
            (Op::Object(reader), View::Record(parts)) => {
                let (form, version) = self.forms.newest(*reader, self.readers)?;
                self.object(form, version, at, n, parts, out)
            }
            (Op::UnsplitObject { reader, version, checksum, framed }, View::Record(parts)) => {
                let (index, version) =
                    version_or_newest(self.readers.get(*reader).ok_or_else(no_reader)?, *version, *checksum)?;
                if *framed {
                    self.object(self.forms.get(*reader, index)?, version, at, n, parts, out)
                } else {
                    self.members(version, at, n, parts, out)
                }
            }
            _ => Err(shape_mismatch()),
        }
    }

    /// Writes objects with their frames.
    fn object(
        self,
        form: &Form,
        version: &ClassVersion,
        at: usize,
        n: usize,
        parts: &[View<'_>],
        out: &mut [u8],
    ) -> Result<usize> {
        let members = form.members.ok_or_else(shape_mismatch)?;
        let bytes = u32::try_from(members + form.header.len()).ok().filter(|bytes| *bytes < BYTE_COUNT_MASK);
        let bytes = bytes.ok_or_else(|| Error::request("an object of more than a gigabyte"))?;
        let mut frame = [0; 10];
        let len = 4 + form.header.len();
        let header = (bytes | BYTE_COUNT_MASK).to_be_bytes();
        frame.iter_mut().zip(header.iter().chain(&form.header)).for_each(|(to, byte)| *to = *byte);
        match frame.first_chunk::<6>() {
            Some(frame) if len == 6 => repeat(frame, n, out, self.stride),
            _ => repeat(&frame, n, out, self.stride),
        }
        self.members(version, at, n, parts, out.get_mut(len..).ok_or_else(shape_mismatch)?)?;
        Ok(len + members)
    }

    fn members(self, version: &ClassVersion, at: usize, n: usize, parts: &[View<'_>], out: &mut [u8]) -> Result<usize> {
        let mut pos = 0;
        for step in version.steps.iter().flatten() {
            let out = out.get_mut(pos..).ok_or_else(shape_mismatch)?;
            pos += match &step.destination {
                Destination::Part(i) => self.value(&step.op, at, n, parts.get(*i).ok_or_else(shape_mismatch)?, out)?,
                Destination::Base { reader, version, checksum, .. } => {
                    let base = self.readers.get(*reader).ok_or_else(no_reader)?;
                    let (index, base) = version_or_newest(base, *version, *checksum)?;
                    self.object(self.forms.get(*reader, index)?, base, at, n, parts, out)?
                }
                Destination::TObject => {
                    repeat(&TOBJECT, n, out, self.stride);
                    TOBJECT.len()
                }
                Destination::Discarded(_) => return Err(shape_mismatch()),
            };
        }
        Ok(pos)
    }
}
