//! The streamer-info record of a file: a `TList` of `TStreamerInfo`, read and written by hand-made code, because all
//! other objects are read by it.
//!
//! Facts: `TStreamerInfo` (`TNamed`, fCheckSum, fClassVersion, `TObjArray` of elements) and the streamers in
//! ROOT's `core/meta/src/TStreamerElement.cxx`, which did not change between ROOT 3.00 and 6.40 but for the
//! element's array dimensions (version 1) and the moves that [`read_element`] names.

use std::sync::Arc;

use super::element::HAS_RANGE;
use super::{ElementKind, StreamerElement, StreamerInfo};
use crate::bytes::{Cursor, Writer};
use crate::tags::{Frame, ReadTags, Tag, WriteTags, begin_frame, end_frame};
use crate::tobject::{TObject, read_tobject, write_tnamed, write_tobject};
use crate::{Error, Result};

/// Most elements of a class; the largest known classes have some hundreds.
const MAX_ELEMENTS: usize = 100_000;

/// Bits of an object that describe its content. The bits above describe its place in memory, and no process identifier
/// can follow here.
const LASTING_BITS: u32 = 0x00FF_FFEF;

/// Reads the payload of the streamer-info record. `keylen` is the length of the key in front, from which tags count.
///
/// # Errors
///
/// If the bytes are not a list of streamer infos.
pub fn parse_record(payload: &[u8], keylen: usize) -> Result<Vec<StreamerInfo>> {
    let mut c = Cursor::new(payload);
    let mut tags = ReadTags::new(keylen);
    let list = Frame::read(&mut c)?;
    skip_object(&mut c)?;
    if list.version > 3 {
        c.string()?;
    }
    let n = c.count(1)?;
    let mut infos = Vec::new();
    for _ in 0..n {
        read_pointer(&mut c, &mut tags, |c, tags, class| {
            if class == "TStreamerInfo" {
                infos.push(read_info(c, tags)?);
                Ok(true)
            } else {
                // ROOT 5.26 and later also store lists of schema-evolution rules here.
                Ok(false)
            }
        })?;
        // Each link of a TList is followed by its option.
        c.string()?;
    }
    Ok(infos)
}

/// Reads one object pointer. `read` returns whether it has read the object; if not, the object is skipped by its byte
/// count.
fn read_pointer<'a>(
    c: &mut Cursor<'a>,
    tags: &mut ReadTags,
    read: impl FnOnce(&mut Cursor<'a>, &mut ReadTags, &str) -> Result<bool>,
) -> Result<()> {
    match tags.read(c)? {
        Tag::Null | Tag::Object(_) => Ok(()),
        Tag::New { class, end, .. } => {
            let done = read(c, tags, &class)?;
            match end {
                Some(end) if end >= c.pos() => c.seek(end),
                Some(_) => return Err(Error::corrupt(format!("a {class} reads past its byte count"))),
                None if !done => return Err(Error::unsupported(format!("a {class} without a byte count"))),
                None => {}
            }
            Ok(())
        }
    }
}

fn skip_object(c: &mut Cursor<'_>) -> Result<()> {
    read_tobject(c).map(|_| ())
}

/// Bits, name and title.
fn read_named(c: &mut Cursor<'_>) -> Result<(u32, String, String)> {
    let frame = Frame::read(c)?;
    let bits = read_tobject(c)?.bits & LASTING_BITS;
    let named = (bits, c.string()?, c.string()?);
    frame.finish(c, "TNamed")?;
    Ok(named)
}

fn read_info(c: &mut Cursor<'_>, tags: &mut ReadTags) -> Result<StreamerInfo> {
    let frame = Frame::read(c)?;
    let (bits, name, title) = read_named(c)?;
    // kCannotOptimize and kIgnoreTObjectStreamer; the other bits are ROOT's state in memory.
    let bits = bits & (3 << 12);
    let checksum = c.u32()?;
    let version = c.i32()?;
    let mut elements = Vec::new();
    read_pointer(c, tags, |c, tags, class| {
        if class != "TObjArray" {
            return Ok(false);
        }
        let array = Frame::read(c)?;
        if array.version > 2 {
            skip_object(c)?;
        }
        if array.version > 1 {
            c.string()?;
        }
        let n = c.count(1)?.min(MAX_ELEMENTS);
        c.i32()?;
        for _ in 0..n {
            read_pointer(c, tags, |c, _, class| {
                elements.push(read_element(c, class)?);
                Ok(true)
            })?;
        }
        Ok(true)
    })
    .map_err(|e| e.object(format!("streamer info of {name}")))?;
    frame.finish(c, "TStreamerInfo")?;
    Ok(StreamerInfo { name, title, version, checksum, bits, form: frame.version, elements })
}

