//! The record of streamer infos: a parsed record is written, and must be parsed to the same.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use rootfile::streamer::{parse_record, write_record};

/// Bytes of the key that the seeds' records had: the tags in them count from there.
const KEYLEN: usize = 64;

fuzz_target!(|data: &[u8]| {
    let Ok(infos) = parse_record(data, KEYLEN) else { return };
    let infos: Vec<_> = infos.into_iter().map(Arc::new).collect();
    let again = parse_record(&write_record(&infos, KEYLEN), KEYLEN).unwrap();
    assert!(infos.iter().map(|i| &**i).eq(&again), "{infos:?}\n{again:?}");
});
