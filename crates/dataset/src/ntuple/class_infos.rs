//! The streamer infos that an RNTuple carries for the objects in its streamer fields: they are parsed here, and two lists become
//! one. They tell how to decode these objects; this module decodes none.
//!
//! Facts: `RNTupleSerialize.cxx`, `SerializeStreamerInfos`. The content is a `TList` as `TBuffer::WriteObject` writes it: byte count,
//! the tag of a new class, the class name, then the list as in a file's record of streamer infos. Tags count from the start of
//! the content. Readers refuse two lists in one RNTuple (`RNTupleDescriptorBuilder::AddExtraTypeInfo`).

use std::sync::Arc;

use rootfile::streamer::{StreamerInfo, StreamerInfos, parse_record, write_record};
use rootfile::{Error, Result};

/// The content ID of streamer infos.
pub const STREAMER_INFOS: u32 = 0;
/// What follows the byte count: the tag of a class that is not in the buffer yet (`kNewClassTag`), and its name.
const NEW_LIST: &[u8] = b"\xff\xff\xff\xffTList\0";
/// Bytes in front of the list, from whose start tags count.
const FRONT: usize = 4 + NEW_LIST.len();
/// Bit of a byte count (`kByteCountMask`).
const COUNTED: u32 = 0x4000_0000;

/// The infos in all contents that can be read. A damaged content is left out: the objects of its classes are then bytes.
pub(super) fn streamer_infos<'a>(contents: impl Iterator<Item = &'a [u8]>) -> StreamerInfos {
    let mut infos = StreamerInfos::new();
    for info in contents.flat_map(|content| parse(content).unwrap_or_default()) {
        infos.add(Arc::new(info));
    }
    infos
}

/// Whether two sets have the same versions of the same classes.
pub(super) fn are_equal(a: &StreamerInfos, b: &StreamerInfos) -> bool {
    let keys = |infos: &StreamerInfos| {
        infos.iter().map(|info| (info.name.clone(), info.version, info.checksum)).collect::<Vec<_>>()
    };
    keys(a) == keys(b)
}

/// One list with the classes of both.
///
/// # Errors
///
/// If one is damaged, or if they are too many.
pub fn join_streamer_infos(first: &[u8], second: &[u8]) -> Result<Vec<u8>> {
    let mut joined: Vec<Arc<StreamerInfo>> = Vec::new();
    for content in [first, second] {
        for info in parse(content)? {
            if !joined.iter().any(|known| {
                known.name == info.name && known.version == info.version && known.checksum == info.checksum
            }) {
                joined.push(Arc::new(info));
            }
        }
    }
    write_streamer_infos(&joined)
}

/// The content with these infos.
///
/// # Errors
///
/// If they are too many.
pub(super) fn write_streamer_infos(infos: &[Arc<StreamerInfo>]) -> Result<Vec<u8>> {
    let list = write_record(infos, FRONT);
    let count = u32::try_from(NEW_LIST.len() + list.len()).ok().filter(|count| count & COUNTED == 0);
    let count = count.ok_or_else(|| Error::unsupported("streamer infos of more than 1 GB"))?;
    Ok([&(count | COUNTED).to_be_bytes()[..], NEW_LIST, &list].concat())
}

fn parse(content: &[u8]) -> Result<Vec<StreamerInfo>> {
    match content.get(4..FRONT) {
        Some(NEW_LIST) => parse_record(content.get(FRONT..).unwrap_or_default(), FRONT),
        _ => Err(Error::corrupt("streamer infos that are not a TList")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(classes: &[&str]) -> Vec<u8> {
        let known = StreamerInfos::new();
        let infos: Vec<_> = classes.iter().map(|class| known.latest(class).unwrap()).collect();
        let list = write_record(&infos, FRONT);
        [&(COUNTED | (NEW_LIST.len() + list.len()) as u32).to_be_bytes()[..], NEW_LIST, &list].concat()
    }

    #[test]
    fn each_class_is_there_once() {
        let (a, b) = (list(&["TNamed", "TObject"]), list(&["TObject", "TList"]));
        let joined = join_streamer_infos(&a, &b).unwrap();
        let names: Vec<String> = parse(&joined).unwrap().into_iter().map(|info| info.name).collect();
        assert_eq!(names, ["TNamed", "TObject", "TList"]);
        assert!(join_streamer_infos(&a, b"nothing of the kind").is_err());
    }
}
