//! The model of a plan: directories of the output, the names in them, and what becomes of the objects of each name.

use std::collections::{HashMap, HashSet};

use dataset::tree::kept_name;
use rootfile::streamer::StreamerInfos;
use rootfile::{Directory, Walk};

use crate::problem::{Damaged, Problem};

/// The place of an object: its input, and the offset of its record there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLocation {
    /// Index of the input.
    pub file: u32,
    /// Offset of its key.
    pub seek: u64,
    /// Its cycle there.
    pub cycle: i16,
}

/// What becomes of the objects of one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The only object of the name is copied.
    Copy(ObjectLocation),
    /// All are merged into one.
    Merge(Vec<ObjectLocation>),
    /// Each is kept as a cycle, in this order.
    KeepAll(Vec<ObjectLocation>),
    /// A tree, with its place in each input that has it. The caller writes it.
    Tree(Vec<ObjectLocation>),
    /// An RNTuple, with its place in each input that has it. The caller writes it.
    Ntuple(Vec<ObjectLocation>),
    /// A directory, by index in [`ObjectPlan::directories`].
    Directory(usize),
    /// Each stays where it is in the first input, which is updated in place.
    Stay(Vec<ObjectLocation>),
}

/// The objects of one name and class in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedObject {
    /// Name of the objects.
    pub name: String,
    /// Their class.
    pub class: String,
    /// What becomes of them.
    pub action: Action,
    /// Older cycles of a tree, an RNTuple or a merged object: the second newest first, with a place for each input that has one.
    pub older: Vec<Vec<ObjectLocation>>,
    /// The newest cycle of the name, in the first input that has it.
    pub newest: i16,
}

/// A directory of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputDirectory {
    /// Path from the top, `""` for the top itself.
    pub path: String,
    /// Its own name.
    pub name: String,
    /// Its title, from the first input that has it.
    pub title: String,
    /// The objects in it, in the order in which they are written.
    pub entries: Vec<NamedObject>,
}

/// What becomes of all objects of the inputs.
#[derive(Debug, Default)]
pub struct ObjectPlan {
    /// Directories; the first is the top.
    pub directories: Vec<OutputDirectory>,
    /// The descriptions of classes that the output gets; those of all inputs if not given.
    pub infos: Option<StreamerInfos>,
    /// The newest date of any key, packed as in `TDatime`.
    pub newest: u32,
    /// Objects that cannot be carried over as ROOT would, known from the keys alone.
    pub problems: Vec<Problem>,
    /// RNTuples of pre-release formats, which cannot be carried over at all.
    pub unreadable: Vec<Problem>,
    /// Whether older cycles of merged objects are merged and written as well. The caller writes older cycles of trees.
    pub all_cycles: bool,
    /// Whether there is one input.
    pub single: bool,
    /// Whether each object is written under the name of its entry and with the cycle of its place, whatever those in the input. Cycles of
    /// tables are then entries of their own.
    pub as_placed: bool,
    /// Number of cycles of a tree or an RNTuple that are written, by directory and name, if not 1.
    pub tree_cycles: HashMap<(usize, String), usize>,
    /// Whether damaged objects are left out. Otherwise they are an error.
    pub skip_damaged: bool,
    /// Whether copied objects are decompressed as well, to check that they can be.
    pub check: bool,
    /// Damaged parts of the inputs. Damaged objects and directories are left out.
    pub damaged: Vec<Damaged>,
    /// Further notes on the inputs.
    pub notes: Vec<Problem>,
}

impl NamedObject {
    /// The objects of its newest cycle; none of a directory.
    pub fn parts(&self) -> impl Iterator<Item = &ObjectLocation> {
        match &self.action {
            Action::Copy(part) => std::slice::from_ref(part),
            Action::Merge(parts) | Action::KeepAll(parts) | Action::Tree(parts) | Action::Ntuple(parts) => parts,
            Action::Stay(parts) => parts,
            Action::Directory(_) => &[],
        }
        .iter()
    }

    /// Takes its older cycles that `stay` where they are, as an entry of their own.
    fn take_older(&mut self, stay: impl Fn(&ObjectLocation) -> bool) -> Option<Self> {
        let mut staying = Vec::new();
        for parts in &mut self.older {
            staying.extend(parts.extract_if(.., |part| stay(part)));
        }
        self.older.retain(|parts| !parts.is_empty());
        let newest = staying.iter().map(|part| part.cycle).max()?;
        let (name, class) = (self.name.clone(), self.class.clone());
        Some(Self { name, class, action: Action::Stay(staying), older: Vec::new(), newest })
    }
}

impl OutputDirectory {
    /// Path of an object in it.
    pub fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// The tree or RNTuple of the same name as an object, if its cycles come below the object's.
    pub(crate) fn tree_below(&self, object: &NamedObject) -> Option<&NamedObject> {
        let is_tree =
            |e: &&NamedObject| matches!(e.action, Action::Tree(_) | Action::Ntuple(_)) && e.name == object.name;
        self.entries.iter().find(is_tree).filter(|tree| tree.newest < object.newest)
    }

    fn object_paths(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| self.path_of(&entry.name))
    }
}

