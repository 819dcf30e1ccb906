//! Default entries, for branches that an input lacks (`--fill`): zeros, empty arrays, empty strings.

use dataset::tree::{Branch, BranchKind, Leaf, Tree};
use rootfile::streamer::code;

/// The version that ROOT 6 writes in front of a standard collection, and its empty content: byte count 6,
/// version 9, no items.
const EMPTY_COLLECTION: [u8; 10] = [0x40, 0, 0, 6, 0, 9, 0, 0, 0, 0];
/// An empty `std::string` member: byte count 3, version 9, length 0.
const EMPTY_STRING: [u8; 7] = [0x40, 0, 0, 3, 0, 9, 0];

/// Most bytes of a default entry: a leaf may claim any number of items.
const MOST: usize = 64 << 20;

/// Bytes in a file of the numbers of a leaf, for each count if it has a counter.
pub(crate) fn leaf_width(leaf: &Leaf) -> usize {
    let n = usize::try_from(leaf.len).unwrap_or(0).max(1);
    match leaf.class.as_str() {
        // Float16_t takes three bytes in a file, Double32_t four.
        "TLeafF16" => n.saturating_mul(3),
        "TLeafD32" => n.saturating_mul(4),
        _ => usize::try_from(leaf.len_type).unwrap_or(0).saturating_mul(n),
    }
}

/// Bytes of a number of a class, by the type of its streamer element. `None` for packed numbers and other members.
pub(crate) fn item_width(streamer_type: i32) -> Option<usize> {
    match streamer_type {
        code::CHAR | code::UCHAR | code::BOOL => Some(1),
        code::SHORT | code::USHORT => Some(2),
        code::LONG | code::ULONG | code::LONG64 | code::ULONG64 | code::DOUBLE => Some(8),
        code::DOUBLE32 | code::FLOAT16 | code::CHAR_STAR => None,
        t => (1..code::OFFSET_L).contains(&t).then_some(4),
    }
}

/// The bytes of a default entry. An entry whose items are counted has none of them. Without a default, what has none.
pub(crate) fn default_entry(tree: &Tree, branch: &Branch) -> Result<Vec<u8>, String> {
    let unknown = |kind: &str| kind.to_owned();
    match &branch.kind {
        BranchKind::Plain => {
            let mut entry = Vec::new();
            for leaf in branch.leaves.iter().filter_map(|&l| tree.leaves.get(l)) {
                match (leaf.class.as_str(), leaf.leaf_count) {
                    ("TLeafObject" | "TLeafElement", _) => return Err(unknown("an object")),
                    (_, Some(_)) => {}
                    ("TLeafC", None) => entry.push(0),
                    _ => {
                        let len = leaf_width(leaf).saturating_add(entry.len());
                        if len > MOST {
                            return Err(unknown("entries of more than 64 MB"));
                        }
                        entry.resize(len, 0);
                    }
                }
            }
            Ok(entry)
        }
        BranchKind::Element(e) => match (e.element_type, e.streamer_type) {
            // The counter of a split collection, and the members behind it.
            (3 | 4, _) => Ok(vec![0; 4]),
            (31 | 41, _) => Ok(Vec::new()),
            (_, t) if (1..code::OFFSET_L).contains(&t) => {
                let width = item_width(t).ok_or_else(|| unknown("its packed numbers"))?;
                Ok(vec![0; width])
            }
            (_, code::TSTRING) => Ok(vec![0]),
            (_, code::STL_STRING) => Ok(EMPTY_STRING.to_vec()),
            (_, code::STL) => Ok(EMPTY_COLLECTION.to_vec()),
            (_, -1) if e.class_name == "string" => Ok(vec![0]),
            (_, -1) if e.class_name.starts_with("vector<") => Ok(EMPTY_COLLECTION.to_vec()),
            _ => Err(unknown(&format!("class {}", e.class_name))),
        },
        // TRefTable::FillBuffer: the number of processes.
        BranchKind::Ref { .. } => Ok(vec![0; 4]),
        _ => Err(unknown("whole objects")),
    }
}
