//! A table that is joined: its files, and what of them is read where columns move. Parquet files, and an RNTuple that is to be a tree, are
//! columns of a ROOT file beside the output first; keys are read of the files themselves.

use std::path::{Path, PathBuf};

use dataset::layout::Container;
use rootfile::{Error, ErrorKind, Follow, Result, public_path};

use crate::arrow::read::Dataset;
use crate::execute::progress::Progress;
use crate::keys::KeyedFile;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::rewrite::execute::rewrite;
use crate::rewrite::options::{ContentOptions, Options};
use crate::rewrite::summary::Summary;

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
    /// The first file that was named.
    first: PathBuf,
    /// Bytes of the files that were named.
    pub bytes: u64,
    /// Its first file, opened.
    pub dataset: Dataset,
    /// What is to be told of a container that it was given.
    pub notes: Vec<String>,
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
            let message = format!(
                "the table is called {} here and {} in {}; files of one table have it under one name",
                other.tree,
                first.tree,
                public_path(&first.path).display()
            );
            return Err(Error::differs(message).file(&other.path));
        }
        if Format::are_parquet(keyed.iter().map(|file| file.path.as_path()))? {
            return Self::rewritten(keyed, None, Some(container), scratch, options, progress);
        }
        Self::of(keyed, paths(keyed), first.tree.clone(), firsts(keyed), options.inputs.follow)
    }

    /// The same of a table in this container, or in that of the layout, with what else is in its files, in a file called so. `named` is the
    /// path of the table, if the files are named with one.
    pub fn rewritten(
        keyed: &[KeyedFile],
        named: Option<String>,
        container: Option<Container>,
        scratch: &Path,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let mut layout = options.layout.clone();
        layout.common.container = container.or(layout.common.container);
        let filter = options.content.filter.clone();
        let content = ContentOptions { filter, tree: named, ..ContentOptions::default() };
        let (inputs, budget) = (options.inputs, options.budget);
        let how = Options { layout, content, inputs, budget, overwrite: true, ..Options::default() };
        let Summary { tables, notes, .. } = rewrite(&paths(keyed), scratch, &how, progress)?;
        // Of Parquet files it gets its path here.
        let own = tables.iter().find(|table| keyed.iter().any(|file| file.tree == table.path));
        let tree = own.or(tables.first()).map(|table| table.path.clone()).unwrap_or_default();
        let all = keyed.iter().map(|file| file.entries).sum();
        let made = Self::of(keyed, vec![scratch.to_path_buf()], tree, vec![0, all], options.inputs.follow)?;
        Ok(Self { notes, ..made })
    }

    /// The table that some files have of those whose keys were read.
    fn of(
        keyed: &[KeyedFile],
        files: Vec<PathBuf>,
        tree: String,
        file_firsts: Vec<u64>,
        follow: Follow,
    ) -> Result<Self> {
        let path = files.first().cloned().unwrap_or_default();
        let dataset = Dataset::open_following(&[Input { path, tree: Some(tree.clone()) }], follow)?;
        let container = dataset.container().unwrap_or_default();
        let bytes = keyed.iter().map(|file| file.bytes).sum();
        let (first, firsts) = (keyed.first().map(|file| file.path.clone()).unwrap_or_default(), firsts(keyed));
        Ok(Self { files, tree, container, first, firsts, file_firsts, bytes, dataset, notes: Vec::new() })
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

    /// An error of the work on it, under a name that it has meanwhile: with its path, and its first file if no other is known. Where columns of
    /// its files differ, a merge takes them together.
    pub fn named(&self, error: Error, meanwhile: &str) -> Error {
        let error = match error.kind() {
            ErrorKind::Differs(_) => {
                let message =
                    error.message(|hint| format!("`basketry merge` with {hint}")).replace(meanwhile, &self.tree);
                let told = Error::differs(message);
                let told = error.path().into_iter().fold(told, |told, file| told.file(file));
                error.subject().into_iter().fold(told, |told, object| told.object(object))
            }
            _ => error,
        };
        error.object(&self.tree).file(&self.first)
    }

    /// The name without the folders of its path.
    pub fn name(&self) -> &str {
        self.tree.rsplit('/').next().unwrap_or_default()
    }
}

fn paths(keyed: &[KeyedFile]) -> Vec<PathBuf> {
    keyed.iter().map(|file| file.path.clone()).collect()
}

/// The number of the first entry of each file, and behind them that of all.
fn firsts(keyed: &[KeyedFile]) -> Vec<u64> {
    let mut found = vec![0];
    let mut all = 0;
    for file in keyed {
        all += file.entries;
        found.push(all);
    }
    found
}
