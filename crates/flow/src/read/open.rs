//! Data sets: the trees of one or more files, as one table.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dataset::decode::{self, ColumnPlan};
use dataset::glob::NameFilter;
use dataset::layout::Layout;
use dataset::ntuple::instead_of_tree;
use dataset::tree::{Tree, is_tree_class};
use rootfile::streamer::StreamerInfos;
use rootfile::{Error, FilePool, Key, OPEN_FILES, Result, RootFile, Source};

use super::friends::{self, Friend, Friends};
use super::learn::learn;
use crate::column::Column;
use crate::inputs::Input;
use crate::options::{Absent, Pack, Schema};
use crate::plan::{TablePlan, TableRequest, plan_table};

/// The trees of one or more files, as one table.
pub struct Dataset {
    inputs: Vec<Input>,
    paths: Vec<PathBuf>,
    path: String,
    plan: TablePlan,
    columns: Vec<ColumnPlan>,
    /// For each branch its place among the plan's columns.
    places: Vec<Option<usize>>,
    bytes: Vec<u64>,
    /// Friends that the user gave, by name, until the others are opened.
    given: Mutex<Vec<(String, Self)>>,
    /// All friends, once somebody asked for them.
    friends: OnceLock<Friends>,
}

impl Dataset {
    /// Opens the trees that are meant: `FILE`, which must have one tree, or `FILE:TREE`. All must have the same
    /// branches.
    pub fn open(inputs: &[Input]) -> Result<Self> {
        let pool = FilePool::new(OPEN_FILES);
        let mut trees = Vec::with_capacity(inputs.len());
        let mut path = String::new();
        for (number, input) in inputs.iter().enumerate() {
            let file = Arc::new(pool.open(&input.path)?);
            let (found, key) = find_tree(&file, input.tree.as_deref())?;
            if number == 0 {
                path = found;
            }
            trees.push((number, file, key));
        }
        Self::of(inputs.to_vec(), &trees, &path, (&NameFilter::default(), Schema::Strict))
    }

    /// Some branches of trees that were found before, all of this path.
    pub(crate) fn of_trees(
        trees: &[(usize, Arc<RootFile>, Key)],
        path: &str,
        filter: &NameFilter,
        schema: Schema,
    ) -> Result<Self> {
        let input = |file: &RootFile| Input { path: file.name().to_owned(), tree: Some(path.to_owned()) };
        let inputs = trees.iter().map(|(_, file, _)| input(file)).collect();
        Self::of(inputs, trees, path, (filter, schema))
    }

    fn of(
        inputs: Vec<Input>,
        trees: &[(usize, Arc<RootFile>, Key)],
        path: &str,
        (filter, schema): (&NameFilter, Schema),
    ) -> Result<Self> {
        let mut infos = StreamerInfos::new();
        trees.iter().for_each(|(_, file, _)| infos.extend(file.infos()));
        let plan = plan_table(&TableRequest {
            inputs: trees,
            path,
            layout: &Layout::default(),
            filter,
            entries: None,
            pack: Pack::No,
            schema,
            absent: Absent::Fail,
        })?;
        let mut places = vec![None; plan.tree.branches.len()];
        for (place, column) in plan.columns.iter().enumerate() {
            if let Some(slot) = places.get_mut(column.branch) {
                *slot = Some(place);
            }
        }
        let source = |column: &ColumnPlan| plan.columns.get((*places.get(column.branch())?)?);
        let columns = decode::columns(&plan.tree, &infos)
            .into_iter()
            .map(|column| {
                let source = source(&column);
                learn(column, &plan.tree, &infos, &plan.files, source)
            })
            .collect::<Vec<_>>();
        let paths = inputs.iter().map(|i| i.path.clone()).collect();
        let (path, given, friends) = (path.to_owned(), Mutex::default(), OnceLock::new());
        let mut dataset = Self { inputs, paths, path, plan, columns, places, bytes: Vec::new(), given, friends };
        dataset.bytes = (0..dataset.columns.len()).map(|i| dataset.source(i).map_or(0, |c| c.tot_bytes)).collect();
        Ok(dataset)
    }

    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The data set with these trees for friends, as if its own named them: their entries go with its own, and their
    /// columns can be read beside its own. Without a name a friend has that of its tree.
    pub fn with_friends(self, given: &[(Option<String>, Vec<Input>)]) -> Result<Self> {
        let open = |(name, inputs): &(Option<String>, Vec<Input>)| {
            let friend = friends::open(&self, inputs, false)?;
            Ok((name.clone().unwrap_or_else(|| friend.names().0.to_owned()), friend))
        };
        let given = given.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(Self { given: Mutex::new(given), friends: OnceLock::new(), ..self })
    }

