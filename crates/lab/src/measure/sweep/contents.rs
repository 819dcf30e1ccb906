//! What is in a file that a job wrote: its largest table, and the layout that it has in fact.

use std::path::Path;

use dataset::layout::Layout;
use flow::inputs::Input;
use flow::read::Dataset;
use rootfile::{Error, Result, RootFile};

use crate::inspect;

/// The largest table of a file.
pub(super) struct Contents {
    /// Its path.
    pub tree: String,
    /// Its entries.
    pub entries: u64,
    /// Its baskets, or pages.
    pub baskets: u64,
    /// Its clusters.
    pub clusters: u64,
    /// Its bytes on disk, of baskets with keys or of pages, as `inspect` and the summaries of rewrites count them.
    pub compressed: u64,
}

impl Contents {
    /// Of a ROOT file.
    ///
    /// # Errors
    ///
    /// The file is no ROOT file, or has no table that can be read.
    pub fn of(path: &Path) -> Result<Self> {
        let report = inspect::inspect(&RootFile::open(path)?, &inspect::Options::default())?;
        let trees = report.newest().map(|tree| Self {
            tree: tree.path.clone(),
            entries: tree.entries,
            baskets: tree.baskets,
            clusters: tree.cluster_count,
            compressed: tree.zip_bytes,
        });
        let ntuples = report.newest_ntuples().map(|ntuple| Self {
            tree: ntuple.path.clone(),
            entries: ntuple.entries,
            baskets: ntuple.pages,
            clusters: ntuple.cluster_count,
            compressed: ntuple.zip_bytes,
        });
        let mut trouble = None;
        let mut largest: Option<Self> = None;
        for found in trees.chain(ntuples) {
            if largest.as_ref().is_some_and(|known| known.compressed >= found.compressed) {
                continue;
            }
            // Jobs read it.
            match Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(found.tree.clone()) }]) {
                Ok(_) => largest = Some(found),
                Err(e) => trouble = Some(e),
            }
        }
        let none = || match report.skipped.first() {
            Some(skipped) => Error::request(format!("{}: {}", skipped.object, skipped.reason)).file(path),
            None => Error::request("has neither a tree nor an RNTuple").file(path),
        };
        largest.ok_or_else(|| trouble.unwrap_or_else(none))
    }
}

/// The layout of a file as `inspect` finds it, if it is a ROOT file.
pub(super) fn layout(path: &Path) -> Option<Layout> {
    let file = RootFile::open(path).ok()?;
    inspect::layout(&file, &inspect::Options::default()).ok().map(|(layout, _)| layout)
}
