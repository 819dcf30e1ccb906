//! A table that is joined: its files, and what of them is read where columns move. Parquet files are columns of a ROOT file beside the
//! output first; keys are read of the files themselves.

use std::path::{Path, PathBuf};

use dataset::layout::Container;
use rootfile::{Error, Result};

use crate::arrow::read::Dataset;
use crate::execute::progress::Progress;
use crate::keys::KeyedFile;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::rewrite::execute::rewrite;
use crate::rewrite::options::{ContentOptions, Options};

/// A table that is joined.
pub(super) struct SideTable {
    /// The files with its columns.
    pub files: Vec<PathBuf>,
    /// Its path in them.
    pub tree: String,
    pub container: Container,
    /// The number of the first entry of each file that was named, and behind them that of all.
    pub firsts: Vec<u64>,
    /// The same for the files with its columns.
    pub file_firsts: Vec<u64>,
    /// Bytes of the files that were named.
    pub bytes: u64,
    /// Its first file, opened.
    pub dataset: Dataset,
}

impl SideTable {
    /// Opens a table of some files whose keys were read. Parquet files get this container, in a file called so.
    pub fn open(
        keyed: &[KeyedFile],
        container: Container,
        scratch: &Path,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let first = keyed.first().ok_or_else(|| Error::request("no input"))?;
        if let Some(other) = keyed.iter().find(|file| file.tree != first.tree) {
            let message =
                format!("the table is called {} here and {} in {}", other.tree, first.tree, first.path.display());
            return Err(Error::differs(message).file(&other.path));
        }
        let firsts = firsts(keyed.iter().map(|file| file.entries));
        let bytes = keyed.iter().map(|file| file.bytes).sum();
        let paths: Vec<PathBuf> = keyed.iter().map(|file| file.path.clone()).collect();
        let (files, tree, file_firsts) = match Format::are_parquet(paths.iter().map(PathBuf::as_path))? {
            false => (paths, first.tree.clone(), firsts.clone()),
            true => {
                let mut layout = options.layout.clone();
                layout.common.container = Some(container);
                let content = ContentOptions { filter: options.content.filter.clone(), ..ContentOptions::default() };
                let (inputs, budget) = (options.inputs, options.budget);
                let how = Options { layout, content, inputs, budget, overwrite: true, ..Options::default() };
                let summary = rewrite(&paths, scratch, &how, progress)?;
                let tree = summary.tables.first().map(|table| table.path.clone()).unwrap_or_default();
                (vec![scratch.to_path_buf()], tree, vec![0, firsts.last().copied().unwrap_or(0)])
            }
        };
        let path = files.first().cloned().unwrap_or_default();
        let dataset = Dataset::open_following(&[Input { path, tree: Some(tree.clone()) }], options.inputs.follow)?;
        let container = dataset.container().unwrap_or(container);
        Ok(Self { files, tree, container, firsts, file_firsts, bytes, dataset })
    }

    /// Its entries.
    pub fn entries(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// The bounds of its clusters. No cluster has entries of two files.
    pub fn clusters(&self, options: &Options) -> Result<Vec<u64>> {
        let input = |path: &PathBuf| Input { path: path.clone(), tree: Some(self.tree.clone()) };
        let inputs: Vec<Input> = self.files.iter().map(input).collect();
        let mut bounds = Dataset::open_following(&inputs, options.inputs.follow)?.clusters().to_vec();
        bounds.extend(&self.file_firsts);
        bounds.sort_unstable();
        bounds.dedup();
        Ok(bounds)
    }

    /// The name without the folders of its path.
    pub fn name(&self) -> &str {
        self.tree.rsplit('/').next().unwrap_or_default()
    }
}

/// The number of the first entry of each file, and behind them that of all.
fn firsts(entries: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut found = vec![0];
    let mut all = 0;
    for entries in entries {
        all += entries;
        found.push(all);
    }
    found
}
