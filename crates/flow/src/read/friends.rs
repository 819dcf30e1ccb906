//! Friends of a data set: trees whose entries go with its own, one by one, and whose columns can be read beside its own.
//! Friends that are looked up by an index are refused, and friends of friends are not looked for.
//!
//! A friend's branches, columns and files get numbers behind those of the data set and of the friends before it, so that
//! whatever reads a column need not know whose it is.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::decode::ColumnPlan;
use dataset::tree::{FriendName, Tree, read_tree};
use rootfile::{Error, Result, RootFile, Source};

use super::open::{Dataset, column_of_each, find_tree};
use crate::inputs::Input;

/// A friend of a data set.
pub struct Friend {
    name: String,
    dataset: Result<Dataset>,
    columns: Range<usize>,
    pub(super) branches: Range<usize>,
}

impl Friend {
    /// The name by which its columns are asked for, before a dot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tree, or why it cannot be read beside the data set.
    pub fn tree(&self) -> Result<&Tree> {
        match &self.dataset {
            Ok(dataset) => Ok(dataset.tree()),
            Err(why) => Err(Error::request(why.to_string())),
        }
    }

    /// The numbers of its columns among those of the data set.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// For each branch of its tree the column that it is, if it is one.
    pub fn column_of_each_branch(&self) -> Vec<Option<usize>> {
        let Ok(dataset) = &self.dataset else { return Vec::new() };
        column_of_each(&self.branches, dataset.columns(), self.columns.start)
    }

    pub(super) fn dataset(&self) -> Option<&Dataset> {
        self.dataset.as_ref().ok()
    }
}

/// All friends of a data set.
pub(super) struct Friends {
    pub list: Vec<Friend>,
    /// The files of the data set, then those of its friends.
    pub files: Vec<Arc<dyn Source>>,
    pub metadata: u64,
}

impl Friends {
    /// Takes in the friends that the user gave, and opens those that the trees name.
    pub fn open(dataset: &Dataset, given: Vec<(String, Dataset)>) -> Self {
        let mut columns = dataset.columns().len();
        let mut branches = dataset.tree().branches.len();
        let mut friends = Self { list: Vec::new(), files: dataset.files().to_vec(), metadata: dataset.metadata() };
        let given = given.into_iter().map(|(name, friend)| (name, Ok(friend)));
        let named = named(dataset).map(|(name, inputs)| (name, inputs.and_then(|inputs| open(dataset, &inputs, true))));
        for (name, found) in given.chain(named) {
            let found = found.and_then(|mut friend| {
                let files = u32::try_from(friends.files.len()).map_err(|_| Error::request("too many files"))?;
                friends.files.extend_from_slice(friend.files());
                friends.metadata += friend.metadata();
                friend.join(&name, branches, files);
                Ok(friend)
            });
            let size = |of: fn(&Dataset) -> usize| found.as_ref().map_or(0, of);
            let (from, above) = (columns, branches);
            columns += size(|friend| friend.columns().len());
            branches += size(|friend| friend.tree().branches.len());
            let dataset = found.map_err(|e| e.object(format!("friend {name}")));
            friends.list.push(Friend { name, dataset, columns: from..columns, branches: above..branches });
        }
        friends
    }

    /// The column of that number.
    pub fn column(&self, column: usize) -> Option<&ColumnPlan> {
        let friend = self.list.iter().find(|friend| friend.columns.contains(&column))?;
        friend.dataset()?.columns().get(column - friend.columns.start)
    }
}

/// Friends as the trees of a data set name them.
fn named(dataset: &Dataset) -> impl Iterator<Item = (String, Result<Vec<Input>>)> {
    let first = dataset.tree().friends();
    let others = match first.is_empty() {
        true => Ok(Vec::new()),
        false => dataset.inputs().iter().skip(1).map(of_file).collect::<Result<Vec<_>>>(),
    };
    let inputs = dataset.inputs().to_vec();
    first.into_iter().enumerate().map(move |(place, friend)| {
        let of_all = others.as_ref().map_err(|e| Error::request(e.to_string())).and_then(|others| {
            let all = std::iter::once(Some(&friend)).chain(others.iter().map(|names| names.get(place)));
            inputs.iter().zip(all).map(|(input, found)| place_of(input, found, &friend.name)).collect()
        });
        (friend.name, of_all)
    })
}

/// The friends that the tree of an input names.
fn of_file(input: &Input) -> Result<Vec<FriendName>> {
    let file = RootFile::open(&input.path)?;
    let (_, key) = find_tree(&file, input.tree.as_deref())?;
    Ok(read_tree(&file, &key)?.friends())
}

/// Where a friend is.
fn place_of(input: &Input, found: Option<&FriendName>, name: &str) -> Result<Input> {
    let missing = || Error::request("is not a friend of all trees that are read as one").file(&input.path);
    let found = found.filter(|found| found.name == name).ok_or_else(missing)?;
    let tree = Some(found.tree.trim_start_matches('/').to_owned());
    Ok(Input { path: path_of(&input.path, &found.file)?, tree })
}

/// The file that a tree's own file calls by a name: it is looked for beside that one, and from where the program was
/// started, as ROOT does.
fn path_of(own: &Path, name: &str) -> Result<PathBuf> {
    let name = name.strip_prefix("file:").unwrap_or(name);
    if name.is_empty() {
        return Ok(own.to_owned());
    }
    if name.contains("://") {
        return Err(Error::unsupported(format!("is in {name}: only files of this machine are read")));
    }
    let beside = own.parent().unwrap_or(Path::new("")).join(name);
    Ok(if beside.exists() { beside } else { name.into() })
}

/// Opens a friend, whose entries have to go with those of the data set; `by_file` those of each file, too.
pub(super) fn open(dataset: &Dataset, inputs: &[Input], by_file: bool) -> Result<Dataset> {
    let friend = Dataset::open(inputs)?;
    if friend.tree().tree_index.is_some() {
        return Err(Error::unsupported(format!(
            "its entries are looked up by its index, which is not supported: read {} by itself, and join the two by the \
             columns of the index",
            friend.path()
        )));
    }
    let (ours, theirs) = (dataset.entries_by_file(), friend.entries_by_file());
    let (all, there) = (dataset.entries(), friend.entries());
    if by_file && ours.len() > 1 && ours != theirs {
        return Err(Error::request("its files have other numbers of entries than those that name them"));
    }
    if there < all {
        return Err(Error::request(format!(
            "{} has {there} entries, where the tree that it is to go with has {all}",
            friend.path()
        )));
    }
    Ok(friend)
}
