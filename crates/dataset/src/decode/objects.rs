//! Reads objects: frames, versions, members of all objects together (member-wise), and pointers.

use rootfile::object::read_tobject;
use rootfile::object::tags::{Frame, STREAMED_MEMBER_WISE};
use rootfile::{Error, Result};

use super::column::{Column, Words};
use super::machine::{MOST_EMPTY, Machine, too_many};
use super::op::{Container, Into, Members, Op, Reader, Step, Version};
use super::rows::Rows;
use super::together::Together;
use super::types::Number;

/// From this version of `TStreamerInfo` on member-wise containers say the version of their class.
const SAYS_VERSION: i16 = 8;

impl Machine<'_> {
    /// Reads objects that have no frames, if that is what they are: some classes have streamers of their own that
    /// write the members and nothing else.
    pub(super) fn bare(&mut self, item: &Op, count: usize, column: &mut Column) -> Result<bool> {
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
            // Their bases have no frames, either.
            self.members(version, 1, true, parts)?;
        }
        *len += count;
        Ok(true)
    }

    pub(super) fn framed(&mut self, inner: &Op, n: usize, column: &mut Column) -> Result<()> {
        let frame = Frame::read(&mut self.cursor)?;
        match self.member_wise(frame.version, inner)? {
            Some(layout) => self.members_of(inner, layout, n, column)?,
            None => self.read(inner, n, column)?,
        }
        frame.finish(&mut self.cursor, "container")
    }

    /// Whether a container is written member by member, and then the version and checksum of its items' class.
    pub(super) fn member_wise(&mut self, version: i16, inner: &Op) -> Result<Option<(i16, u32)>> {
        if version & STREAMED_MEMBER_WISE == 0 || version < 0 {
            return Ok(None);
        }
        let mut inner = inner;
        while let Op::Fixed(_, item) = inner {
            inner = item;
        }
        let Op::Container(container) = inner else {
            return Err(Error::unsupported("something member-wise that is no container"));
        };
        if version & !STREAMED_MEMBER_WISE < SAYS_VERSION {
            // ROOT takes such items for the newest version of their class.
            let newest = match &container.members {
                Some(Members::Class(reader)) => self.readers.get(*reader).and_then(Reader::newest),
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

    /// The checksum that follows a version of 0, of classes that have no version of their own.
    pub(super) fn checksum(&mut self, version: i16, reader: usize) -> Result<u32> {
        if version > 0 {
            return Ok(0);
        }
        let reader = self.readers.get(reader).ok_or_else(no_reader)?;
        let checksum = self.cursor.clone().u32().unwrap_or(0);
        if reader.any_version || reader.versions.iter().any(|v| v.checksum == checksum) {
            self.cursor.skip(4)?;
            return Ok(checksum);
        }
        match reader.versions.as_slice() {
            // Its checksum was worked out by other rules than now.
            [only] if only.version != 0 => {
                self.cursor.skip(4)?;
                Ok(only.checksum)
            }
            _ => Ok(0),
        }
    }

    /// Reads `n` member-wise containers.
    pub(super) fn members_of(
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
                return self.members_of(item, (version, checksum), n.checked_mul(*size).ok_or_else(too_many)?, items);
            }
            _ => return Err(Error::unsupported("a plan that does not fit its column")),
        };
        let (Container { members, .. }, Column::Record { len, parts, .. }) = (&**container, &mut **items) else {
            return Err(Error::unsupported("a member-wise container of what has no members"));
        };
        let readers = self.readers;
        for _ in 0..n {
            let count = self.cursor.count(0)?;
            // Objects may have no members in the file, but then they have none in the column.
            if count > self.cursor.remaining() && (count > MOST_EMPTY || !parts.is_empty()) {
                return Err(too_many());
            }
            if count > 0 {
                match members {
                    Some(Members::Class(reader)) if self.in_form(*reader, (version, checksum), count, parts) => {}
                    Some(Members::Class(reader)) => {
                        let reader = readers.get(*reader).ok_or_else(no_reader)?;
                        self.members(find(reader, version.into(), checksum)?, count, true, parts)?;
                    }
                    Some(Members::Pair { parts: ops, .. }) => {
                        for (op, part) in ops.iter().zip(parts.iter_mut()) {
                            self.read(op, count, part)?;
                        }
                    }
                    None => return Err(Error::unsupported("a member-wise container of what has no members")),
                }
            }
            *len += count;
            offsets.push(count);
        }
        Ok(())
    }

    /// `TRefArray::Streamer`: a frame, `TObject`, the name, the number of slots, the lower bound, the process, and
    /// a number for each slot.
    pub(super) fn ref_array(&mut self, parts: &mut [Column]) -> Result<()> {
        let frame = Frame::read(&mut self.cursor)?;
        read_tobject(&mut self.cursor)?;
        let [
            Column::Text { offsets, bytes },
            Column::Numbers(_, Words::W4(sizes)),
            Column::List { offsets: ends, items, .. },
        ] = parts
        else {
            return Err(Error::unsupported("a plan that does not fit its column"));
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
        if !self.in_rows(reader, n, parts) {
            for _ in 0..n {
                self.object(reader, parts)?;
            }
        }
        Ok(())
    }

    /// Reads objects that have frames but are otherwise rows of numbers, if they are.
    pub(super) fn in_rows(&mut self, reader: usize, n: usize, parts: &mut [Column]) -> bool {
        if n == 0 {
            return true;
        }
        if let Some(None) = self.rows.get(reader) {
            let found = Rows::of(self, reader);
            if let Some(form) = self.rows.get_mut(reader) {
                *form = Some(found);
            }
        }
        let Some(Some(Some(rows))) = self.rows.get(reader) else { return false };
        let mut cursor = self.cursor.clone();
        let Some(bytes) = n.checked_mul(rows.size()).and_then(|len| cursor.bytes(len).ok()) else { return false };
        if !rows.fits(bytes) {
            return false;
        }
        rows.push(bytes, n, parts);
        self.cursor = cursor;
        true
    }

    /// Reads members that are written together, if they have the form of those that were met first.
    fn in_form(&mut self, reader: usize, layout: (i16, u32), n: usize, parts: &mut [Column]) -> bool {
        if let Some(None) = self.together.get(reader) {
            let found = Together::of(self, reader, layout, n);
            if let Some(form) = self.together.get_mut(reader) {
                *form = Some(found);
            }
        }
        let Some(Some(form)) = self.together.get(reader) else { return false };
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
        let outer = std::mem::replace(&mut self.end, frame.end);
        self.members(find(reader, frame.version.into(), checksum)?, 1, false, parts)?;
        self.end = outer;
        frame.finish(&mut self.cursor, &reader.class)
    }

    /// Whether a class has no members: as a base without a dictionary it may have no frame, either.
    fn is_empty_class(&self, reader: usize) -> bool {
        let versions = self.readers.get(reader).map(|r| r.versions.as_slice()).unwrap_or_default();
        versions.iter().all(|v| v.steps.as_ref().is_ok_and(Vec::is_empty))
    }

    /// Reads the object of a branch of its own. It has a frame if its class has a streamer or was taken for one that
    /// has; what looks like a frame may be that of the first member.
    pub(super) fn whole(&mut self, index: usize, layout: (i32, u32), parts: &mut [Column]) -> Result<()> {
        let readers = self.readers;
        let reader = readers.get(index).ok_or_else(no_reader)?;
        let start = self.cursor.clone();
        if let Ok(frame) = Frame::read(&mut self.cursor)
            && frame.end == Some(start.data().len())
        {
            // A class without ClassDef is known by its checksum, and so is the first member's.
            let says = self.cursor.clone().u32().unwrap_or(0);
            let is_of = |class: &Reader| class.versions.iter().any(|v| v.checksum == says);
            let of_member = frame.version <= 0 && !is_of(reader) && readers.iter().any(is_of);
            let checksum = self.checksum(frame.version, index)?;
            if !of_member && find(reader, frame.version.into(), checksum).is_ok() {
                self.cursor = start;
                if self.in_rows(index, 1, parts) {
                    return Ok(());
                }
                return self.object(index, parts);
            }
        }
        self.cursor = start;
        self.members(find(reader, layout.0, layout.1)?, 1, false, parts)
    }

    /// Reads the members of `n` objects, those of all together. Where that is how they are written, bases have no
    /// frames.
    pub(super) fn members(&mut self, version: &Version, n: usize, together: bool, parts: &mut [Column]) -> Result<()> {
        let steps = version.steps.as_ref().map_err(|why| Error::unsupported(why.clone()))?;
        for Step { op, into, counts } in steps {
            if let Some((slot, number)) = counts {
                self.peek_counter(*slot, *number, n)?;
            }
            match into {
                Into::Part(i) => {
                    let part = parts.get_mut(*i).ok_or_else(|| Error::unsupported("a part that is not there"))?;
                    // What most members are is read here: where objects are few the way through `read` is felt.
                    match (op, part) {
                        (Op::Number(number), Column::Numbers(_, words)) => self.numbers(*number, n, words)?,
                        (Op::Object(reader), Column::Record { len, parts, .. }) => {
                            self.objects(*reader, n, parts)?;
                            *len += n;
                        }
                        (op, part) => self.read(op, n, part)?,
                    }
                }
                Into::Base { reader, version, checksum } if together => {
                    let readers = self.readers;
                    let reader = readers.get(*reader).ok_or_else(no_reader)?;
                    self.members(find(reader, *version, *checksum)?, n, true, parts)?;
                }
                Into::Base { reader, .. } => {
                    for _ in 0..n {
                        let at_end = self.end == Some(self.cursor.pos());
                        if !(at_end && self.is_empty_class(*reader)) {
                            self.object(*reader, parts)?;
                        }
                    }
                }
                Into::Nowhere(shape) => self.read(op, n, &mut Column::new(shape, 0))?,
                Into::TObject => {
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

#[inline]
pub(crate) fn find(reader: &Reader, version: i32, checksum: u32) -> Result<&Version> {
    let same = |v: &&Version| {
        if checksum != 0 { v.checksum == checksum } else { v.version == version }
    };
    let found = if reader.any_version { reader.versions.first() } else { reader.versions.iter().find(same) };
    found.ok_or_else(|| {
        Error::unsupported(format!("version {version} (checksum {checksum:#x}) of {}, not described", reader.class))
    })
}

#[cold]
fn no_reader() -> Error {
    Error::unsupported("a class without a plan")
}

/// Bytes of an object without frames, if all objects of the class have the same.
fn bare_size(version: &Version, readers: &[Reader], depth: usize) -> Option<usize> {
    let steps = version.steps.as_ref().ok().filter(|_| depth < 20)?;
    steps.iter().try_fold(0usize, |sum, step| {
        let size = match &step.into {
            Into::Part(_) | Into::Nowhere(_) => step.op.fixed_size()?,
            Into::Base { reader, version, checksum } => {
                let version = find(readers.get(*reader)?, *version, *checksum).ok()?;
                bare_size(version, readers, depth + 1)?
            }
            Into::TObject => return None,
        };
        sum.checked_add(size)
    })
}
