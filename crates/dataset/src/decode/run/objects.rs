//! Reads objects: frames, versions, and the members of all objects of a container together (member-wise).

use rootfile::object::read_tobject;
use rootfile::tags::{Frame, STREAMED_MEMBER_WISE};
use rootfile::{Error, Result};

use super::column::Column;
use super::interpreter::Interpreter;
use super::memberwise::MemberwiseForm;
use super::rows::Rows;
use super::value::{MOST_EMPTY, shape_mismatch, too_many};
use super::walk::{Walk, read_checksum};
use super::words::Words;
use crate::decode::program::class_reader::{ClassReader, ClassVersion, Destination, MemberStep, find, no_reader};
use crate::decode::program::op::{Container, Members, Op};
use crate::decode::program::types::Number;

/// From this version of `TStreamerInfo` on member-wise containers say the version of their class.
const SAYS_VERSION: i16 = 8;

impl Interpreter<'_> {
    /// Reads `count` objects without frames, if the bytes have none. Custom streamers of some classes write only the
    /// members.
    pub(super) fn frameless_objects(&mut self, item: &Op, count: usize, column: &mut Column) -> Result<bool> {
        let (Op::Object(reader), Column::Record { len, parts, .. }) = (item, column) else { return Ok(false) };
        if count == 0 || Frame::read(&mut self.cursor.clone()).is_ok_and(|frame| frame.end.is_some()) {
            return Ok(false);
        }
        let readers = self.readers;
        let [version] = readers.get(*reader).map(|r| r.versions.as_slice()).unwrap_or_default() else {
            return Ok(false);
        };
        if bare_size(version, readers, 0).and_then(|size| size.checked_mul(count)) != Some(self.cursor.remaining()) {
            return Ok(false);
        }
        for _ in 0..count {
            // The bases have no frames either.
            self.members(version, 1, true, parts)?;
        }
        *len += count;
        Ok(true)
    }

    /// Reads the name of a class, then an object of that class, for each value.
    pub(super) fn named_objects(&mut self, class: &str, object: &Op, n: usize, column: &mut Column) -> Result<()> {
        for _ in 0..n {
            // A byte of length, the name, and a zero (TLeafObject::ReadBasket).
            let len = self.cursor.u8()?;
            let name = self.cursor.bytes(usize::from(len))?;
            self.cursor.skip(1)?;
            if name != class.as_bytes() {
                return Err(Error::unsupported(format!("a {} instead of a {class}", rootfile::text::decode(name))));
            }
            self.read(object, 1, column)?;
        }
        Ok(())
    }

    pub(super) fn framed(&mut self, inner: &Op, n: usize, column: &mut Column) -> Result<()> {
        let frame = Frame::read(&mut self.cursor)?;
        match self.memberwise_version(frame.version, inner)? {
            Some(layout) => self.memberwise_containers(inner, layout, n, column)?,
            None => self.read(inner, n, column)?,
        }
        frame.finish(&mut self.cursor, "container")
    }

    /// The version and checksum of the item class, if the container is member-wise.
    pub(super) fn memberwise_version(&mut self, version: i16, inner: &Op) -> Result<Option<(i16, u32)>> {
        if version & STREAMED_MEMBER_WISE == 0 || version < 0 {
            return Ok(None);
        }
        let mut inner = inner;
        while let Op::Fixed(_, item) = inner {
            inner = item;
        }
        let Op::Container(container) = inner else {
            return Err(Error::unsupported("member-wise streaming outside a collection is not supported"));
        };
        if version & !STREAMED_MEMBER_WISE < SAYS_VERSION {
            // ROOT reads such items as the newest version of their class.
            let newest = match &container.members {
                Some(Members::Class(reader)) => self.readers.get(*reader).and_then(ClassReader::newest),
                _ => None,
            };
            let (version, checksum) = newest.map_or((0, 0), |v| (v.version, v.checksum));
            return Ok(Some((i16::try_from(version).unwrap_or(0), checksum)));
        }
        let version = self.cursor.i16()?;
        let checksum = match &container.members {
            Some(Members::Class(reader)) => self.checksum(version, *reader)?,
            _ if version <= 0 => self.cursor.u32()?,
            _ => 0,
        };
        Ok(Some((version, checksum)))
    }

    #[inline]
    fn checksum(&mut self, version: i16, reader: usize) -> Result<u32> {
        read_checksum(&mut self.cursor, self.readers, version, reader)
    }

    /// The interpreter's position, for code that looks ahead.
    fn walk(&self) -> Walk<'_> {
        Walk { cursor: self.cursor.clone(), readers: self.readers }
    }

    /// Reads `n` member-wise containers.
    pub(super) fn memberwise_containers(
        &mut self,
        op: &Op,
        (version, checksum): (i16, u32),
        n: usize,
        column: &mut Column,
    ) -> Result<()> {
        let (container, offsets, items) = match (op, column) {
            (Op::Container(container), Column::List { offsets, items, .. }) => (container, offsets, items),
            (Op::Fixed(size, item), Column::Fixed { len, items, .. }) => {
                *len += n;
                return self.memberwise_containers(
                    item,
                    (version, checksum),
                    n.checked_mul(*size).ok_or_else(too_many)?,
                    items,
                );
            }
            _ => return Err(shape_mismatch()),
        };
        let (Container { members, .. }, Column::Record { len, parts, .. }) = (&**container, &mut **items) else {
            return Err(Error::unsupported("a member-wise container whose items have no members"));
        };
        let readers = self.readers;
        for _ in 0..n {
            let count = self.cursor.count(0)?;
            // Objects without members take no bytes, but then the column has no parts either.
            if count > self.cursor.remaining() && (count > MOST_EMPTY || !parts.is_empty()) {
                return Err(too_many());
            }
            if count > 0 {
                match members {
                    Some(Members::Class(reader))
                        if self.read_memberwise_form(*reader, (version, checksum), count, parts) => {}
                    Some(Members::Class(reader)) => {
                        let reader = readers.get(*reader).ok_or_else(no_reader)?;
                        self.members(find(reader, version.into(), checksum)?, count, true, parts)?;
                    }
                    Some(Members::Pair { parts: ops, .. }) => {
                        for (op, part) in ops.iter().zip(parts.iter_mut()) {
                            self.read(op, count, part)?;
                        }
                    }
                    None => return Err(Error::unsupported("a member-wise container whose items have no members")),
                }
            }
            *len += count;
            offsets.push(count);
        }
        Ok(())
    }

    /// `TRefArray::Streamer`: a frame, `TObject`, the name, the number of slots, the lower bound, the process, and
    /// a number for each slot.
    pub(super) fn tref_array(&mut self, parts: &mut [Column]) -> Result<()> {
        let frame = Frame::read(&mut self.cursor)?;
        read_tobject(&mut self.cursor)?;
        let [
            Column::Text { offsets, bytes },
            Column::Numbers(_, Words::W4(sizes)),
            Column::List { offsets: ends, items, .. },
        ] = parts
        else {
            return Err(shape_mismatch());
        };
        let name = self.cursor.string_bytes()?;
        bytes.extend_from_slice(name);
        offsets.push(name.len());
        let slots = self.cursor.u32()?;
        self.cursor.skip(6)?;
        let count = self.cursor.checked_count(slots.into(), 4)?;
        sizes.push(slots);
        self.read(&Op::Number(Number::I32), count, items)?;
        ends.push(count);
        frame.finish(&mut self.cursor, "TRefArray")
    }

    /// Reads objects with their frames.
    pub(super) fn objects(&mut self, reader: usize, n: usize, parts: &mut [Column]) -> Result<()> {
        self.fits(n, 1)?;
        if !self.read_rows(reader, n, parts) {
            for _ in 0..n {
                self.object(reader, parts)?;
            }
        }
        Ok(())
    }

    /// Reads objects that are rows: frames and numbers only. Returns false, and consumes nothing, if they are not.
    pub(super) fn read_rows(&mut self, reader: usize, n: usize, parts: &mut [Column]) -> bool {
        if n == 0 {
            return true;
        }
        if let Some(None) = self.row_forms.get(reader) {
            let form = Rows::of(&self.walk(), reader);
            if let Some(slot) = self.row_forms.get_mut(reader) {
                *slot = Some(form);
            }
        }
        let Some(Some(Some(rows))) = self.row_forms.get(reader) else { return false };
        let mut cursor = self.cursor.clone();
        let Some(bytes) = n.checked_mul(rows.size()).and_then(|len| cursor.bytes(len).ok()) else { return false };
        if !rows.fits(bytes) {
            return false;
        }
        rows.push(bytes, n, parts);
        self.cursor = cursor;
        true
    }

    /// Reads member-wise members in the form of the first ones. Returns false, and consumes nothing, if they have another.
    fn read_memberwise_form(&mut self, reader: usize, layout: (i16, u32), n: usize, parts: &mut [Column]) -> bool {
        if let Some(None) = self.memberwise_forms.get(reader) {
            let form = MemberwiseForm::of(self.walk(), reader, layout, n);
            if let Some(slot) = self.memberwise_forms.get_mut(reader) {
                *slot = Some(form);
            }
        }
        let Some(Some(form)) = self.memberwise_forms.get(reader) else { return false };
        let mut cursor = self.cursor.clone();
        let len = form.size(layout).and_then(|size| size.checked_mul(n));
        let Some(bytes) = len.and_then(|len| cursor.bytes(len).ok()) else { return false };
        if !form.read(bytes, n, parts) {
            return false;
        }
        self.cursor = cursor;
        true
    }

    /// Reads an object with its frame into the parts of a record.
    pub(super) fn object(&mut self, reader: usize, parts: &mut [Column]) -> Result<()> {
        let frame = Frame::read(&mut self.cursor)?;
        let checksum = self.checksum(frame.version, reader)?;
        let readers = self.readers;
        let reader = readers.get(reader).ok_or_else(no_reader)?;
        let outer = std::mem::replace(&mut self.object_end, frame.end);
        self.members(find(reader, frame.version.into(), checksum)?, 1, false, parts)?;
        self.object_end = outer;
        frame.finish(&mut self.cursor, &reader.class)
    }

    /// Whether a class has no members. As a base without a dictionary such a class may have no frame either.
    fn is_empty_class(&self, reader: usize) -> bool {
        let versions = self.readers.get(reader).map(|r| r.versions.as_slice()).unwrap_or_default();
        versions.iter().all(|v| v.steps.as_ref().is_ok_and(Vec::is_empty))
    }

    /// Reads the object of an unsplit branch. There is a frame if the class has a streamer, or ROOT assumed so. The first
    /// bytes may instead be the frame of the first member.
    pub(super) fn unsplit_object(&mut self, index: usize, layout: (i32, u32), parts: &mut [Column]) -> Result<()> {
        let readers = self.readers;
        let reader = readers.get(index).ok_or_else(no_reader)?;
        let start = self.cursor.clone();
        if let Ok(frame) = Frame::read(&mut self.cursor)
            && frame.end == Some(start.data().len())
        {
            // A checksum identifies a class without ClassDef; the first member's class too.
            let says = self.cursor.clone().u32().unwrap_or(0);
            let is_of = |class: &ClassReader| class.versions.iter().any(|v| v.checksum == says);
            let of_member = frame.version <= 0 && !is_of(reader) && readers.iter().any(is_of);
            let checksum = self.checksum(frame.version, index)?;
            if !of_member && find(reader, frame.version.into(), checksum).is_ok() {
                self.cursor = start;
                if self.read_rows(index, 1, parts) {
                    return Ok(());
                }
                return self.object(index, parts);
            }
        }
        self.cursor = start;
        self.members(find(reader, layout.0, layout.1)?, 1, false, parts)
    }

    /// Reads the members of `n` objects. Most member-wise bases have no frames.
    pub(super) fn members(
        &mut self,
        version: &ClassVersion,
        n: usize,
        memberwise: bool,
        parts: &mut [Column],
    ) -> Result<()> {
        let steps = version.steps.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        for MemberStep { op, destination, counts } in steps {
            if let Some((slot, number)) = counts {
                self.peek_counter(*slot, *number, n)?;
            }
            match destination {
                Destination::Part(i) => {
                    let part =
                        parts.get_mut(*i).ok_or_else(|| Error::unsupported("a record without one of its parts"))?;
                    // A shortcut past `read`, which costs time where objects are few.
                    match (op, part) {
                        (Op::Number(number), Column::Numbers(_, words)) => self.numbers(*number, n, words)?,
                        (Op::Object(reader), Column::Record { len, parts, .. }) => {
                            self.objects(*reader, n, parts)?;
                            *len += n;
                        }
                        (op, part) => self.read(op, n, part)?,
                    }
                }
                Destination::Base { reader, version, checksum, framed: false } if memberwise => {
                    let readers = self.readers;
                    let reader = readers.get(*reader).ok_or_else(no_reader)?;
                    self.members(find(reader, *version, *checksum)?, n, true, parts)?;
                }
                Destination::Base { reader, .. } => {
                    for _ in 0..n {
                        let at_end = self.object_end == Some(self.cursor.pos());
                        if !(at_end && self.is_empty_class(*reader)) {
                            self.object(*reader, parts)?;
                        }
                    }
                }
                Destination::Discarded(shape) => self.read(op, n, &mut Column::new(shape, 0))?,
                Destination::TObject => {
                    for _ in 0..n {
                        read_tobject(&mut self.cursor)?;
                    }
                }
            }
        }
        for &i in &version.missing {
            if let Some(part) = parts.get_mut(i) {
                part.push_default(n)?;
            }
        }
        Ok(())
    }
}

/// Bytes of an object without frames, if all objects of the class have the same.
fn bare_size(version: &ClassVersion, readers: &[ClassReader], depth: usize) -> Option<usize> {
    let steps = version.steps.as_ref().ok().filter(|_| depth < 20)?;
    steps.iter().try_fold(0usize, |sum, step| {
        let size = match &step.destination {
            Destination::Part(_) | Destination::Discarded(_) => step.op.fixed_size()?,
            Destination::Base { reader, version, checksum, .. } => {
                let version = find(readers.get(*reader)?, *version, *checksum).ok()?;
                bare_size(version, readers, depth + 1)?
            }
            Destination::TObject => return None,
        };
        sum.checked_add(size)
    })
}
