//! Takes records out of real files, as seeds: `cargo run --release --example seeds -- FOLDER` writes them to corpus/.
//!
//! Small ones only: a fuzzer learns more from many short inputs.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;

use dataset::decode::columns;
use dataset::ntuple::model::{Link, Locator, Page};
use dataset::ntuple::{is_ntuple, read_block, read_ntuple, read_page_list};
use dataset::tree::basket::BasketHeader;
use dataset::tree::{is_tree_class, read_tree};
use rootfile::bytes::Cursor;
use rootfile::codec::{Decompressor, is_stored};
use rootfile::{Key, RootFile};

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

/// The parts of an RNTuple, in the forms of the targets.
fn keep_ntuple(file: &RootFile, key: &Key) -> Result<(), Box<dyn std::error::Error>> {
    let payload = file.payload(key)?;
    keep("ntuple_anchor", payload.get(..payload.len().saturating_sub(8)).unwrap_or_default())?;
    let ntuple = read_ntuple(file, key)?;
    let read = |link: &Link| read_block(&**file.source(), link, ntuple.anchor.max_key_size);
    let inside = |bytes: &[u8]| bytes.get(8..bytes.len().saturating_sub(8)).unwrap_or_default().to_vec();
    let (header, mut footer) = (inside(&read(&ntuple.anchor.header)?), inside(&read(&ntuple.anchor.footer)?));
    // The target puts the header's checksum behind the footer's flags itself.
    if footer.len() >= 16 {
        footer.drain(8..16);
    }
    if let Ok(len) = u16::try_from(header.len()) {
        keep("ntuple_envelopes", &[&len.to_le_bytes()[..], &header, &footer].concat())?;
    }
    for (number, group) in ntuple.groups.iter().enumerate().take(BASKETS) {
        let list = inside(&read(&group.page_list)?);
        if let (Ok(clusters), Ok(entries)) = (u8::try_from(group.clusters), u16::try_from(group.entries)) {
            let [low, high] = entries.to_le_bytes();
            keep("ntuple_page_list", &[&[clusters, low, high], list.get(8..).unwrap_or_default()].concat())?;
        }
        let list = read_page_list(&**file.source(), &ntuple, number)?;
        for cluster in list.clusters.iter().take(2) {
            for (id, column) in ntuple.schema.columns.iter().enumerate() {
                let Some(page) = cluster.pages(&list, id).and_then(<[Page]>::first) else { continue };
                let (Locator::File { offset, .. }, Some(len)) = (page.locator, page.stored_len()) else { continue };
                let mut record = vec![0; usize::try_from(len)?.min(MOST)];
                file.source().read_exact_at(offset, &mut record)?;
                let least = column.column_type.valid_bits().map_or(0, |bits| *bits.start());
                let (Ok(code), Ok(bits)) = (u8::try_from(column.column_type.code()), u8::try_from(column.bits - least))
                else {
                    continue;
                };
                let [low, high, ..] = page.elements.to_le_bytes();
                let form = 2 | if page.has_checksum { 4 } else { 0 };
                keep("ntuple_page", &[&[code, bits, low, high, 3, form], &record[..]].concat())?;
            }
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
            if is_ntuple(&key.class) {
                // Some are of a pre-release format.
                let _ = keep_ntuple(&file, key);
            }
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
