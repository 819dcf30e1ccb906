//! The corpus of real files and its oracle, where they are.
#![allow(clippy::unwrap_used, reason = "a test")]

pub mod baskets;
pub mod digest;
pub mod logical;

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The corpus beside the checkout, or at `BASKETRY_CORPUS`. Says so if there is none.
pub fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("BASKETRY_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let found = folder.join("oracle").is_dir();
    if !found {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
    }
    found.then_some(folder)
}

/// The corpus' files with their names, in order; those whose name has `BASKETRY_ONLY` in it, if that is set. Says so if
/// there is no corpus.
pub fn files() -> Option<Vec<(PathBuf, String)>> {
    let corpus = corpus()?;
    let only = std::env::var_os("BASKETRY_ONLY").map(|only| only.to_string_lossy().into_owned()).unwrap_or_default();
    let paths = std::fs::read_dir(corpus.join("files")).unwrap().map(|file| file.unwrap().path());
    let named = paths.map(|path| (path.clone(), path.file_name().unwrap().to_string_lossy().into_owned()));
    let mut files: Vec<(PathBuf, String)> = named.filter(|(_, name)| name.contains(&only)).collect();
    files.sort();
    Some(files)
}

/// The lines of the oracle for a file of that name.
pub fn oracle(name: &str) -> Vec<Value> {
    lines(&corpus().unwrap().join("oracle").join(format!("{name}.jsonl.gz")))
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
