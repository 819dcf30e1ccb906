//! The streamer infos that an RNTuple carries for the objects in its streamer fields. They tell how to decode these objects; this
//! module decodes none.
//!
//! Facts: `RNTupleSerialize.cxx`, `SerializeStreamerInfos`. The content is a `TList` as `TBuffer::WriteObject` writes it: byte
//! count, the tag of a new class, the class name, then the list as in a file's record of streamer infos. Tags count from the
//! start of the content.

use std::sync::Arc;

use rootfile::bytes::Cursor;
use rootfile::streamer::{StreamerInfo, StreamerInfos, parse_record};
use rootfile::{Error, Result};

/// The content ID of streamer infos in extra type information.
pub(super) const CONTENT_ID: u32 = 0;
/// The tag of a class that is named here (`kNewClassTag`).
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// What the list is, as a string of C.
const LIST: &[u8] = b"TList\0";

/// The infos in all contents that can be read. A damaged content is left out: the objects of its classes are then bytes.
pub(super) fn streamer_infos<'a>(contents: impl Iterator<Item = &'a [u8]>) -> StreamerInfos {
    let mut infos = StreamerInfos::new();
    for info in contents.flat_map(|content| parse(content).unwrap_or_default()) {
        infos.add(Arc::new(info));
    }
    infos
}

fn parse(content: &[u8]) -> Result<Vec<StreamerInfo>> {
    let mut c = Cursor::new(content);
    c.u32()?;
    if c.u32()? != NEW_CLASS || c.bytes(LIST.len())? != LIST {
        return Err(Error::corrupt("streamer infos that are no list"));
    }
    let origin = c.pos();
    parse_record(content.get(origin..).unwrap_or_default(), origin)
}

/// Whether two sets have the same versions of the same classes.
pub(super) fn are_equal(a: &StreamerInfos, b: &StreamerInfos) -> bool {
    let keys = |infos: &StreamerInfos| {
        infos.iter().map(|info| (info.name.clone(), info.version, info.checksum)).collect::<Vec<_>>()
    };
    keys(a) == keys(b)
}