impl ObjectPlan {
    /// Paths of the directories that are written, each before its subdirectories.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut left = vec![0];
        while let Some(directory) = left.pop().and_then(|i| self.directories.get(i)) {
            paths.push(directory.path.clone());
            left.extend(directory.entries.iter().rev().filter_map(|entry| match entry.action {
                Action::Directory(below) => Some(below),
                _ => None,
            }));
        }
        paths
    }

    /// Keeps only the objects that `wanted` accepts, given the path of their directory and the object, and the
    /// directories that it accepts or that hold such objects.
    pub fn retain(&mut self, wanted: impl Fn(&str, &NamedObject) -> bool) {
        // Directories come after their parents. Backwards, each directory is decided after its subdirectories.
        for i in (0..self.directories.len()).rev() {
            let Some(directory) = self.directories.get_mut(i) else { continue };
            let mut entries = std::mem::take(&mut directory.entries);
            let path = std::mem::take(&mut directory.path);
            entries.retain(|entry| match entry.action {
                Action::Directory(below) => {
                    wanted(&path, entry) || self.directories.get(below).is_some_and(|d| !d.entries.is_empty())
                }
                _ => wanted(&path, entry),
            });
            if let Some(directory) = self.directories.get_mut(i) {
                (directory.entries, directory.path) = (entries, path);
            }
        }
        let left: HashSet<String> = self.directories.iter().flat_map(OutputDirectory::object_paths).collect();
        self.problems.retain(|p| left.contains(&p.path));
    }

    /// Leaves what only the first input has as it is there, in all its cycles, and the older cycles of what changes: the output is that file,
    /// updated in place. `walk` are its directories. Of the tables that are left, the content is not looked at.
    pub fn leave_in_place(&mut self, walk: &Walk) {
        let listed = |directory: &Directory| {
            let path = directory.path.clone();
            directory
                .keys
                .iter()
                .map(move |key| (key.seek_key, (path.clone(), key.name.clone(), key.cycle)))
                .collect::<Vec<_>>()
        };
        let places: HashMap<u64, (String, String, i16)> = walk.directories.iter().flat_map(listed).collect();
        for OutputDirectory { path, entries, .. } in &mut self.directories {
            let all =
                |entry: &NamedObject| entry.parts().chain(entry.older.iter().flatten()).copied().collect::<Vec<_>>();
            let stays = |name: &str, part: &ObjectLocation| {
                let is_here =
                    |(above, own, cycle): &(String, String, i16)| above == path && own == name && *cycle == part.cycle;
                part.file == 0 && places.get(&part.seek).is_some_and(is_here)
            };
            let changes = |entry: &&NamedObject| !all(entry).iter().all(|part| stays(&entry.name, part));
            let mut changed: HashSet<String> = entries.iter().filter(changes).map(|entry| entry.name.clone()).collect();
            let ntuples = entries.iter().filter(|entry| matches!(entry.action, Action::Ntuple(_)));
            let lists: Vec<String> =
                ntuples.filter(|entry| changed.contains(&entry.name)).map(|entry| kept_name(&entry.name)).collect();
            changed.extend(lists);
            for mut entry in std::mem::take(entries) {
                let is_directory = matches!(entry.action, Action::Directory(_));
                let name = entry.name.clone();
                let own = |part: &ObjectLocation| stays(&name, part);
                // In an edit each cycle is an entry of its own.
                let is_left = if self.as_placed { entry.parts().all(own) } else { !changed.contains(&entry.name) };
                if !is_directory && is_left {
                    entry.action = Action::Stay(all(&entry));
                    entry.older.clear();
                } else if let Some(older) = entry.take_older(own) {
                    // Before the entry, which gets the next cycle.
                    entries.push(older);
                }
                entries.push(entry);
            }
        }
    }

    /// Whether something stays where it is in the first input.
    pub fn stays_in_part(&self) -> bool {
        let mut entries = self.directories.iter().flat_map(|directory| &directory.entries);
        entries.any(|entry| matches!(entry.action, Action::Stay(_)))
    }

    /// Whether a table of the first input is to be there twice, so that both need content of their own.
    pub fn is_doubled(&self, directory: usize, name: &str) -> bool {
        let entries = |directory: &'_ OutputDirectory| -> Vec<u64> {
            directory
                .entries
                .iter()
                .flat_map(NamedObject::parts)
                .filter(|part| part.file == 0)
                .map(|p| p.seek)
                .collect()
        };
        let all: Vec<u64> = self.directories.iter().flat_map(entries).collect();
        let own = self.directories.get(directory).into_iter().flat_map(|directory| &directory.entries);
        let mut parts =
            own.filter(|entry| entry.name == name).flat_map(NamedObject::parts).filter(|part| part.file == 0);
        parts.any(|part| all.iter().filter(|seek| **seek == part.seek).count() > 1)
    }

    /// The trees: index of the directory, the tree, and its places in the inputs.
    pub fn trees(&self) -> impl Iterator<Item = (usize, &NamedObject, &[ObjectLocation])> {
        let entries = self.directories.iter().enumerate().flat_map(|(i, d)| d.entries.iter().map(move |e| (i, e)));
        entries.filter_map(|(i, entry)| match &entry.action {
            Action::Tree(parts) => Some((i, entry, parts.as_slice())),
            _ => None,
        })
    }

    /// The RNTuples: index of the directory, the RNTuple, and its places in the inputs.
    pub fn ntuples(&self) -> impl Iterator<Item = (usize, &NamedObject, &[ObjectLocation])> {
        let entries = self.directories.iter().enumerate().flat_map(|(i, d)| d.entries.iter().map(move |e| (i, e)));
        entries.filter_map(|(i, entry)| match &entry.action {
            Action::Ntuple(parts) => Some((i, entry, parts.as_slice())),
            _ => None,
        })
    }
}