fn read_element(c: &mut Cursor<'_>, class: &str) -> Result<StreamerElement> {
    let outer = Frame::read(c)?;
    // TStreamerArtificial has no streamer of its own; TStreamerElement itself may stand alone.
    // A TStreamerSTLstring wraps a TStreamerSTL, which wraps the plain element.
    if class == "TStreamerSTLstring" {
        Frame::read(c)?;
    }
    let inner = if class == "TStreamerElement" { outer } else { Frame::read(c)? };
    let (mut bits, name, title) = read_named(c)?;
    let type_code = c.i32()?;
    let size = c.i32()?;
    let array_length = c.i32()?;
    let array_dim = c.i32()?;
    let mut max_index = [0; 5];
    if inner.version == 1 {
        // Version 1 wrote the dimensions as a counted array.
        let n = c.count(4)?;
        for i in 0..n {
            let value = c.i32()?;
            if let Some(slot) = max_index.get_mut(i) {
                *slot = value;
            }
        }
    } else {
        for slot in &mut max_index {
            *slot = c.i32()?;
        }
    }
    let type_name = c.string()?;
    if inner.version < 4 {
        // The bits have other meanings in these versions.
        bits = 0;
    }
    if inner.version == 3 {
        // Some versions have fXmin, fXmax and fFactor, which follow from the title; a factor means that there is a
        // range.
        c.skip(16)?;
        if c.f64()? > 0.0 {
            bits = HAS_RANGE;
        }
    }
    if class != "TStreamerElement" {
        inner.finish(c, "TStreamerElement")?;
    }
    let kind = match class {
        "TStreamerBase" => ElementKind::Base { version: if outer.version > 2 { c.i32()? } else { 0 } },
        "TStreamerBasicPointer" | "TStreamerLoop" => {
            ElementKind::Counted { version: c.i32()?, name: c.string()?, class: c.string()? }
        }
        "TStreamerSTL" | "TStreamerSTLstring" => ElementKind::Stl { stl_type: c.i32()?, content_type: c.i32()? },
        _ => ElementKind::Plain,
    };
    outer.skip_to_end(c)?;
    Ok(StreamerElement {
        class: class.to_owned(),
        name,
        title,
        type_code,
        size,
        array_length,
        array_dim,
        max_index,
        type_name,
        kind,
        bits,
    })
}

/// The payload of a streamer-info record with these infos, for a key of `keylen` bytes.
pub fn write_record(infos: &[Arc<StreamerInfo>], keylen: usize) -> Vec<u8> {
    let mut w = Writer::new();
    let mut tags = WriteTags::new(keylen);
    let list = begin_frame(&mut w, 5);
    write_tobject(&mut w, 0, 0);
    w.string("");
    w.i32(i32::try_from(infos.len()).unwrap_or(i32::MAX));
    for info in infos {
        let object = tags.begin_object(&mut w, "TStreamerInfo");
        write_info(&mut w, &mut tags, info);
        end_frame(&mut w, object);
        w.string("");
    }
    end_frame(&mut w, list);
    w.bytes
}

fn write_named(w: &mut Writer, bits: u32, name: &str, title: &str) {
    write_tnamed(w, &TObject { bits, ..TObject::default() }, name, title);
}

fn write_info(w: &mut Writer, tags: &mut WriteTags, info: &StreamerInfo) {
    let frame = begin_frame(w, info.form);
    write_named(w, info.bits, &info.name, &info.title);
    w.u32(info.checksum);
    w.i32(info.version);
    let array = tags.begin_object(w, "TObjArray");
    let body = begin_frame(w, 3);
    write_tobject(w, 0, 0);
    w.string("");
    w.i32(i32::try_from(info.elements.len()).unwrap_or(i32::MAX));
    w.i32(0);
    for element in &info.elements {
        let object = tags.begin_object(w, &element.class);
        write_element(w, element);
        end_frame(w, object);
    }
    end_frame(w, body);
    end_frame(w, array);
    end_frame(w, frame);
}

fn write_element(w: &mut Writer, element: &StreamerElement) {
    // Class versions of ROOT 6: TStreamerElement 4, TStreamerBase 3, TStreamerSTL 3, TStreamerObjectAnyPointer 1,
    // all others 2.
    let version = match element.class.as_str() {
        "TStreamerElement" => None,
        "TStreamerBase" | "TStreamerSTL" => Some(3),
        "TStreamerObjectAnyPointer" => Some(1),
        "TStreamerArtificial" => Some(0),
        _ => Some(2),
    };
    let outer = version.map(|v| begin_frame(w, v));
    // A string wraps the STL element, which wraps the plain one.
    let middle = (element.class == "TStreamerSTLstring").then(|| begin_frame(w, 3));
    let inner = begin_frame(w, 4);
    write_named(w, element.bits, &element.name, &element.title);
    w.i32(element.type_code);
    w.i32(element.size);
    w.i32(element.array_length);
    w.i32(element.array_dim);
    for dim in element.max_index {
        w.i32(dim);
    }
    w.string(&element.type_name);
    end_frame(w, inner);
    match &element.kind {
        ElementKind::Plain => {}
        ElementKind::Base { version } => w.i32(*version),
        ElementKind::Counted { version, name, class } => {
            w.i32(*version);
            w.string(name);
            w.string(class);
        }
        ElementKind::Stl { stl_type, content_type } => {
            w.i32(*stl_type);
            w.i32(*content_type);
        }
    }
    if let Some(middle) = middle {
        end_frame(w, middle);
    }
    if let Some(outer) = outer {
        end_frame(w, outer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streamer::StreamerInfos;

    #[test]
    fn bits_and_versions_that_affect_reading_round_trip() {
        let mut info = StreamerInfo::clone(&StreamerInfos::new().get("TNamed", 1).unwrap());
        info.form = 5;
        info.bits = 1 << 13;
        info.elements[1].bits = HAS_RANGE;
        let read = parse_record(&write_record(&[Arc::new(info.clone())], 64), 64).unwrap();
        assert_eq!(read, [info]);
    }

    #[test]
    fn old_ranges_are_known_by_their_factor() {
        let mut w = Writer::new();
        let frame = begin_frame(&mut w, 3);
        write_named(&mut w, 0xFFFF_FFEF, "x", "[0,1,8]");
        [9, 8, 0, 0, 0, 0, 0, 0, 0].into_iter().for_each(|n| w.i32(n));
        w.string("Double32_t");
        [0.0, 1.0, 256.0].into_iter().for_each(|x| w.f64(x));
        end_frame(&mut w, frame);
        let element = read_element(&mut Cursor::new(&w.bytes), "TStreamerElement").unwrap();
        assert_eq!((element.bits, element.type_code), (HAS_RANGE, 9));
    }
}
