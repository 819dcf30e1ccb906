//! What is in a file that a job wrote: its largest table, and the layout that it has in fact.

use std::path::Path;

use dataset::layout::Layout;
use dataset::table::catalog::{by_path, tables};
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
    /// Its bytes on disk.
    pub compressed: u64,
}

impl Contents {
    /// Of a ROOT file.
    ///
    /// # Errors
    ///
    /// The file is no ROOT file, or has no table that can be read.
    pub fn of(path: &Path) -> Result<Self> {
        let file = RootFile::open(path)?;
        let names: Vec<String> = by_path(&tables(&file)).into_iter().map(|table| table.path.clone()).collect();
        let mut largest: Option<Self> = None;
        let mut trouble = None;
        for name in names {
            match Self::table(path, name) {
                Ok(found) if largest.as_ref().is_none_or(|known| known.compressed < found.compressed) => {
                    largest = Some(found);
                }
                Ok(_) => {}
                Err(e) => trouble = Some(e),
            }
        }
        largest.ok_or_else(|| trouble.unwrap_or_else(|| Error::request("has neither a tree nor an RNTuple").file(path)))
    }

    fn table(path: &Path, tree: String) -> Result<Self> {
        let dataset = Dataset::open(&[Input { path: path.to_path_buf(), tree: Some(tree.clone()) }])?;
        let range = 0..dataset.entries();
        let stored = dataset.default_columns().into_iter().map(|column| dataset.stored(column, &range));
        let (compressed, baskets) =
            stored.fold((0u64, 0u64), |(a, b), (bytes, count)| (a.saturating_add(bytes), b.saturating_add(count)));
        let clusters = dataset.clusters().len().saturating_sub(1) as u64;
        Ok(Self { tree, entries: dataset.entries(), baskets, clusters, compressed })
    }
}

/// The layout of a file as `inspect` finds it, if it is a ROOT file.
pub(super) fn layout(path: &Path) -> Option<Layout> {
    let file = RootFile::open(path).ok()?;
    inspect::layout(&file, &inspect::Options::default()).ok().map(|(layout, _)| layout)
}
