//! Arrays whose items' class only their bytes say: `TClonesArray`, `TObjArray` and `TList`. What a basket says of them
//! makes a plan better; without that a `TClonesArray` is bytes, and the others are lists of their items' bytes.
//!
//! Facts (`TClonesArray::Streamer`, `TObjArray::Streamer`, `TList::Streamer`): all have a frame, a `TObject`, a name and
//! a count. A `TClonesArray` says its class and version, then has the members of all objects together, or (if its bits
//! say so) each object in a frame, with a byte before it that is zero where there is none. The others have pointers.

use std::collections::BTreeMap;

use rootfile::object::read_tobject;
use rootfile::object::tags::{Frame, Tag};
use rootfile::{Error, Result, text};

use super::class::{Classes, Typed};
use super::column::Column;
use super::machine::{MOST_EMPTY, Machine, too_many};
use super::objects::find;
use super::op::{Op, Reader, Version};
use super::types::Shape;

/// `TClonesArray` bit: members are written together. The second is that of version 3.
pub(crate) const BYPASS_STREAMER: u32 = 1 << 12;
const OLD_BYPASS_STREAMER: u32 = 1 << 14;
/// Arrays that one read takes note of.
const MOST_NOTES: usize = 100_000;

/// Where an array is: the class and the member, or nothing if it is a branch of its own.
pub(crate) type Place = (String, String);

/// Which array it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Clones,
    ObjArray,
    List,
}

/// An array, as it is planned.
#[derive(Clone, Debug)]
pub(crate) struct AnyArray {
    kind: Kind,
    /// Its place, by the number among the plan's places.
    place: usize,
    /// One item: an object with its frame, a pointer, or anything.
    item: Op,
    /// The class's reader, of a `TClonesArray`.
    reader: Option<usize>,
}

/// What arrays hold, by their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Contents(BTreeMap<Place, Items>);

/// What the items of an array are.
#[derive(Clone, Debug, PartialEq)]
struct Items {
    /// None if there are several.
    class: Option<String>,
    /// Whether some may be missing.
    gaps: bool,
}

/// An array that was met: its place, its items' class, and whether some may be missing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note {
    place: usize,
    class: String,
    gaps: bool,
}

impl Kind {
    pub(super) fn of(class: &str) -> Option<Self> {
        match class {
            "TClonesArray" => Some(Self::Clones),
            "TObjArray" => Some(Self::ObjArray),
            "TList" | "THashList" => Some(Self::List),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Clones => "TClonesArray",
            Self::ObjArray => "TObjArray",
            Self::List => "TList",
        }
    }
}

impl AnyArray {
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// One item.
    pub(crate) fn item(&self) -> &Op {
        &self.item
    }

    /// The class's reader, of a `TClonesArray`.
    pub(crate) fn reader(&self) -> Option<usize> {
        self.reader
    }
}

impl Contents {
    /// Takes in what was met. Whether that was news.
    pub(super) fn learn(&mut self, places: &[Place], notes: &[Note]) -> bool {
        let mut news = false;
        for note in notes {
            let Some(place) = places.get(note.place) else { continue };
            let met = Items { class: Some(note.class.clone()), gaps: note.gaps };
            let items = self.0.entry(place.clone()).or_insert_with(|| {
                news = true;
                met.clone()
            });
            if items.class.is_some() && items.class != met.class {
                items.class = None;
                news = true;
            }
            if note.gaps && !items.gaps {
                items.gaps = true;
                news = true;
            }
        }
        news
    }

    /// What is known of a branch that is an array itself: the class of its objects.
    pub(super) fn of_branch(class: &str) -> Self {
        Self(BTreeMap::from([(Place::default(), Items { class: Some(class.to_owned()), gaps: false })]))
    }

    pub(super) fn class_of_branch(&self) -> Option<&str> {
        self.0.get(&Place::default())?.class.as_deref()
    }

