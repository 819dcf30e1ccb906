//! RNTuples, recognised by their class or by their header.

use rootfile::codec::{BlockHeader, Decompressor};

use super::header::parse_header;

/// Whether a class is the anchor of an RNTuple, which has the position of the content in the file.
pub fn is_ntuple(class: &str) -> bool {
    matches!(class, "ROOT::RNTuple" | "ROOT::Experimental::RNTuple")
}

/// Whether a class is the anchor of an RNTuple in the released format, which is read and written.
pub fn is_released(class: &str) -> bool {
    class == "ROOT::RNTuple"
}

/// The name of an RNTuple, if the bytes are its header, compressed or not: for files in which nothing says where headers are.
pub fn name_of_header(block: &[u8]) -> Option<String> {
    let mut unpacked = Vec::new();
    let envelope = match BlockHeader::parse(block) {
        Ok(header) => {
            let packed = block.get(..BlockHeader::SIZE.checked_add(header.compressed)?)?;
            Decompressor::new().decompress(packed, header.uncompressed, &mut unpacked).ok()?;
            &unpacked
        }
        Err(_) => block,
    };
    parse_header(envelope).ok().map(|header| header.name)
}