    /// The friends, which are opened when this is first called: those given, then those that the trees name. A name
    /// without that of a friend before it means a column of the data set, or else of the first friend that has it.
    pub fn friends(&self) -> &[Friend] {
        let given = || std::mem::take(&mut *self.given.lock().unwrap_or_else(PoisonError::into_inner));
        &self.friends.get_or_init(|| Friends::open(self, given())).list
    }

    /// Puts other sources in the place of the files, those of friends that are open included: slower ones, or such as count
    /// what is read. What was read when the data set was opened is not read again.
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

    /// The column of that number: its own, or behind those one of a friend's.
    pub fn column(&self, column: usize) -> Option<&ColumnPlan> {
        self.columns.get(column).or_else(|| self.friends.get()?.column(column))
    }

    /// The tree, as the first file has it.
    pub fn tree(&self) -> &Tree {
        &self.plan.tree
    }

    /// For each branch of [`Dataset::tree`] the column that it is, if it is one.
    pub fn column_of_each_branch(&self) -> Vec<Option<usize>> {
        column_of_each(&(0..self.plan.tree.branches.len()), &self.columns, 0)
    }

    /// Entries of all files.
    pub fn entries(&self) -> u64 {
        self.plan.input_entries.iter().sum()
    }

    /// First entry of each cluster, and last the number of entries.
    pub fn clusters(&self) -> &[u64] {
        &self.plan.bounds
    }

    /// Bytes of a column's baskets before compression, as the trees say.
    pub fn bytes(&self, column: usize) -> u64 {
        let of_friend = || self.source(column).map_or(0, |source| source.tot_bytes);
        self.bytes.get(column).copied().unwrap_or_else(of_friend)
    }

    /// Bytes on disk of a column's baskets that hold some of these entries, and how many there are.
    pub fn stored(&self, column: usize, entries: &Range<u64>) -> (u64, u64) {
        let Some(source) = self.source(column) else { return (0, 0) };
        let pieces = source.pieces.get(source.overlapping(entries)).unwrap_or_default();
        (pieces.iter().map(|p| u64::from(p.nbytes)).sum(), pieces.len() as u64)
    }

    /// Why a column cannot be read, if its baskets lie in another file that is absent. The other columns can.
    pub fn absent(&self, column: usize) -> Option<String> {
        let source = self.source(column)?;
        let files: BTreeSet<u32> = source.pieces.iter().filter(|p| !p.is_embedded()).map(|p| p.file).collect();
        let file =
            files.into_iter().filter_map(|file| self.files().get(file as usize)).find(|file| file.size() == 0)?;
        file.read_exact_at(0, &mut []).err().map(|e| e.to_string())
    }

    /// Whether a column has all entries of the data set.
    pub(crate) fn is_complete(&self, column: usize) -> bool {
        self.source(column).is_some_and(|source| source.covers(&(0..self.entries())))
    }

    pub(super) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    pub(super) fn entries_by_file(&self) -> &[u64] {
        &self.plan.input_entries
    }

