//! Writes arrays whose bytes name the class of their items: `TClonesArray`, `TObjArray` and `TList`. The values do not
//! include the names of the arrays, which become those that ROOT gives.

use rootfile::object::write_tobject;
use rootfile::tags::{begin_frame, end_frame};
use rootfile::{Result, text};

use super::encoder::Encoder;
use super::forms::no_reader;
use super::view::{View, count, shape_mismatch};
use crate::decode::program::op::{ArrayKind, BYPASS_STREAMER, ObjectArray};

/// Class versions of the arrays, which define their format.
const CLONES: i16 = 4;
const OBJ_ARRAY: i16 = 3;
const LIST: i16 = 5;

impl Encoder<'_> {
    pub(super) fn object_array(&mut self, array: &ObjectArray, at: usize, n: usize, view: &View<'_>) -> Result<()> {
        let View::List { ends, items } = view else { return Err(shape_mismatch()) };
        for i in at..at + n {
            let (start, len) = ends.list(i);
            match array.kind {
                ArrayKind::Clones => self.clones(array, start, len, items)?,
                kind => self.collected(kind, array, start, len, items)?,
            }
        }
        Ok(())
    }

    /// `TClonesArray::Streamer`: member-wise if no object is null.
    fn clones(&mut self, array: &ObjectArray, start: usize, len: usize, items: &View<'_>) -> Result<()> {
        let readers = self.readers;
        let reader = array.reader.ok_or_else(no_reader)?;
        let class = &readers.get(reader).ok_or_else(no_reader)?.class;
        let (_, version) = self.forms.newest(reader, readers)?;
        let memberwise = !matches!(items, View::Optional { .. });
        let frame = begin_frame(&mut self.out, CLONES);
        write_tobject(&mut self.out, 0, if memberwise { BYPASS_STREAMER } else { 0 });
        // TClonesArray::SetClass.
        self.out.string_bytes(&text::encode(&format!("{class}s")));
        self.out.string_bytes(&text::encode(&format!("{class};{}", version.version)));
        self.out.i32(count(len)?);
        self.out.i32(0);
        match items {
            // Also for zero objects: some members have a frame even then.
            View::Record(parts) => self.members(version, start, len, true, parts)?,
            View::Optional { nulls, value } => {
                for i in start..start + len {
                    let there = !nulls.is_some_and(|nulls| i < nulls.len() && nulls.is_null(i));
                    self.out.u8(u8::from(there));
                    if there {
                        self.write(&array.item, i, 1, value)?;
                    }
                }
            }
            _ => return Err(shape_mismatch()),
        }
        end_frame(&mut self.out, frame);
        Ok(())
    }

    /// `TObjArray::Streamer` and `TList::Streamer`: pointers, in a `TList` each with an option, which is empty.
    fn collected(
        &mut self,
        kind: ArrayKind,
        array: &ObjectArray,
        start: usize,
        len: usize,
        items: &View<'_>,
    ) -> Result<()> {
        let is_list = kind == ArrayKind::List;
        let frame = begin_frame(&mut self.out, if is_list { LIST } else { OBJ_ARRAY });
        write_tobject(&mut self.out, 0, 0);
        self.out.string_bytes(b"");
        self.out.i32(count(len)?);
        if !is_list {
            self.out.i32(0);
        }
        for i in start..start + len {
            self.write(&array.item, i, 1, items)?;
            if is_list {
                self.out.u8(0);
            }
        }
        end_frame(&mut self.out, frame);
        Ok(())
    }
}
