//! RNTuples: recognised by their class or by their header, and named in the errors of those that take trees only.

use rootfile::codec::{BlockHeader, Decompressor};
use rootfile::{Error, RootFile};

use super::header::parse_header;

/// Whether a class is the anchor of an RNTuple, which has the position of the content in the file.
pub fn is_ntuple(class: &str) -> bool {
    matches!(class, "ROOT::RNTuple" | "ROOT::Experimental::RNTuple")
}

/// Whether a class is the anchor of an RNTuple in the released format, which is read and written.
pub fn is_released(class: &str) -> bool {
    class == "ROOT::RNTuple"
}

/// The error for a missing tree, if there is an RNTuple instead: with the path `wanted`, or with any path.
pub fn instead_of_tree(file: &RootFile, wanted: impl Fn(&str) -> bool) -> Option<Error> {
    let walk = file.walk();
    let keys = walk.directories.iter().flat_map(|d| d.keys.iter().map(move |key| (d.path_of(&key.name), key)));
    let (path, _) = keys.into_iter().find(|(path, key)| is_ntuple(&key.class) && wanted(path))?;
    let error = Error::unsupported(
        "is an RNTuple, and this needs a tree; readspeed, convert and the Python package read RNTuples, and ROOT 6.36 and \
         later writes one as a tree: RDataFrame::Snapshot with RSnapshotOptions::fOutputFormat = \
         ESnapshotOutputFormat::kTTree",
    );
    Some(error.object(path).file(file.name()))
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
