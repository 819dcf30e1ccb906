//! Data sets: the trees of one or more files as one table, and friends beside them. The module `open` opens them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use dataset::decode::ColumnPlan;
use dataset::tree::Tree;
use rootfile::{Error, Result, Source};

use crate::plan::inputs::Input;
use crate::plan::model::TablePlan;
use crate::table::column::Column;

/// The trees of one or more files, as one table.
pub struct Dataset {
    pub(super) inputs: Vec<Input>,
    pub(super) paths: Vec<PathBuf>,
    pub(super) path: String,
    pub(super) plan: TablePlan,
    pub(super) columns: Vec<ColumnPlan>,
    /// For each branch the index of its column in the plan.
    pub(super) places: Vec<Option<usize>>,
    pub(super) bytes: Vec<u64>,
    /// Friends that the user gave, by name, until friends are opened.
    pub(super) given: Mutex<Vec<(String, Self)>>,
    /// All friends, once they are opened.
    pub(super) friends: OnceLock<Friends>,
}

impl Dataset {
    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Replaces the files by other sources, including those of open friends: slower sources, or sources that count reads.
    /// Metadata are not read again.
    pub fn map_files(&mut self, other: impl Fn(Arc<dyn Source>) -> Arc<dyn Source>) {
        let friends = self.friends.get_mut().map(|friends| &mut friends.files);
        for file in self.plan.files.iter_mut().chain(friends.into_iter().flatten()) {
            *file = other(Arc::clone(file));
        }
    }

    /// Path of the tree in the first file.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Name and title of the tree.
    pub fn names(&self) -> (&str, &str) {
        (&self.plan.tree.named.name, &self.plan.tree.named.title)
    }

    /// Its columns.
    pub fn columns(&self) -> &[ColumnPlan] {
        &self.columns
    }

    /// The column of a number: first its own columns, then those of friends.
    pub fn column(&self, column: usize) -> Option<&ColumnPlan> {
        self.columns.get(column).or_else(|| self.friends.get()?.column(column))
    }

    /// The tree of the first file.
    pub fn tree(&self) -> &Tree {
        &self.plan.tree
    }

    /// For each branch of [`Dataset::tree`] the number of its column, if it has one.
    pub fn column_of_each_branch(&self) -> Vec<Option<usize>> {
        column_of_each(&(0..self.plan.tree.branches.len()), &self.columns, 0)
    }

    /// Entries of all files.
    pub fn entries(&self) -> u64 {
        self.plan.input_entries.iter().sum()
    }

    /// First entry of each cluster, and at the end the number of entries.
    pub fn clusters(&self) -> &[u64] {
        &self.plan.clusters.bounds
    }

    /// Bytes of a column's baskets before compression, by the metadata.
    pub fn bytes(&self, column: usize) -> u64 {
        let of_friend = || self.source(column).map_or(0, |source| source.source.tot_bytes);
        self.bytes.get(column).copied().unwrap_or_else(of_friend)
    }

    /// Bytes on disk of a column's baskets with some of these entries, and their number.
    pub fn stored(&self, column: usize, entries: &Range<u64>) -> (u64, u64) {
        let Some(source) = self.source(column) else { return (0, 0) };
        let pieces = source.source.pieces.get(source.source.overlapping(entries)).unwrap_or_default();
        (pieces.iter().map(|p| u64::from(p.nbytes)).sum(), pieces.len() as u64)
    }

    /// The reason why a column cannot be read, if its baskets are in an absent file. Other columns can be read.
    pub fn absent(&self, column: usize) -> Option<String> {
        let source = self.source(column)?;
        let files: BTreeSet<u32> = source.source.pieces.iter().filter(|p| !p.is_embedded()).map(|p| p.file).collect();
        let file =
            files.into_iter().filter_map(|file| self.files().get(file as usize)).find(|file| file.size() == 0)?;
        file.read_exact_at(0, &mut []).err().map(|e| e.to_string())
    }