    pub(super) fn files(&self) -> &[Arc<dyn Source>] {
        self.friends.get().map_or(&self.plan.files, |friends| &friends.files)
    }

    pub(super) fn metadata(&self) -> u64 {
        self.friends.get().map_or(self.plan.metadata, |friends| friends.metadata)
    }

    /// Becomes a friend of that name, whose branches and files have numbers behind so many others.
    pub(super) fn join(&mut self, name: &str, branches: usize, files: u32) {
        self.plan.columns.iter_mut().for_each(|column| column.join(branches, files));
        self.columns = self.columns.iter().map(|column| column.of_friend(name, branches)).collect();
    }

    /// Whose branch it is, and its number there.
    fn owner(&self, branch: usize) -> Option<(&Self, usize)> {
        if branch < self.places.len() {
            return Some((self, branch));
        }
        let friend = self.friends.get()?.list.iter().find(|friend| friend.branches.contains(&branch))?;
        Some((friend.dataset()?, branch - friend.branches.start))
    }

    /// Where a column's entries lie.
    pub(crate) fn source(&self, column: usize) -> Option<&Column> {
        self.source_of_branch(self.column(column)?.branch())
    }

    pub(super) fn source_of_branch(&self, branch: usize) -> Option<&Column> {
        let (dataset, branch) = self.owner(branch)?;
        dataset.plan.columns.get((*dataset.places.get(branch)?)?)
    }

    /// The column that a branch is, if it is one.
    pub(super) fn column_of_branch(&self, branch: usize) -> Option<&ColumnPlan> {
        self.owner(branch)?.0.columns.iter().find(|column| column.branch() == branch)
    }
}

/// For each of these branches the number of the column that it is, if it is one; columns are counted from `first` on.
pub(super) fn column_of_each(branches: &Range<usize>, plans: &[ColumnPlan], first: usize) -> Vec<Option<usize>> {
    let mut columns = vec![None; branches.len()];
    for (column, plan) in (first..).zip(plans) {
        if let Some(slot) = plan.branch().checked_sub(branches.start).and_then(|branch| columns.get_mut(branch)) {
            *slot = Some(column);
        }
    }
    columns
}

/// Path and key of a tree: the one that is named, or the only one.
pub(crate) fn find_tree(file: &RootFile, wanted: Option<&str>) -> Result<(String, Key)> {
    let (wanted, cycle) = match wanted.and_then(|w| w.rsplit_once(';')) {
        Some((path, cycle)) => (Some(path), cycle.parse::<i16>().ok()),
        None => (wanted, None),
    };
    let walk = file.walk();
    let mut trees: Vec<(String, &Key)> = Vec::new();
    for directory in &walk.directories {
        for key in directory.keys.iter().filter(|key| is_tree_class(file, &key.class)) {
            let path = directory.path_of(&key.name);
            // The newest cycle of a name comes first.
            if cycle.is_none_or(|c| c == key.cycle) && trees.iter().all(|(known, _)| *known != path) {
                trees.push((path, key));
            }
        }
    }
    let named = |e: Error| e.file(file.name());
    let found = match wanted {
        Some(wanted) => trees.iter().find(|(path, _)| path == wanted.trim_matches('/')),
        None => trees.first().filter(|_| trees.len() == 1),
    };
    if let Some((path, key)) = found {
        return Ok((path.clone(), (*key).clone()));
    }
    let meant = |path: &str| wanted.is_none_or(|wanted| path == wanted.trim_matches('/'));
    if let Some(error) = instead_of_tree(file, meant).filter(|_| trees.is_empty() || wanted.is_some()) {
        return Err(error);
    }
    let names = trees.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    Err(named(Error::request(match (wanted, trees.is_empty()) {
        (_, true) => "has no tree".to_owned(),
        (Some(wanted), _) => format!("has no tree {wanted}; it has {names}"),
        (None, _) => format!("has several trees: name one of {names}, as in FILE:TREE"),
    })))
}
