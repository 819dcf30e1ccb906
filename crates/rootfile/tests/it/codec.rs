//! Compression against itself: round trips over codecs, levels and sizes, and damaged records.
#![allow(clippy::unwrap_used, clippy::panic)]

use rootfile::codec::{Algorithm, Compression, Compressor, Decompressor, MAX_BLOCK, blocks};

/// Bytes with some structure: every codec makes them smaller.
fn rising(size: usize) -> Vec<u8> {
    (0..size).map(|i| ((i / 4) >> (8 * (3 - i % 4)).min(31)) as u8 & if i % 4 == 3 { 0xf8 } else { 0xff }).collect()
}

fn noise(size: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    })
    .flatten()
    .take(size)
    .collect()
}

fn round_trip(compressor: &mut Compressor, compression: Compression, input: &[u8]) -> Option<usize> {
    let mut record = b"key header".to_vec();
    let pays = compressor.compress(compression, input, &mut record);
    let pays = pays.unwrap_or_else(|e| panic!("{compression}, {} bytes: {e}", input.len()));
    assert_eq!(&record[..10], b"key header");
    if !pays {
        assert_eq!(record.len(), 10, "{compression}, {} bytes: left something behind", input.len());
        return None;
    }
    let record = &record[10..];
    assert!(record.len() < input.len());
    let mut decompressor = Decompressor::new();
    let mut out = b"before".to_vec();
    decompressor.decompress(record, input.len(), &mut out).unwrap();
    assert_eq!(&out[..6], b"before");
    assert!(out[6..] == *input, "{compression}, {} bytes", input.len());
    let mut out = vec![0xaa; input.len()];
    decompressor.decompress_into(record, &mut out).unwrap();
    assert!(out == input, "{compression}, {} bytes", input.len());
    let headers: Vec<_> = blocks(record, input.len()).map(|b| b.unwrap().header).collect();
    assert_eq!(headers.len(), input.len().div_ceil(MAX_BLOCK));
    assert!(headers.iter().all(|h| Some(h.algorithm) == compression.algorithm()));
    Some(record.len())
}

#[test]
fn small_objects_round_trip_with_every_codec_and_level() {
    let mut compressor = Compressor::new();
    for algorithm in Algorithm::WRITTEN {
        for level in (1..=algorithm.facts().max_level).chain([99]) {
            let compression = Compression::new(algorithm, level);
            for size in [0, 1, 9, 10, 11, 12, 255, 256, 257, 4096, 70_000] {
                let packed = round_trip(&mut compressor, compression, &rising(size));
                assert!(size < 256 || packed.is_some(), "{compression} does not pack {size} bytes");
                assert!(size > 10 || packed.is_none(), "{compression} packs {size} bytes");
                assert_eq!(round_trip(&mut compressor, compression, &noise(size)), None);
            }
        }
    }
}

#[test]
fn blocks_end_at_three_bytes_of_size() {
    let mut compressor = Compressor::new();
    for size in [MAX_BLOCK, MAX_BLOCK + 1, MAX_BLOCK + 1000, 40_000_000] {
        let input = rising(size);
        for setting in ["zlib:1", "lz4:1", "zstd:1"] {
            let packed = round_trip(&mut compressor, setting.parse().unwrap(), &input);
            // ROOT gives up on a last block of ten bytes or fewer, and with it on the record.
            assert_eq!(packed.is_some(), size != MAX_BLOCK + 1, "{setting}, {size}");
        }
    }
    let input = vec![7; MAX_BLOCK + 1000];
    assert!(round_trip(&mut compressor, "lzma:1".parse().unwrap(), &input).is_some());
}

#[test]
fn one_block_of_noise_stores_the_record() {
    let mut input = rising(MAX_BLOCK);
    input.extend(noise(20_000));
    for setting in ["zlib:1", "lz4:1", "zstd:1"] {
        assert_eq!(round_trip(&mut Compressor::new(), setting.parse().unwrap(), &input), None);
    }
}

#[test]
fn stored_records_are_returned_unchanged() {
    let mut out = vec![1];
    Decompressor::new().decompress(b"abcd", 4, &mut out).unwrap();
    Decompressor::new().decompress(b"efgh", 2, &mut out).unwrap();
    Decompressor::new().decompress(b"", 0, &mut out).unwrap();
    assert_eq!(out, b"\x01abcdef");
    assert!(!Compressor::new().compress(Compression::NONE, &rising(1000), &mut out).unwrap());
    assert_eq!(out, b"\x01abcdef");
}

#[test]
fn the_old_algorithm_is_written_as_zlib() {
    let [old, zlib] = [Algorithm::OldCs, Algorithm::Zlib].map(|algorithm| {
        let mut out = Vec::new();
        assert!(Compressor::new().compress(Compression::new(algorithm, 5), &rising(1000), &mut out).unwrap());
        out
    });
    assert_eq!(old, zlib);
}

#[test]
fn damaged_records_are_errors_or_harmless() {
    let input = rising(3000);
    let mut compressor = Compressor::new();
    let mut decompressor = Decompressor::new();
    let mut unchecked = Decompressor::new().verify_checksums(false);
    for algorithm in Algorithm::WRITTEN {
        let mut record = Vec::new();
        assert!(compressor.compress(Compression::new(algorithm, 4), &input, &mut record).unwrap());
        let mut out = Vec::new();
        for end in 0..record.len() {
            let cut = decompressor.decompress(&record[..end], input.len(), &mut out);
            assert!(cut.is_err(), "{algorithm} cut at {end}");
            assert!(out.is_empty());
        }
        for wrong in [input.len() - 1, input.len() + 1, 2 * input.len(), usize::MAX] {
            assert!(decompressor.decompress(&record, wrong, &mut out).is_err(), "{algorithm} for {wrong} bytes");
        }
        for bit in 0..8 * record.len() {
            let mut flipped = record.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let checked = decompressor.decompress(&flipped, input.len(), &mut out);
            // Only zlib, LZMA and LZ4 carry checksums.
            if algorithm != Algorithm::Zstd && checked.is_ok() {
                assert_eq!(out, input, "{algorithm}: flipped bit {bit} goes unnoticed");
            }
            out.clear();
            if unchecked.decompress(&flipped, input.len(), &mut out).is_ok() {
                assert_eq!(out.len(), input.len());
            }
            out.clear();
        }
    }
}

#[test]
fn a_claim_without_proof_costs_one_block() {
    // Ten thousand headers, each with the largest claim, over frames that are no frames.
    let block = b"ZS\x01\x04\0\0\xff\xff\xff\0\0\0\0";
    let record = block.repeat(10_000);
    let mut out = Vec::new();
    assert!(Decompressor::new().decompress(&record, 10_000 * MAX_BLOCK, &mut out).is_err());
    assert!(out.capacity() <= MAX_BLOCK);
}
