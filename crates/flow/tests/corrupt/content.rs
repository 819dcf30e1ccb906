//! The content of a file independent of its layout: a digest of the entries of every branch of every tree.
//!
//! Baskets are read one by one with `rootfile` and `dataset`, without the engine under test.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};

use dataset::tree::basket::{BasketData, BasketHeader, Entries};
use dataset::tree::{Branch, Tree, clusters, is_tree_class, read_tree};
use rootfile::bytes::Cursor;
use rootfile::codec::Decompressor;
use rootfile::object::ObjectReader;
use rootfile::tags::{CLASS_MASK, MAP_OFFSET, NEW_CLASS_TAG};
use rootfile::{Error, Key, Result, RootFile, is_directory};

/// The entries of a branch: their number, a digest of their bytes, and one of their boundaries if these are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub entries: u64,
    pub bytes: u64,
    pub boundaries: Option<u64>,
}

/// Branches by path of the tree and position among the tree's branches.
pub type Content = BTreeMap<(String, usize), std::result::Result<Digest, String>>;

/// Reads everything that `inspect` reads, and every object that is not a tree.
pub fn look_through(file: &RootFile) {
    for directory in file.walk().directories {
        for key in &directory.keys {
            if is_tree_class(file, &key.class) {
                if let Ok(tree) = read_tree(file, key) {
                    clusters::declared_up_to(&tree, 1_000_000);
                    clusters::common_boundaries(&tree);
                    let places = tree.places();
                    for i in 0..tree.branches.len() {
                        tree.lineage(i);
                        tree.position(i);
                        places.counters(&tree, i);
                    }
                }
            } else if !is_directory(&key.class)
                && let Ok(payload) = file.payload(key)
            {
                let _ = ObjectReader::new(&payload, usize::from(key.keylen), file.infos()).read_root(&key.class);
            }
        }
    }
}

/// The content of all trees that can be read: the newest cycle of each.
pub fn read(file: &RootFile) -> Content {
    let mut newest: BTreeMap<String, Key> = BTreeMap::new();
    for directory in file.walk().directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            // The first key of a name is the newest cycle.
            newest.entry(directory.path_of(&key.name)).or_insert_with(|| key.clone());
        }
    }
    let mut content = Content::new();
    let mut decompressor = Decompressor::new();
    for (path, key) in newest {
        // The list of keys may be damaged while the record's own key is not.
        let Ok(tree) = file.key_at(key.seek_key).and_then(|key| read_tree(file, &key)) else { continue };
        for (i, branch) in tree.branches.iter().enumerate().filter(|(_, b)| b.file_name.is_empty()) {
            let digest = digest(file, &tree, branch, &mut decompressor).map_err(|e| e.to_string());
            content.insert((path.clone(), i), digest);
        }
    }
    content
}

fn digest(file: &RootFile, tree: &Tree, branch: &Branch, decompressor: &mut Decompressor) -> Result<Digest> {
    let (mut bytes, mut boundaries) = (DefaultHasher::new(), Some(DefaultHasher::new()));
    let mut entries = 0;
    for (i, basket) in branch.baskets.iter().enumerate().filter(|(_, b)| b.entries > 0) {
        let data = match branch.embedded.iter().find(|(at, _)| *at == i) {
            Some((_, embedded)) => BasketData::parse_embedded(&embedded.bytes)?.1,
            None => {
                let record = file.source().read(basket.seek, basket.nbytes as usize)?;
                let header = BasketHeader::parse(&mut Cursor::new(&record))?;
                let raw = record.get(header.keylen()..).unwrap_or_default();
                let mut payload = Vec::new();
                decompressor.decompress(raw, header.key.objlen as usize, &mut payload)?;
                header.open(payload)?
            }
        };
        if u64::from(data.count) != basket.entries {
            return Err(Error::corrupt(format!("{} entries in a basket of {}", data.count, basket.entries)));
        }
        entries += basket.entries;
        // Byte by byte: the boundaries of baskets make no difference.
        if let Entries::Offsets(_) = data.entries {
            for k in 0..data.count as usize {
                let entry = data.range(k).and_then(|r| data.data.get(r)).unwrap_or_default();
                without_origin(entry, data.origin(k)).iter().for_each(|&b| bytes.write_u8(b));
            }
        } else {
            data.data.iter().for_each(|&b| bytes.write_u8(b));
        }
        if data.entries == Entries::Generated {
            boundaries = None;
        }
        if let Some(hasher) = &mut boundaries {
            for k in 0..data.count as usize {
                hasher.write_usize(data.range(k).map_or(usize::MAX, |r| r.len()));
            }
        }
    }
    let _ = tree;
    Ok(Digest { entries, bytes: bytes.finish(), boundaries: boundaries.map(|b| b.finish()) })
}

/// The bytes of an entry, with class tags rebased to its start. A number counts as a tag if it points to the name of a class,
/// which follows four bytes of ones.
fn without_origin(entry: &[u8], origin: u32) -> Vec<u8> {
    let word = |at: usize| entry.get(at..)?.first_chunk::<4>().map(|b| u32::from_be_bytes(*b));
    let mut out = entry.to_vec();
    let mut at = 0;
    while let Some(tag) = word(at) {
        let target = (tag & !CLASS_MASK).wrapping_sub(MAP_OFFSET).wrapping_sub(origin);
        if tag & CLASS_MASK != 0 && word(target as usize) == Some(NEW_CLASS_TAG) {
            out[at..at + 4].copy_from_slice(&target.to_be_bytes());
            at += 3;
        }
        at += 1;
    }
    out
}

/// The first difference between an output and its input, if there is one. A branch that cannot be read from the input must
/// not be complete in the output, but a tree that a damaged list hides may come from its own record.
pub fn difference(input: &Content, output: &Content) -> Option<String> {
    for (at, was) in input {
        let Some(is) = output.get(at) else {
            return Some(format!("{at:?} is gone from the output"));
        };
        match (was, is) {
            (Ok(was), Ok(is)) => {
                let same_boundaries = was.boundaries.is_none() || was.boundaries == is.boundaries;
                if was.entries != is.entries || was.bytes != is.bytes || !same_boundaries {
                    return Some(format!("{at:?}: {was:?} became {is:?}"));
                }
            }
            (Ok(was), Err(e)) => return Some(format!("{at:?}: {was:?} became unreadable: {e}")),
            (Err(e), Ok(is)) => return Some(format!("{at:?}: unreadable ({e}) became {is:?}")),
            (Err(_), Err(_)) => {}
        }
    }
    None
}
