//! Compression against ROOT: its blocks are read, and ours are the same bytes where we promise it.
//!
//! `make_root_blocks.py` had ROOT compress the same samples.
#![allow(clippy::unwrap_used)]

use rootfile::codec::{Algorithm, Compression, Compressor, Decompressor};

const VECTORS: &str = include_str!("../data/root_blocks.tsv");

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// In step with the function of that name in `make_root_blocks.py`.
fn sample(kind: &str, size: usize) -> Vec<u8> {
    const WORDS: [&str; 10] = ["Electron_", "Muon_", "Jet_", "pt", "eta", "phi", "mass", "/F", "[nJet]", "\n"];
    let mut state = size as u64;
    let mut offset = 0u32;
    let mut out = Vec::new();
    while out.len() < size {
        let r = splitmix(&mut state);
        match kind {
            "offsets" => {
                offset += 8 * (r % 12) as u32;
                out.extend(offset.to_be_bytes());
            }
            "floats" => out.extend((0x3f80_0000 | (r & 0x7f_f800) as u32).to_be_bytes()),
            "text" => out.extend(WORDS[(r % 10) as usize].bytes()),
            _ => out.extend(r.to_be_bytes()),
        }
    }
    out.truncate(size);
    out
}

#[test]
fn same_bytes_as_root() {
    let mut compressor = Compressor::new();
    let mut decompressor = Decompressor::new();
    let (mut same, mut read) = (0, 0);
    for line in VECTORS.lines().filter(|l| !l.starts_with('#')) {
        let fields: Vec<_> = line.split('\t').collect();
        let [kind, size, setting, length, hash, hex] = fields[..] else { panic!("{line}") };
        let input = sample(kind, size.parse().unwrap());
        let length: usize = length.parse().unwrap();
        let compression = Compression::from_root_setting(setting.parse().unwrap()).unwrap();

        // ROOT's caller drops a block that is no smaller than its input.
        let pays = length != 0 && length < input.len();
        if !matches!(compression.algorithm(), Some(Algorithm::Zlib | Algorithm::OldCs)) {
            let mut record = Vec::new();
            assert_eq!(compressor.compress(compression, &input, &mut record).unwrap(), pays, "{line}");
            if pays {
                assert_eq!(record.len(), length, "{line}");
                assert_eq!(format!("{:016x}", twox_hash::XxHash64::oneshot(0, &record)), hash, "{line}");
                same += 1;
            }
        }
        if pays && !hex.is_empty() {
            let block: Vec<u8> =
                (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect();
            let mut out = Vec::new();
            decompressor.decompress(&block, input.len(), &mut out).unwrap();
            assert_eq!(out, input, "{line}");
            read += 1;
            for bit in 0..8 * block.len() {
                let mut flipped = block.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                out.clear();
                let fine = decompressor.decompress(&flipped, input.len(), &mut out).is_ok();
                assert_eq!(out.len(), if fine { input.len() } else { 0 });
            }
        }
    }
    assert!(same > 90, "only {same} blocks compared");
    assert!(read > 10, "only {read} blocks of ROOT read");
}
