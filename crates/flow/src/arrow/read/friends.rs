//! Friends of a data set: trees whose entries align with its own, and whose columns can be read beside its own. Friends with
//! an index are refused, and friends of friends are not opened.
//!
//! A friend's branches, columns and files get numbers behind those of the data set and of earlier friends, so that readers
//! of a column need not know its tree.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dataset::tree::{FriendName, Tree, read_tree};
use rootfile::{Error, FilePool, Holder, OPEN_FILES, Place, Result, Role, RootFile, public_path};

use super::dataset::{Dataset, Friend, Friends};
use super::open::find_table;
use crate::plan::inputs::Input;
use crate::plan::options::PlanOptions;

/// A friend that was opened, and what the user is told when it is read.
type Opened = (Dataset, Vec<String>);

impl Dataset {
    /// Adds trees as friends, as if the data set's own tree named them. A friend without a name gets the name of its tree.
    ///
    /// # Errors
    ///
    /// A friend cannot be read, or it has fewer entries, or this is an RNTuple.
    pub fn with_friends(self, given: &[(Option<String>, Vec<Input>)]) -> Result<Self> {
        let open = |(name, inputs): &(Option<String>, Vec<Input>)| {
            let friend = aligned(&self, Self::open_following(inputs, self.follow())?, false)?;
            Ok((name.clone().unwrap_or_else(|| friend.names().0.to_owned()), friend))
        };
        if !given.is_empty() && self.tree().is_none() {
            return Err(Error::unsupported("an RNTuple cannot have friends; read both, and join their arrays")
                .object(self.path));
        }
        let given = given.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(Self { given: Mutex::new(given), friends: OnceLock::new(), ..self })
    }

    /// The names of its friends, in the order of [`Dataset::friends`]. None of them is opened.
    pub fn friend_names(&self) -> Vec<String> {
        if let Some(friends) = self.friends.get() {
            return friends.list.iter().map(|friend| friend.name().to_owned()).collect();
        }
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let own = self.tree().map(Tree::friends).unwrap_or_default().into_iter().map(|friend| friend.name);
        given.iter().map(|(name, _)| name.clone()).chain(own).collect()
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
        let mut columns = dataset.number_of_columns();
        let mut nodes = dataset.schema().len();
        let mut friends = Self { list: Vec::new(), files: dataset.files().to_vec(), metadata: dataset.metadata };
        let given = given.into_iter().map(|(name, friend)| (name, Ok((friend, Vec::new()))));
        let named = named(dataset).map(|(name, parts)| (name, parts.and_then(|parts| open(dataset, &parts))));
        for (name, found) in given.chain(named) {
            let found = found.and_then(|(mut friend, remarks)| {
                let files = u32::try_from(friends.files.len()).map_err(|_| Error::request("too many files"))?;
                friends.files.extend_from_slice(friend.files());
                friends.metadata += friend.metadata();
                friend.join(&name, nodes, files);
                Ok((friend, remarks))
            });
            let size = |of: fn(&Dataset) -> usize| found.as_ref().map_or(0, |(friend, _)| of(friend));
            let (from, above) = (columns, nodes);
            columns += size(Dataset::number_of_columns);
            nodes += size(|friend| friend.schema().len());
            let (dataset, remarks) = match found {
                Ok((friend, remarks)) => (Ok(friend), remarks),
                Err(e) => (Err(e.object(format!("friend {name}"))), Vec::new()),
            };
            friends.list.push(Friend { name, dataset, columns: from..columns, nodes: above..nodes, remarks });
        }
        friends
    }
}

/// The part of a friend that belongs to one file of the data set: the places where its file may be, and the path of its tree.
struct Part {
    /// The file that names the friend.
    holder: PathBuf,
    address: String,
    places: Vec<Result<Place>>,
    tree: String,
}

/// The friends that the trees of a data set name.
fn named(dataset: &Dataset) -> impl Iterator<Item = (String, Result<Vec<Part>>)> {
    let first = dataset.tree().map(Tree::friends).unwrap_or_default();
    let others = match first.is_empty() {
        true => Ok(Vec::new()),
        false => dataset.inputs().iter().skip(1).map(of_file).collect::<Result<Vec<_>>>(),
    };
    first.into_iter().enumerate().map(move |(place, friend)| {
        let of_all = others.as_ref().map_err(|e| Error::request(e.to_string())).and_then(|others| {
            let all = std::iter::once(Some(&friend)).chain(others.iter().map(|names| names.get(place)));
            let inputs = dataset.inputs().iter().zip(&dataset.holders);
            inputs.zip(all).map(|((input, holder), found)| part(input, holder, found, &friend.name)).collect()
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

/// The part of a friend for an input.
fn part(input: &Input, holder: &Holder, found: Option<&FriendName>, name: &str) -> Result<Part> {
    let missing = || Error::request("is not a friend of all trees of the data set").file(&input.path);
    let found = found.filter(|found| found.name == name).ok_or_else(missing)?;
    let places = match found.file.is_empty() {
        true => vec![Ok(holder.own_place())],
        false => holder.places(&found.file, Role::Friend),
    };
    Ok(Part {
        holder: input.path.clone(),
        address: found.file.clone(),
        places,
        tree: found.tree.trim_start_matches('/').to_owned(),
    })
}

impl Part {
    /// Opens the file at the first of its places that has one.
    fn open(&self, pool: &Arc<FilePool>) -> Result<(RootFile, &Place)> {
        let refused = |e: &Error| {
            let message = format!(
                "it is in another file, {}, which is not opened: {e}",
                public_path(Path::new(&self.address)).display()
            );
            Error::request(message).hints_of(e).file(&self.holder)
        };
        let mut first = None;
        for place in &self.places {
            let opened = match place {
                Ok(place) => place.open_file(pool).map(|file| (file, place)),
                Err(e) => Err(refused(e)),
            };
            match opened {
                Ok(found) => return Ok(found),
                Err(e) => first = first.or(Some(e)),
            }
        }
        Err(first.unwrap_or_else(|| Error::request("it has no file")))
    }
}

/// Opens a friend, whose entries must align with those of each file of the data set.
fn open(dataset: &Dataset, parts: &[Part]) -> Result<Opened> {
    let pool = FilePool::new(OPEN_FILES);
    let (mut inputs, mut files, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let (file, place) = part.open(&pool)?;
        remarks.extend(place.remark());
        inputs.push(Input { path: place.path().to_owned(), tree: Some(part.tree.clone()) });
        files.push(Arc::new(file));
    }
    remarks.dedup();
    Ok((
        aligned(
            dataset,
            Dataset::of_opened(&inputs, files, PlanOptions { is_read: true, ..PlanOptions::default() })?,
            true,
        )?,
        remarks,
    ))
}

/// A friend whose entries align with those of the data set, and with `by_file` those of each file as well.
fn aligned(dataset: &Dataset, friend: Dataset, by_file: bool) -> Result<Dataset> {
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
