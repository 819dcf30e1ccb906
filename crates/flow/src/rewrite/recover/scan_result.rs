//! The result of a scan: the directories, trees, RNTuples and baskets that a file without lists of keys still has.

use std::collections::HashSet;
use std::sync::Arc;

use dataset::tree::Tree;
use rootfile::{Directory, Key, RootFile};

use super::report::{LostNtuple, RecoveredNtuple, Unreadable};

/// Names of trees and branches, each kept once: a file may have millions of baskets.
#[derive(Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    /// The name as all who asked for it have it.
    pub fn kept(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// A basket in the file.
pub(super) struct FoundBasket {
    pub tree: Arc<str>,
    pub branch: Arc<str>,
    pub seek: u64,
    pub seek_pdir: u64,
    pub nbytes: u32,
    /// Bytes before compression, its key included.
    pub raw: u64,
    pub entries: u64,
    /// Time at which it was written, packed as in `TDatime`.
    pub datime: u32,
    /// In files written by ROOT, the lower bits of the basket's number in its branch (`TBasket::WriteBuffer`).
    pub cycle: i16,
}

/// A tree, from a record of it or from the template file.
pub(super) struct FoundTree {
    /// Index of its directory.
    pub directory: usize,
    pub key: Key,
    pub tree: Tree,
    pub from_template: bool,
}

/// All that a scan finds in a file.
pub(super) struct ScanResult {
    pub file: RootFile,
    /// Directories, with the keys of all objects except trees.
    pub directories: Vec<Directory>,
    pub trees: Vec<FoundTree>,
    pub baskets: Vec<FoundBasket>,
    pub ntuples: Vec<RecoveredNtuple>,
    pub lost_ntuples: Vec<LostNtuple>,
    pub notes: Vec<String>,
    /// Records that cannot be read.
    pub unreadable: Vec<Unreadable>,
}