    /// Takes in what is known elsewhere of places that nothing is known of here.
    pub(super) fn take_in(&mut self, other: &Self) {
        for (place, items) in &other.0 {
            self.0.entry(place.clone()).or_insert_with(|| items.clone());
        }
    }

    /// Whether there are places of which nothing is known.
    pub(super) fn lack(&self, places: &[Place]) -> bool {
        places.iter().any(|place| !self.0.contains_key(place))
    }
}

impl Classes<'_> {
    /// The number of the current place.
    fn here(&mut self) -> usize {
        self.places.iter().position(|place| *place == self.place).unwrap_or_else(|| {
            self.places.push(self.place.clone());
            self.places.len() - 1
        })
    }

    /// An array at the current place.
    pub(super) fn any_array(&mut self, kind: Kind) -> Typed {
        self.pointers = true;
        let place = self.here();
        let items = self.contents.0.get(&self.place).cloned();
        let class = items.as_ref().and_then(|items| items.class.clone());
        let gaps = items.is_some_and(|items| items.gaps);
        let array = |item, reader| Op::AnyArray(Box::new(AnyArray { kind, place, item, reader }));
        let unknown = || match kind {
            Kind::Clones => (Shape::Bytes, array(Op::Opaque, None)),
            _ => (Shape::Bytes.list(), array(Op::AnyPointer, None)),
        };
        let Some(class) = class else { return unknown() };
        match (kind, self.class(&class)) {
            (Kind::Clones, Ok((shape, Op::Object(reader)))) => {
                let shape = if gaps { Shape::Optional(Box::new(shape)) } else { shape };
                (shape.list(), array(Op::Object(reader), Some(reader)))
            }
            (Kind::Clones, _) | (_, Err(_)) => unknown(),
            (_, Ok((shape, target))) => {
                let pointer = Op::Pointer { class, target: Box::new(target) };
                (Shape::Optional(Box::new(shape)).list(), array(pointer, None))
            }
        }
    }
}

