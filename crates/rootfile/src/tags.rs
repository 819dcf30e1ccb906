//! Byte-count frames, and the tags by which an object pointer names its class or refers to an earlier object.
//!
//! Facts (`TBufferFile::ReadObjectAny`, `ReadClass`, `MapObject`): a pointer is a byte count with bit 30 set, then a
//! tag: all ones and a class name for a new class, bit 31 and an offset for an earlier class. Without a byte count it
//! is null (0) or the offset of an earlier object. Offsets count from the start of the key, and have 2 added so that 0
//! and 1 stay free. Buffers older than ROOT 3 have no byte counts, and number classes and objects instead.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bytes::{Cursor, Writer};
use crate::{Error, Result, text};

/// Marks a byte count.
pub const BYTE_COUNT_MASK: u32 = 0x4000_0000;
/// Tag of a class whose name follows.
pub const NEW_CLASS_TAG: u32 = 0xFFFF_FFFF;
/// Marks the offset of a class in a tag.
pub const CLASS_MASK: u32 = 0x8000_0000;
/// Added to offsets in tags.
pub const MAP_OFFSET: u32 = 2;
/// Bit of a version: the collection is member-wise.
pub const STREAMED_MEMBER_WISE: i16 = 1 << 14;

/// The name of a class whose real name is inside bytes that were not decoded.
pub(crate) const UNKNOWN_CLASS: &str = "(unknown)";

/// A version, and the end of the object if known.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Class version as written, the member-wise bit included.
    pub version: i16,
    /// Position just after the object.
    pub end: Option<usize>,
    /// Position of the frame.
    pub start: usize,
}

impl Frame {
    /// Reads a version, with or without a byte count in front.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or if the byte count reaches beyond them.
    #[inline]
    pub fn read(c: &mut Cursor<'_>) -> Result<Self> {
        let start = c.pos();
        let mut peek = c.clone();
        if let Ok(word) = peek.u32()
            && word & BYTE_COUNT_MASK != 0
            && word & CLASS_MASK == 0
        {
            let end = start + 4 + (word & !BYTE_COUNT_MASK) as usize;
            if end > c.data().len() {
                return Err(Error::corrupt(format!(
                    "the object at {start} ends at {end}, beyond the record's {} bytes",
                    c.data().len()
                )));
            }
            let version = peek.i16()?;
            *c = peek;
            return Ok(Self { version, end: Some(end), start });
        }
        Ok(Self { version: c.i16()?, end: None, start })
    }

    /// Checks that the object ends where its byte count says.
    ///
    /// # Errors
    ///
    /// If it does not. `class` is the object's class for the message.
    pub fn finish(&self, c: &mut Cursor<'_>, class: &str) -> Result<()> {
        match self.end {
            Some(end) if end != c.pos() => Err(Error::corrupt(format!(
                "a {class} (version {}) at {} was read up to {}, but its byte count ends at {end}",
                self.version,
                self.start,
                c.pos()
            ))),
            _ => Ok(()),
        }
    }

