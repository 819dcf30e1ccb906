//! Friends of a data set: trees whose entries align with its own, and whose columns can be read beside its own. Friends with
//! an index are refused, and friends of friends are not opened.
//!
//! A friend's branches, columns and files get numbers behind those of the data set and of earlier friends, so that readers
//! of a column need not know its tree.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use dataset::tree::{FriendName, Tree, read_tree};
use rootfile::{Error, Result, RootFile, beside};

use super::dataset::{Dataset, Friend, Friends};
use super::open::find_table;
use crate::plan::inputs::Input;

impl Dataset {
    /// Adds trees as friends, as if the data set's own tree named them. A friend without a name gets the name of its tree.
    pub fn with_friends(self, given: &[(Option<String>, Vec<Input>)]) -> Result<Self> {
        let open = |(name, inputs): &(Option<String>, Vec<Input>)| {
            let friend = open(&self, inputs, false)?;
            Ok((name.clone().unwrap_or_else(|| friend.names().0.to_owned()), friend))
        };
        if !given.is_empty() && self.tree().is_none() {
            return Err(Error::unsupported("an RNTuple cannot have friends; read both, and join their arrays")
                .object(self.path));
        }
        let given = given.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(Self { given: Mutex::new(given), friends: OnceLock::new(), ..self })
    }

    /// The friends, opened lazily at the first call: first those given, then those that the trees name. A column name without
    /// a friend's name means a column of the data set, or else of the first friend that has it.
    pub fn friends(&self) -> &[Friend] {
        let given = || std::mem::take(&mut *self.given.lock().unwrap_or_else(PoisonError::into_inner));
        &self.friends.get_or_init(|| Friends::open(self, given())).list
    }
}

impl Friends {
    /// Adds the friends that the user gave, and opens those that the trees name.
    pub fn open(dataset: &Dataset, given: Vec<(String, Dataset)>) -> Self {
        let mut columns = dataset.columns().len();
        let mut nodes = dataset.schema().len();
        let mut friends = Self { list: Vec::new(), files: dataset.files().to_vec(), metadata: dataset.metadata() };
        let given = given.into_iter().map(|(name, friend)| (name, Ok(friend)));
        let named = named(dataset).map(|(name, inputs)| (name, inputs.and_then(|inputs| open(dataset, &inputs, true))));
        for (name, found) in given.chain(named) {
            let found = found.and_then(|mut friend| {
                let files = u32::try_from(friends.files.len()).map_err(|_| Error::request("too many files"))?;
                friends.files.extend_from_slice(friend.files());
                friends.metadata += friend.metadata();
                friend.join(&name, nodes, files);
                Ok(friend)
            });
            let size = |of: fn(&Dataset) -> usize| found.as_ref().map_or(0, of);
            let (from, above) = (columns, nodes);
            columns += size(|friend| friend.columns().len());
            nodes += size(|friend| friend.schema().len());
            let dataset = found.map_err(|e| e.object(format!("friend {name}")));
            friends.list.push(Friend { name, dataset, columns: from..columns, nodes: above..nodes });
        }
        friends
    }
}

/// The friends that the trees of a data set name.
fn named(dataset: &Dataset) -> impl Iterator<Item = (String, Result<Vec<Input>>)> {
    let first = dataset.tree().map(Tree::friends).unwrap_or_default();
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
    let (_, key) = find_table(&file, input.tree.as_deref())?;
    Ok(read_tree(&file, &key)?.friends())
}

/// The file and tree of a friend.
fn place_of(input: &Input, found: Option<&FriendName>, name: &str) -> Result<Input> {
    let missing = || Error::request("is not a friend of all trees of the data set").file(&input.path);
    let found = found.filter(|found| found.name == name).ok_or_else(missing)?;
    let tree = Some(found.tree.trim_start_matches('/').to_owned());
    Ok(Input { path: path_of(&input.path, &found.file)?, tree })
}

/// The path of a file that a tree names: beside the tree's own file, or else relative to the working directory, as in ROOT.
fn path_of(own: &Path, name: &str) -> Result<PathBuf> {
    let name = name.strip_prefix("file:").unwrap_or(name);
    if name.is_empty() {
        return Ok(own.to_owned());
    }
    if name.contains("://") {
        return Ok(name.into());
    }
    let beside = beside(own, Path::new(name));
    Ok(if rootfile::url(own).is_some() || beside.exists() { beside } else { name.into() })
}

/// Opens a friend. Its entries must align with those of the data set, and with `by_file` those of each file as well.
pub(crate) fn open(dataset: &Dataset, inputs: &[Input], by_file: bool) -> Result<Dataset> {
    let friend = Dataset::open(inputs)?;
    let Some(tree) = friend.tree() else {
        return Err(Error::unsupported("it is an RNTuple, and only trees can be friends of trees").object(friend.path));
    };
    if tree.tree_index.is_some() {
        return Err(Error::unsupported(format!(
            "it has an index, which is not supported; read {} by itself, and join the two by the columns of the index",
            friend.path()
        )));
    }
    let (ours, theirs) = (dataset.entries_by_file(), friend.entries_by_file());
    let (all, there) = (dataset.entries(), friend.entries());
    if by_file && ours.len() > 1 && ours != theirs {
        return Err(Error::request("its files have other numbers of entries than the files that name them"));
    }
    if there < all {
        return Err(Error::request(format!("{} has {there} entries, but the data set has {all}", friend.path())));
    }
    Ok(friend)
}
