//! The anchor of an RNTuple, with a checksum that fits: a parsed anchor is written, and must be parsed to the same.
#![no_main]

use dataset::ntuple::{parse_anchor, write_anchor};
use libfuzzer_sys::fuzz_target;

/// Bytes of the byte count and the class version, which the checksum does not cover.
const FRAME: usize = 6;

fuzz_target!(|data: &[u8]| {
    let _ = parse_anchor(data);
    let Some(members) = data.get(FRAME..) else { return };
    let checksum = twox_hash::XxHash3_64::oneshot(members).to_be_bytes();
    let Ok(anchor) = parse_anchor(&[data, &checksum[..]].concat()) else { return };
    assert_eq!(parse_anchor(&write_anchor(&anchor).unwrap()).unwrap(), anchor);
});