    /// Skips the rest of the object.
    pub(crate) fn skip_to_end(&self, c: &mut Cursor<'_>) -> Result<()> {
        match self.end {
            Some(end) if end < c.pos() => self.finish(c, "object"),
            Some(end) => {
                c.seek(end);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// Starts a frame. Pass the result to [`end_frame`].
pub fn begin_frame(w: &mut Writer, version: i16) -> usize {
    let at = w.pos();
    w.u32(0);
    w.i16(version);
    at
}

/// Fills in the byte count of a frame or object started at `at`.
pub fn end_frame(w: &mut Writer, at: usize) {
    let count = u32::try_from(w.pos() - at - 4).unwrap_or(BYTE_COUNT_MASK - 1);
    w.patch_u32(at, count | BYTE_COUNT_MASK);
}

/// Whether bytes look like an object behind a pointer: a byte count, then a class tag.
pub fn may_hold_tags(bytes: &[u8]) -> bool {
    bytes.windows(8).any(|w| {
        let word = |at: usize| w.get(at..at + 4).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_be_bytes(*b));
        let (count, tag) = (word(0), word(4));
        let plausible = count & BYTE_COUNT_MASK != 0 && (count & !BYTE_COUNT_MASK) as usize <= bytes.len();
        plausible && (tag == NEW_CLASS_TAG || tag & CLASS_MASK != 0 && ((tag & !CLASS_MASK) >> 28) == 0)
    })
}

/// The meaning of an object pointer.
#[derive(Debug)]
pub enum Tag {
    /// Null.
    Null,
    /// An earlier object, by the identity it was registered with.
    Object(usize),
    /// An object that follows.
    New {
        /// Its class.
        class: Arc<str>,
        /// Position just after it, if it has a byte count.
        end: Option<usize>,
        /// Pass this to [`ReadTags::register`] with the object's identity before reading its content.
        slot: u32,
    },
}

/// Entries at ascending offsets, as a reader finds them.
#[derive(Debug)]
struct Offsets<T> {
    ascending: Vec<(u32, T)>,
    /// Entries out of order, as in a buffer that mixes offsets and numbers.
    others: HashMap<u32, T>,
}

impl<T> Default for Offsets<T> {
    fn default() -> Self {
        Self { ascending: Vec::new(), others: HashMap::new() }
    }
}

impl<T> Offsets<T> {
    fn insert(&mut self, offset: u32, value: T) {
        if self.ascending.last().is_some_and(|(last, _)| *last >= offset) {
            self.others.insert(offset, value);
        } else {
            self.ascending.push((offset, value));
        }
    }

    fn get(&self, offset: u32) -> Option<&T> {
        // The later of two entries at one offset is here.
        if let Some(value) = self.others.get(&offset) {
            return Some(value);
        }
        let at = self.ascending.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
        self.ascending.get(at).map(|(_, value)| value)
    }
}

/// The classes and objects read from a buffer so far.
#[derive(Debug)]
pub struct ReadTags {
    origin: u32,
    classes: Offsets<Arc<str>>,
    objects: Offsets<usize>,
    interned: HashMap<Arc<str>, ()>,
    count: u32,
}

impl ReadTags {
    /// `origin` is added to positions: usually the length of the key.
    pub fn new(origin: usize) -> Self {
        Self {
            origin: u32::try_from(origin).unwrap_or_default(),
            classes: Offsets::default(),
            objects: Offsets::default(),
            interned: HashMap::new(),
            count: 2,
        }
    }

    /// The number that is added to positions.
    pub fn origin(&self) -> usize {
        self.origin as usize
    }

    fn offset(&self, pos: usize) -> u32 {
        u32::try_from(pos).unwrap_or(u32::MAX).wrapping_add(self.origin).wrapping_add(MAP_OFFSET)
    }

    fn intern(&mut self, name: &[u8]) -> Arc<str> {
        let name = text::decode(name);
        if let Some((known, ())) = self.interned.get_key_value(name.as_str()) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.interned.insert(Arc::clone(&name), ());
        name
    }

    /// Reads a pointer up to the start of the object's own content.
    ///
    /// # Errors
    ///
    /// If the bytes end too early, or if the tag refers to nothing.
    pub fn read(&mut self, c: &mut Cursor<'_>) -> Result<Tag> {
        let start = c.pos();
        let first = c.u32()?;
        if first == 0 {
            return Ok(Tag::Null);
        }
        let (tag, tag_pos, end) = if first & BYTE_COUNT_MASK != 0 && first != NEW_CLASS_TAG && first & CLASS_MASK == 0 {
            let end = start + 4 + (first & !BYTE_COUNT_MASK) as usize;
            if end > c.data().len() {
                return Err(Error::corrupt(format!("the object at {start} ends at {end}, beyond the record")));
            }
            let pos = c.pos();
            (c.u32()?, pos, Some(end))
        } else {
            (first, start, None)
        };
        if tag & CLASS_MASK == 0 {
            if let Some(end) = end {
                c.seek(end);
            }
            return Ok(match self.objects.get(tag) {
                Some(&id) => Tag::Object(id),
                // Tag 1 is the buffer's parent. An offset without an object belongs to an object that was skipped. ROOT
                // sets such pointers to null.
                None => Tag::Null,
            });
        }
        let by_count = end.is_none();
        let class = if tag == NEW_CLASS_TAG {
            let name = c.c_string()?;
            let class = self.intern(name);
            let key = if by_count { self.next_count() } else { self.offset(tag_pos) };
            self.classes.insert(key, Arc::clone(&class));
            class
        } else {
            let key = tag & !CLASS_MASK;
            match self.classes.get(key) {
                Some(class) => Arc::clone(class),
                // The class's name is inside an object that was skipped, so this object is skipped too.
                None if end.is_some() => Arc::from(UNKNOWN_CLASS),
                None => {
                    let message = format!("the object at {start} refers to a class at {key}, but no class is there");
                    return Err(Error::corrupt(message));
                }
            }
        };
        let slot = if by_count { self.next_count() } else { self.offset(start) };
        Ok(Tag::New { class, end, slot })
    }

    fn next_count(&mut self) -> u32 {
        let n = self.count;
        self.count = n.wrapping_add(1);
        n
    }

    /// Registers an object that is about to be read.
    pub fn register(&mut self, slot: u32, id: usize) {
        self.objects.insert(slot, id);
    }
}

/// The classes and objects written to a buffer so far.
#[derive(Debug)]
pub struct WriteTags {
    origin: u32,
    classes: HashMap<String, u32>,
    objects: HashMap<usize, u32>,
}

impl WriteTags {
    /// `origin` is the length of the key in front of the buffer.
    pub fn new(origin: usize) -> Self {
        Self { origin: u32::try_from(origin).unwrap_or_default(), classes: HashMap::new(), objects: HashMap::new() }
    }

    fn offset(&self, pos: usize) -> u32 {
        u32::try_from(pos).unwrap_or(u32::MAX).wrapping_add(self.origin).wrapping_add(MAP_OFFSET)
    }

    /// Writes a null pointer.
    pub fn null(w: &mut Writer) {
        w.u32(0);
    }

    /// Writes a reference if the object `id` is already written.
    pub fn reference(&self, w: &mut Writer, id: usize) -> bool {
        match self.objects.get(&id) {
            Some(&offset) => {
                w.u32(offset);
                true
            }
            None => false,
        }
    }

    /// Registers the object `id` at this position, without writing a tag.
    pub fn register(&mut self, w: &Writer, id: usize) {
        let offset = self.offset(w.pos());
        self.objects.insert(id, offset);
    }

    /// Starts an object that nothing else will refer to. Close it with [`end_frame`].
    pub(crate) fn begin_object(&mut self, w: &mut Writer, class: &str) -> usize {
        let at = w.pos();
        w.u32(0);
        let tag_pos = w.pos();
        if let Some(&offset) = self.classes.get(class) {
            w.u32(offset | CLASS_MASK);
        } else {
            w.u32(NEW_CLASS_TAG);
            w.raw(&text::encode(class));
            w.u8(0);
            self.classes.insert(class.to_owned(), self.offset(tag_pos));
        }
        at
    }

    /// Starts an object that [`WriteTags::reference`] can refer to by `id`. Close it with [`end_frame`].
    pub fn begin_shared(&mut self, w: &mut Writer, class: &str, id: usize) -> usize {
        self.register(w, id);
        self.begin_object(w, class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_whatever_their_order() {
        let mut offsets = Offsets::default();
        for (offset, value) in [(1, 'a'), (70, 'b'), (300, 'c'), (2, 'd'), (70, 'e'), (400, 'f')] {
            offsets.insert(offset, value);
        }
        let found = [1, 2, 70, 300, 400, 0, 71].map(|offset| offsets.get(offset).copied());
        assert_eq!(found, [Some('a'), Some('d'), Some('e'), Some('c'), Some('f'), None, None]);
    }
}
