//! The corpus of real files and its oracle, where they are.
#![allow(dead_code, reason = "not every test uses all of it")]
#![allow(clippy::unwrap_used, reason = "a test")]

pub mod baskets;
pub mod wholes;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The corpus beside the checkout, or at `BASKETRY_CORPUS`.
pub fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("BASKETRY_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    folder.join("oracle").is_dir().then_some(folder)
}

/// The lines of one file's oracle.
pub fn lines(path: &Path) -> Vec<Value> {
    let packed = std::fs::read(path).unwrap();
    let size = u32::from_le_bytes(packed[packed.len() - 4..].try_into().unwrap());
    let mut text = vec![0; size as usize];
    let n = libdeflater::Decompressor::new().gzip_decompress(&packed, &mut text).unwrap();
    text[..n]
        .split(|&b| b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|l| serde_json::from_slice(l).unwrap())
        .collect()
}

/// A text of the oracle's; empty if it is not there.
pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}