    /// Whether a column has all entries of the data set.
    pub(crate) fn is_complete(&self, column: usize) -> bool {
        self.source(column).is_some_and(|source| source.source.covers(&(0..self.entries())))
    }

    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    pub(crate) fn entries_by_file(&self) -> &[u64] {
        &self.plan.input_entries
    }

    pub(crate) fn files(&self) -> &[Arc<dyn Source>] {
        self.friends.get().map_or(&self.plan.files, |friends| &friends.files)
    }

    pub(crate) fn metadata(&self) -> u64 {
        self.friends.get().map_or(self.plan.metadata, |friends| friends.metadata)
    }

    /// Makes it a friend of that name, whose branches and files are numbered behind `branches` and `files` others.
    pub(crate) fn join(&mut self, name: &str, branches: usize, files: u32) {
        self.plan.columns.iter_mut().for_each(|column| column.join(branches, files));
        self.columns = self.columns.iter().map(|column| column.of_friend(name, branches)).collect();
    }

    /// The data set or friend of a branch, and the branch's index there.
    fn owner(&self, branch: usize) -> Option<(&Self, usize)> {
        if branch < self.places.len() {
            return Some((self, branch));
        }
        let friend = self.friends.get()?.list.iter().find(|friend| friend.branches.contains(&branch))?;
        Some((friend.dataset()?, branch - friend.branches.start))
    }

    /// The source of a column.
    pub(crate) fn source(&self, column: usize) -> Option<&Column> {
        self.source_of_branch(self.column(column)?.branch())
    }

    pub(crate) fn source_of_branch(&self, branch: usize) -> Option<&Column> {
        let (dataset, branch) = self.owner(branch)?;
        dataset.plan.columns.get((*dataset.places.get(branch)?)?)
    }

    /// The decode plan of a branch, if it has one.
    pub(crate) fn column_of_branch(&self, branch: usize) -> Option<&ColumnPlan> {
        self.owner(branch)?.0.columns.iter().find(|column| column.branch() == branch)
    }
}

/// For each of these branches the number of its column, if it has one. Columns are numbered from `first`.
pub(crate) fn column_of_each(branches: &Range<usize>, plans: &[ColumnPlan], first: usize) -> Vec<Option<usize>> {
    let mut columns = vec![None; branches.len()];
    for (column, plan) in (first..).zip(plans) {
        if let Some(slot) = plan.branch().checked_sub(branches.start).and_then(|branch| columns.get_mut(branch)) {
            *slot = Some(column);
        }
    }
    columns
}

/// A friend of a data set.
pub struct Friend {
    pub(super) name: String,
    pub(super) dataset: Result<Dataset>,
    pub(super) columns: Range<usize>,
    pub(super) branches: Range<usize>,
}

impl Friend {
    /// The name that precedes its columns, before a dot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tree, or the error why it cannot be read with the data set.
    pub fn tree(&self) -> Result<&Tree> {
        match &self.dataset {
            Ok(dataset) => Ok(dataset.tree()),
            Err(why) => Err(Error::request(why.to_string())),
        }
    }

    /// The numbers of its columns.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// For each branch of its tree the number of its column, if it has one.
    pub fn column_of_each_branch(&self) -> Vec<Option<usize>> {
        let Ok(dataset) = &self.dataset else { return Vec::new() };
        column_of_each(&self.branches, dataset.columns(), self.columns.start)
    }

    pub(crate) fn dataset(&self) -> Option<&Dataset> {
        self.dataset.as_ref().ok()
    }
}

/// All friends of a data set.
pub(crate) struct Friends {
    pub list: Vec<Friend>,
    /// The files of the data set, then those of its friends.
    pub files: Vec<Arc<dyn Source>>,
    pub metadata: u64,
}

impl Friends {
    /// The column of a number.
    pub fn column(&self, column: usize) -> Option<&ColumnPlan> {
        let friend = self.list.iter().find(|friend| friend.columns.contains(&column))?;
        friend.dataset()?.columns().get(column - friend.columns.start)
    }
}
