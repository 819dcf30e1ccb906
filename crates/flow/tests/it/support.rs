//! What several of these tests need: the files of the corpus, a folder for outputs, and a request for a whole tree.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use flow::read::{Dataset, Request};
use flow::{Budget, unwatched};

/// A small file whose values are known, which the self-check of `readspeed` makes as well.
#[path = "../../../lab/src/synthetic/sample.rs"]
pub mod sample;

/// The folder of the corpus: beside the checkout, or at `BASKETRY_CORPUS`.
pub fn corpus_folder() -> PathBuf {
    std::env::var_os("BASKETRY_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from)
}

/// The corpus' files of at most `most` bytes (all of them if `BASKETRY_FULL` is set), in order. Says so if there is no
/// corpus.
pub fn corpus(most: u64) -> Option<Vec<PathBuf>> {
    let Ok(files) = std::fs::read_dir(corpus_folder().join("files")) else {
        eprintln!("skipped: no corpus beside the checkout, and BASKETRY_CORPUS is not set");
        return None;
    };
    let most = if std::env::var_os("BASKETRY_FULL").is_some() { u64::MAX } else { most };
    let fits = |file: &std::fs::DirEntry| file.metadata().is_ok_and(|m| m.len() <= most);
    let mut files: Vec<PathBuf> = files.filter_map(Result::ok).filter(fits).map(|file| file.path()).collect();
    files.sort();
    Some(files)
}

/// A temporary folder.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// All columns and entries, on one thread.
pub fn all(dataset: &Dataset, memory: u64) -> Request<'static> {
    Request {
        columns: (0..dataset.number_of_columns()).collect(),
        entries: 0..dataset.entries(),
        selection: None,
        budget: Budget::new(memory, 1),
        progress: &unwatched,
    }
}
