//! Compression against files from the wild: every compressed record unpacks.
//!
//! The corpus is no part of the repository; without it the test says so and passes.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use crate::corpus::corpus;
use rootfile::codec::{BlockHeader, Decompressor, blocks, is_stored};

/// Files damaged on their way: the first lost bytes here and there (it ends one byte early), the second has a list of
/// keys whose record is longer than its `fNbytes`.
const DAMAGED: [&str; 2] = ["generator--sample_dk2nu.root", "nanoaod-tools--mcPileupUL2018.root"];

fn be(bytes: &[u8]) -> Option<usize> {
    bytes.iter().try_fold(0usize, |n, b| Some(n.checked_mul(256)? + usize::from(*b)))
}

/// The payloads of the chain of records from `fBEGIN` on, with their `fObjlen`; as far as the chain holds.
fn records(file: &[u8]) -> Vec<(usize, &[u8], usize)> {
    let mut found = Vec::new();
    let mut at = file.get(8..12).and_then(be).unwrap_or(usize::MAX);
    while let Some(head) = file.get(at..).and_then(|f| f.get(..18)) {
        let nbytes = i32::from_be_bytes([head[0], head[1], head[2], head[3]]);
        let step = usize::try_from(nbytes.unsigned_abs()).unwrap();
        let (objlen, keylen) = (be(&head[6..10]).unwrap(), be(&head[14..16]).unwrap());
        if step == 0 {
            break;
        }
        // After keylen and cycle come two seeks, eight bytes each from key version 1000 on; then the class name.
        let seeks = if be(&head[4..6]).unwrap() > 1000 { 16 } else { 8 };
        let is_blob = file.get(at + 18 + seeks..).is_some_and(|f| f.starts_with(b"\x05RBlob"));
        if nbytes > 0 && !is_blob {
            let Some(payload) = file.get(at..).and_then(|f| f.get(keylen..step)) else { break };
            found.push((at, payload, objlen));
        }
        at += step;
    }
    found
}

#[test]
fn every_compressed_record_unpacks() {
    let Some(files) = corpus() else { return };
    let mut decompressor = Decompressor::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut failed = Vec::new();
    for path in files {
        if DAMAGED.iter().any(|name| path.ends_with(name)) {
            continue;
        }
        let file = std::fs::read(&path).unwrap();
        for (at, payload, objlen) in records(&file) {
            if is_stored(payload.len(), objlen) {
                // ROOT up to 3.04/01 compressed baskets to just their own size at times and still called it compressed.
                if BlockHeader::parse(payload).is_ok_and(|h| h.uncompressed <= objlen) {
                    failed.push(format!("{} at {at}: stored, opens like a block", path.display()));
                }
                continue;
            }
            let mut out = Vec::new();
            match decompressor.decompress(payload, objlen, &mut out) {
                Ok(()) => {
                    assert_eq!(out.len(), objlen);
                    for block in blocks(payload, objlen) {
                        *seen.entry(block.unwrap().header.algorithm.to_string()).or_default() += 1;
                    }
                }
                Err(e) => failed.push(format!("{} at {at}: {e}", path.display())),
            }
        }
    }
    eprintln!("{seen:?}");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(["zlib", "lzma", "cs", "lz4", "zstd"].iter().all(|codec| seen.contains_key(*codec)), "{seen:?}");
}
