//! Takes records out of real files, as seeds: `cargo run --release --example seeds -- FOLDER` writes them to corpus/.
//!
//! Small ones only: a fuzzer learns more from many short inputs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

use dataset::decode::columns;
use dataset::tree::basket::BasketHeader;
use dataset::tree::{is_tree_class, read_tree};
use rootfile::RootFile;
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};

/// Seeds and records have at most this many bytes.
const MOST: usize = 20_000;
/// Baskets taken from a tree.
const BASKETS: usize = 12;

fn keep(target: &str, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.len() > MOST {
        return Ok(());
    }
    let folder = Path::new("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    std::fs::write(folder.join(format!("{:016x}", hasher.finish())), bytes)
}

/// Entries of the file whose plans the target `decode` uses; the first byte is the number of the plan, the next two are the
/// offset from which class tags count.
fn keep_entries() -> Result<(), Box<dyn std::error::Error>> {
    let file = RootFile::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/dataset/tests/root/decode_types.root"))?;
    let mut number = 0u8;
    for key in file.top().keys.iter().filter(|key| is_tree_class(&file, &key.class)) {
        let tree = read_tree(&file, key)?;
        for plan in columns(&tree, file.infos()) {
            let basket = tree.branches.get(plan.branch()).and_then(|b| b.baskets.first()).ok_or("no basket")?;
            let mut record = vec![0; basket.nbytes as usize];
            file.source().read_exact_at(basket.seek, &mut record)?;
            let header = BasketHeader::parse(&mut Cursor::new(&record))?;
            let (raw, objlen) = (record.split_off(header.keylen()), header.key.objlen as usize);
            let mut payload = Vec::new();
            if is_stored(raw.len(), objlen) {
                payload = raw;
            } else {
                Decompressor::new().decompress(&raw, objlen, &mut payload)?;
            }
            let data = header.open(payload)?;
            for i in 0..data.count as usize {
                let entry = data.range(i).and_then(|range| data.data.get(range)).ok_or("no entry")?;
                let Ok(origin) = u16::try_from(data.origin(i)) else { continue };
                keep("decode", &[&[number], &origin.to_be_bytes()[..], entry].concat())?;
            }
            number = number.wrapping_add(1);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    keep_entries()?;
    let folder = std::env::args().nth(1).ok_or("usage: seeds FOLDER")?;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let bytes = std::fs::read(&path)?;
        keep("header_key", &bytes)?;
        keep("header_key", bytes.get(..300).unwrap_or_default())?;
        let Ok(file) = RootFile::open(&path) else { continue };
        if let Ok(key) = file.key_at(file.header().seek_info)
            && let Ok(payload) = file.payload(&key)
        {
            keep("streamer_info", &payload)?;
        }
        for key in file.walk().directories.iter().flat_map(|d| &d.keys) {
            let at = usize::try_from(key.seek_key)?;
            keep("header_key", bytes.get(at..(at + 200).min(bytes.len())).unwrap_or_default())?;
            if !is_tree_class(&file, &key.class) {
                continue;
            }
            if let (Ok(payload), Ok(keylen)) = (file.payload(key), u8::try_from(key.keylen)) {
                keep("tree", &[&[keylen], &*payload].concat())?;
            }
            let Ok(tree) = read_tree(&file, key) else { continue };
            for basket in tree.branches.iter().flat_map(|b| &b.baskets).filter(|b| b.seek > 0).take(BASKETS) {
                let at = usize::try_from(basket.seek)?;
                keep("basket", bytes.get(at..at + basket.nbytes as usize).unwrap_or_default())?;
            }
            for embedded in tree.branches.iter().flat_map(|b| &b.embedded).take(BASKETS) {
                keep("basket", &embedded.1.bytes)?;
            }
        }
    }
    Ok(())
}
