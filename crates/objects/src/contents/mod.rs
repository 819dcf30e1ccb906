//! What a file has, as a tree of names that can be edited: folders, and objects with their cycles. It is read from the keys of a file,
//! and becomes the plan of a new file ([`Contents::plan`]). No record is read or written here.

mod edit;
mod find;
mod plan;

use std::collections::HashSet;

use dataset::ntuple::{is_ntuple, is_released};
use dataset::tree::{is_kept, is_tree_class, kept_name};
use rootfile::{Key, RootFile, Walk, is_directory};

pub use edit::{Place, Taken};
pub use find::{Found, FoundObjects, Which};

use crate::plan::ObjectLocation;

/// The number of the top folder.
pub const TOP: usize = 0;
/// The class of directories in keys.
const DIRECTORY_CLASS: &str = "TDirectory";

/// The names in a file.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The first is the top. Those that no item leads to are gone.
    folders: Vec<Folder>,
    /// Names that objects were put under: a second object for one of them would hide the first.
    placed: HashSet<(usize, String)>,
    /// The newest date of any key.
    newest: u32,
}

#[derive(Clone, Debug, Default)]
struct Folder {
    title: String,
    items: Vec<Item>,
}

/// A name in a folder. A folder and objects may share one.
#[derive(Clone, Debug)]
struct Item {
    name: String,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Folder(usize),
    /// The cycles of the name, the oldest first.
    Objects(Vec<StoredObject>),
}

/// A cycle of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// Its record, and the cycle that it has or gets.
    pub location: ObjectLocation,
    /// Its class.
    pub class: String,
    kind: Kind,
}

/// How an object is carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Tree,
    Ntuple,
    /// An RNTuple of a pre-release format.
    Unreleased,
    /// The list beside an RNTuple with what it has no place for.
    KeptList,
}

impl StoredObject {
    fn of(number: u32, file: &RootFile, key: &Key) -> Self {
        let kind = match key.class.as_str() {
            class if is_released(class) => Kind::Ntuple,
            class if is_ntuple(class) => Kind::Unreleased,
            class if is_tree_class(file, class) => Kind::Tree,
            _ if is_kept(key) => Kind::KeptList,
            _ => Kind::Plain,
        };
        let location = ObjectLocation { file: number, seek: key.seek_key, cycle: key.cycle };
        Self { location, class: key.class.clone(), kind }
    }
}

impl Default for Contents {
    /// Those of an empty file.
    fn default() -> Self {
        Self { folders: vec![Folder::default()], placed: HashSet::new(), newest: 0 }
    }
}

impl Contents {
    /// Those of a file, by its keys. `number` is that of the file among those of the plan.
    pub fn of(number: u32, file: &RootFile, walk: &Walk) -> Self {
        let mut contents = Self::default();
        for directory in &walk.directories {
            let Some(at) = contents.folder_at(&directory.path) else { continue };
            if let Some(folder) = contents.folders.get_mut(at) {
                folder.title.clone_from(&directory.title);
            }
            for cycles in directory.newest_first().chunk_by(|a, b| a.name == b.name) {
                contents.newest = cycles.iter().map(|key| key.datime).fold(contents.newest, u32::max);
                contents.add_cycles(at, number, file, cycles);
            }
        }
        contents
    }

    /// Adds the cycles of a name, which are the newest first.
    fn add_cycles(&mut self, at: usize, number: u32, file: &RootFile, cycles: &[&Key]) {
        let Some(name) = cycles.first().map(|key| key.name.clone()) else { return };
        // Process identifiers belong to no user: the writer of a file joins those of its inputs.
        let own = cycles.iter().rev().filter(|key| key.class != "TProcessID");
        let (folders, objects): (Vec<&&Key>, Vec<&&Key>) = own.partition(|key| is_directory(&key.class));
        if let Some(folder) = folders.last() {
            self.add_folder(at, &name, &folder.title);
        }
        let objects: Vec<StoredObject> = objects.into_iter().map(|key| StoredObject::of(number, file, key)).collect();
        if let (false, Some(folder)) = (objects.is_empty(), self.folders.get_mut(at)) {
            folder.items.push(Item { name, what: What::Objects(objects) });
        }
    }

    fn add_folder(&mut self, parent: usize, name: &str, title: &str) -> usize {
        let number = self.folders.len();
        self.folders.push(Folder { title: title.to_owned(), items: Vec::new() });
        if let Some(folder) = self.folders.get_mut(parent) {
            folder.items.push(Item { name: name.to_owned(), what: What::Folder(number) });
        }
        number
    }

    fn items(&self, folder: usize) -> &[Item] {
        self.folders.get(folder).map_or(&[], |folder| folder.items.as_slice())
    }

    /// The folder of a name in a folder.
    pub fn folder(&self, parent: usize, name: &str) -> Option<usize> {
        self.items(parent).iter().find_map(|item| match item.what {
            What::Folder(number) if item.name == name => Some(number),
            _ => None,
        })
    }

    /// The cycles of a name in a folder, the oldest first.
    pub fn objects(&self, parent: usize, name: &str) -> Option<&[StoredObject]> {
        self.items(parent).iter().find_map(|item| match &item.what {
            What::Objects(cycles) if item.name == name => Some(cycles.as_slice()),
            _ => None,
        })
    }

    /// Whether a folder and an object share a name.
    fn is_shared(&self, parent: usize, name: &str) -> bool {
        self.folder(parent, name).is_some() && self.objects(parent, name).is_some()
    }

    /// The folder of a path; the empty path is the top. A name may have slashes.
    pub fn folder_at(&self, path: &str) -> Option<usize> {
        let mut left = vec![(TOP, path.trim_matches('/'))];
        while let Some((folder, path)) = left.pop() {
            if path.is_empty() {
                return Some(folder);
            }
            left.extend(self.items(folder).iter().filter_map(|item| match item.what {
                What::Folder(number) => {
                    let rest = path.strip_prefix(item.name.as_str())?;
                    (rest.is_empty() || rest.starts_with('/')).then(|| (number, rest.trim_start_matches('/')))
                }
                What::Objects(_) => None,
            }));
        }
        None
    }

    /// The list beside an RNTuple of this name, if it has one.
    fn kept_beside(&self, parent: usize, name: &str) -> Option<String> {
        let is_ntuple = self.objects(parent, name)?.iter().any(|object| object.kind == Kind::Ntuple);
        let list = kept_name(name);
        let has_list = self.objects(parent, &list)?.iter().all(|object| object.kind == Kind::KeptList);
        (is_ntuple && has_list).then_some(list)
    }
}

/// The path of a name in a folder with a path.
fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