impl Machine<'_> {
    pub(super) fn any_array(&mut self, array: &AnyArray, column: &mut Column) -> Result<()> {
        let start = self.cursor.pos();
        let frame = Frame::read(&mut self.cursor)?;
        match column {
            Column::List { offsets, items, .. } => {
                let count = match array.kind {
                    Kind::Clones => self.clones(array, &frame, items)?,
                    _ => self.collected(array, frame.version, items)?,
                };
                offsets.push(count);
                frame.finish(&mut self.cursor, array.kind.name())
            }
            Column::Bytes { offsets, bytes } => {
                let end = frame.end.ok_or_else(|| Error::unsupported("a TClonesArray without a byte count"))?;
                if self.notes.is_some() {
                    self.clones_header(array, frame.version)?;
                }
                self.passed = true;
                self.cursor.seek(end);
                let range = self.cursor.data().get(start..end).unwrap_or_default();
                bytes.extend_from_slice(range);
                offsets.push(range.len());
                Ok(())
            }
            _ => Err(Error::unsupported("a plan that does not fit its column")),
        }
    }

    fn note(&mut self, place: usize, class: &str, gaps: bool) {
        if let Some(notes) = self.notes.as_mut().filter(|notes| notes.len() < MOST_NOTES) {
            let note = Note { place, class: class.to_owned(), gaps };
            if notes.last() != Some(&note) {
                notes.push(note);
            }
        }
    }

    /// Whether members are together, the class's version, and the number of objects.
    fn clones_header(&mut self, array: &AnyArray, version: i16) -> Result<(bool, String, i32, u32)> {
        let bits = if version > 2 { read_tobject(&mut self.cursor)?.bits } else { BYPASS_STREAMER };
        let together = bits & BYPASS_STREAMER != 0 || (version == 3 && bits & OLD_BYPASS_STREAMER != 0);
        if version > 1 {
            self.cursor.string_bytes()?;
        }
        let class = text::decode(self.cursor.string_bytes()?);
        let (class, of_class) = class.split_once(';').unwrap_or((&class, "0"));
        let count = self.cursor.i32()?.unsigned_abs();
        self.cursor.i32()?;
        self.note(array.place, class, !together);
        Ok((together, class.to_owned(), of_class.parse().unwrap_or(0), count))
    }

    fn clones(&mut self, array: &AnyArray, frame: &Frame, items: &mut Column) -> Result<usize> {
        let (together, class, version, count) = self.clones_header(array, frame.version)?;
        let count = usize::try_from(count).map_err(|_| too_many())?;
        let readers = self.readers;
        let reader = array.reader.and_then(|reader| readers.get(reader));
        let reader = reader.filter(|reader| reader.class == class).ok_or_else(|| other(array.kind, &class))?;
        if !together {
            self.fits(count, 1)?;
            for _ in 0..count {
                match (self.cursor.u8()? != 0, &mut *items) {
                    (true, Column::Optional { valid, value }) => {
                        self.read(&array.item, 1, value)?;
                        valid.push(true);
                    }
                    (true, items) => self.read(&array.item, 1, items)?,
                    (false, items @ Column::Optional { .. }) => items.push_default(1)?,
                    (false, _) => return Err(Error::unsupported("a TClonesArray with gaps")),
                }
            }
            return Ok(count);
        }
        let items = match items {
            Column::Optional { valid, value } => {
                if count > self.cursor.remaining() {
                    return Err(too_many());
                }
                valid.resize(valid.len() + count, true);
                &mut **value
            }
            items => items,
        };
        let Column::Record { len, parts, .. } = items else {
            return Err(Error::unsupported("a plan that does not fit its column"));
        };
        // Objects may have no members in the file, but then they have none in the column.
        if count > self.cursor.remaining() && (count > MOST_EMPTY || !parts.is_empty()) {
            return Err(too_many());
        }
        // Of no objects ROOT 6 writes the frames that some members have.
        if count > 0 || frame.end.is_some_and(|end| end > self.cursor.pos()) {
            self.members(of_clones(reader, version)?, count, true, parts)?;
        }
        *len += count;
        Ok(count)
    }

    /// The pointers of a `TObjArray` or a `TList`.
    fn collected(&mut self, array: &AnyArray, version: i16, items: &mut Column) -> Result<usize> {
        let list = array.kind == Kind::List;
        if version > 2 {
            read_tobject(&mut self.cursor)?;
        }
        if version > 1 {
            self.cursor.string_bytes()?;
        }
        let count = self.cursor.count(4)?;
        if !list {
            self.cursor.i32()?;
        }
        for _ in 0..count {
            if self.notes.is_some()
                && let Tag::New { class, .. } = self.tags.read(&mut self.cursor.clone())?
            {
                self.note(array.place, &class, true);
            }
            match (&array.item, &mut *items) {
                (Op::Pointer { class, target }, Column::Optional { valid, value }) => {
                    let there = self.pointer(class, target, value)?;
                    valid.push(there);
                }
                (item, items) => self.read(item, 1, items)?,
            }
            if list && version > 3 {
                // What TList::Add was told besides the object.
                match self.cursor.u8()? {
                    255 if version > 4 => {
                        let len = self.cursor.count(1)?;
                        self.cursor.skip(len)?;
                    }
                    len => self.cursor.skip(len.into())?,
                }
            }
        }
        Ok(count)
    }
}

/// The version of a class that a `TClonesArray` says; the newest, if it says none.
fn of_clones(reader: &Reader, version: i32) -> Result<&Version> {
    if version > 0 {
        return find(reader, version, 0);
    }
    reader.newest().ok_or_else(|| Error::unsupported(format!("{} is not described", reader.class)))
}

#[cold]
fn other(kind: Kind, class: &str) -> Error {
    Error::unsupported(format!("a {} of {class}, where others hold another class", kind.name()))
}
