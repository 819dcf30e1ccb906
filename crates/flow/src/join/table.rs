//! A table that is joined: its files, and what of them is read where columns move. Parquet files, and an RNTuple that is to be a tree, are
//! columns of a ROOT file beside the output first; keys are read of the files themselves.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::glob::NameFilter;
use dataset::layout::Container;
use dataset::table::catalog::container_of;
use rootfile::{Error, FilePool, Follow, OPEN_FILES, Result, public_path};

use super::names::{columns_of, kept_columns_of};
use crate::arrow::read::{Dataset, find_table, mixed_containers};
use crate::execute::progress::Progress;
use crate::keys::KeyedFile;
use crate::plan::format::Format;
use crate::plan::options::PlanOptions;
use crate::plan::request::TableInput;
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
    /// The names of its columns, whichever of its files have them.
    pub columns: Vec<String>,
    /// Those of the columns that are asked for, as its files are joined.
    pub kept: Vec<String>,
    /// The bounds of its clusters. No cluster has entries of two files.
    pub clusters: Vec<u64>,
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
        Self::of(keyed, paths(keyed), first.tree.clone(), firsts(keyed), options)
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
        let (plan, inputs, budget) = (options.plan, options.inputs, options.budget);
        let how = Options { layout, content, plan, inputs, budget, overwrite: true, ..Options::default() };
        let Summary { tables, notes, .. } = rewrite(&paths(keyed), scratch, &how, progress)?;
        // Of Parquet files it gets its path here.
        let own = tables.iter().find(|table| keyed.iter().any(|file| file.tree == table.path));
        let tree = own.or(tables.first()).map(|table| table.path.clone()).unwrap_or_default();
        let all = keyed.iter().map(|file| file.entries).sum();
        let made = Self::of(keyed, vec![scratch.to_path_buf()], tree, vec![0, all], options)?;
        Ok(Self { notes, ..made })
    }

    /// The table that some files have of those whose keys were read.
    fn of(
        keyed: &[KeyedFile],
        files: Vec<PathBuf>,
        tree: String,
        file_firsts: Vec<u64>,
        options: &Options,
    ) -> Result<Self> {
        let (filter, inputs) = (&options.content.filter, inputs_of(&files, &tree, options.inputs.follow)?);
        let joined = Dataset::of_trees(&inputs, &tree, filter, options.plan)?;
        let kept = kept_columns_of(&joined, &tree, filter);
        let columns = if filter.keeps_all() { kept.clone() } else { all_columns(&inputs, &tree)? };
        let container = joined.container().unwrap_or_default();
        let mut clusters = joined.clusters().to_vec();
        clusters.extend(&file_firsts);
        clusters.sort_unstable();
        clusters.dedup();
        let bytes = keyed.iter().map(|file| file.bytes).sum();
        let (first, firsts) = (keyed.first().map(|file| file.path.clone()).unwrap_or_default(), firsts(keyed));
        let notes = Vec::new();
        Ok(Self { files, tree, container, firsts, file_firsts, first, bytes, columns, kept, clusters, notes })
    }

    /// Its entries.
    pub fn entries(&self) -> u64 {
        self.firsts.last().copied().unwrap_or(0)
    }

    /// An error of the work on it: with its path, and its first file if no other is known.
    pub fn named(&self, error: Error) -> Error {
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

/// The tables of this path in some files, all of the container of the first.
fn inputs_of(files: &[PathBuf], tree: &str, follow: Follow) -> Result<Vec<TableInput>> {
    let (pool, mut first) = (FilePool::following(OPEN_FILES, follow), None);
    let of_file = |(number, path): (usize, &PathBuf)| {
        let file = Arc::new(pool.open(path)?);
        let (_, key) = find_table(&file, Some(tree))?;
        let container = container_of(&file, &key.class).unwrap_or_default();
        match *first.get_or_insert(container) == container {
            true => Ok((number, file, key)),
            false => Err(mixed_containers(container).object(tree).file(path)),
        }
    };
    files.iter().enumerate().map(of_file).collect()
}

/// The names of the columns that any of some tables has.
fn all_columns(inputs: &[TableInput], tree: &str) -> Result<Vec<String>> {
    let (mut all, mut known) = (Vec::new(), HashSet::new());
    for input in inputs {
        let (every, one) = (NameFilter::default(), std::slice::from_ref(input));
        let columns = columns_of(&Dataset::of_trees(one, tree, &every, PlanOptions::default())?);
        all.extend(columns.into_iter().filter(|column| known.insert(column.clone())));
    }
    Ok(all)
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
