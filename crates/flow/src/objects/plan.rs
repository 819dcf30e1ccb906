//! The plan: for every name in every directory of the inputs, what becomes of it in the output. It holds the
//! places of keys only, in `hadd`'s order: directory by directory, the first file's names, then new ones.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use dataset::ntuple::is_ntuple;
use dataset::tree::is_tree_class;
use rootfile::{Key, Result, RootFile, Walk, is_directory};

use super::classes::Kind;
use super::damage::{self, Damaged};
use super::write::Problem;

/// Where an object lies: which input, and the offset of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
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
    /// The only one there is is carried over.
    Copy(Part),
    /// They become one.
    Merge(Vec<Part>),
    /// Each is kept as a cycle of its own, in this order.
    KeepAll(Vec<Part>),
    /// A tree, one part an input that has it: for others to write.
    Tree(Vec<Part>),
    /// A directory, by index in [`ObjectPlan::directories`].
    Directory(usize),
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the objects.
    pub name: String,
    /// Their class.
    pub class: String,
    /// What to do with them.
    pub action: Action,
    /// Older cycles of a tree, or of what is merged: the second newest first, with a part for each input that has one.
    pub older: Vec<Vec<Part>>,
    /// The newest cycle of the name, in the first input that has it.
    pub newest: i16,
}

/// A directory of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutDirectory {
    /// Path from the top, `""` for the top itself.
    pub path: String,
    /// Its own name.
    pub name: String,
    /// Its title, from the first input that has it.
    pub title: String,
    /// Its entries in the order in which they are written.
    pub entries: Vec<Entry>,
}

/// What becomes of all objects of the inputs.
#[derive(Debug, Default)]
pub struct ObjectPlan {
    /// Directories; the first is the top.
    pub directories: Vec<OutDirectory>,
    /// The newest date of any key, packed as in `TDatime`.
    pub newest: u32,
    /// What cannot be carried over as ROOT would, known from the keys alone.
    pub problems: Vec<Problem>,
    /// What cannot be carried over at all: RNTuples.
    pub unreadable: Vec<Problem>,
    /// Whether older cycles of what is merged are merged and written as well. Those of trees are for others to write.
    pub all_cycles: bool,
    /// Whether there is one input.
    pub single: bool,
    /// How many cycles of a tree are written, by directory and name, if not one.
    pub tree_cycles: HashMap<(usize, String), usize>,
    /// Whether damaged objects are left out, and not refused.
    pub leaves_out: bool,
    /// Whether objects that are copied are decompressed, to see that they can be.
    pub check: bool,
    /// What is damaged, and left out where it is an object or a directory.
    pub damaged: Vec<Damaged>,
    /// What else is to be known of the inputs.
    pub notes: Vec<Problem>,
}

impl OutDirectory {
    /// Path of something in it.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    /// Whether a tree has cycles below those of an object of the same name.
    pub(crate) fn tree_below(&self, object: &Entry) -> Option<&Entry> {
        let is_tree = |e: &&Entry| matches!(e.action, Action::Tree(_)) && e.name == object.name;
        self.entries.iter().find(is_tree).filter(|tree| tree.newest < object.newest)
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| self.path_of(&entry.name))
    }
}

impl ObjectPlan {
    /// Paths of the directories that are written, each before what is below it.
    pub(crate) fn paths(&self) -> Vec<String> {
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

    /// Leaves only the entries that `wanted` says yes to, given the path of their directory, and the directories
    /// that it says yes to or that hold such entries.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&str, &Entry) -> bool) {
        // Directories come after their parents, so going backwards all below is decided before a directory is.
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
        let left: HashSet<String> = self.directories.iter().flat_map(OutDirectory::paths).collect();
        self.problems.retain(|p| left.contains(&p.path));
    }

    /// The trees: index of the directory, entry, and where its parts lie.
    pub fn trees(&self) -> impl Iterator<Item = (usize, &Entry, &[Part])> {
        let entries = self.directories.iter().enumerate().flat_map(|(i, d)| d.entries.iter().map(move |e| (i, e)));
        entries.filter_map(|(i, entry)| match &entry.action {
            Action::Tree(parts) => Some((i, entry, parts.as_slice())),
            _ => None,
        })
    }
}

/// Plans the objects of the output. A directory that cannot be read, or a key that is damaged, is an error.
pub fn plan_objects(files: &[impl Borrow<RootFile>]) -> Result<ObjectPlan> {
    plan_sound(files, damage::refuse)
}

/// The same without directories that cannot be read and objects whose keys are damaged.
pub fn plan_what_is_sound(files: &[impl Borrow<RootFile>]) -> Result<ObjectPlan> {
    Ok(ObjectPlan { leaves_out: true, ..plan_sound(files, damage::leave_out)? })
}

/// The same; `sound` takes out of what is in a file what is damaged, and says what that was, or refuses.
pub(crate) fn plan_sound(
    files: &[impl Borrow<RootFile>],
    sound: impl Fn(&RootFile, &mut Walk, &mut Vec<Problem>) -> Result<Vec<Damaged>>,
) -> Result<ObjectPlan> {
    let mut planner = Planner { single: files.len() == 1, ..Planner::default() };
    planner.directory("", "", "");
    for (index, file) in files.iter().map(Borrow::borrow).enumerate() {
        let mut walk = file.walk();
        planner.plan.damaged.extend(sound(file, &mut walk, &mut planner.plan.notes)?);
        planner.add(u32::try_from(index).unwrap_or(u32::MAX), file, &walk);
    }
    Ok(planner.finish())
}

/// The newest cycle of a name in one input, and how many older ones followed.
struct Newest {
    /// Number of the entry that the newest cycle is a part of.
    entry: Option<usize>,
    older: usize,
    /// Whether the name was met before, elsewhere in the list of keys: its cycles are not in order there.
    again: bool,
}

impl Newest {
    fn new(again: bool) -> Self {
        Self { entry: None, older: 0, again }
    }

    fn add(&mut self, planner: &mut Planner, (at, key): (usize, &Key), part: Part, new: Action) {
        let known = if self.again { planner.latest(at, (&key.name, part.file), &new) } else { self.entry };
        let Some(entry) = known else {
            self.entry = planner.append(at, key, part, new);
            return;
        };
        let entries = planner.plan.directories.get_mut(at).map(|d| &mut d.entries);
        let Some(entry) = entries.and_then(|entries| entries.get_mut(entry)) else { return };
        let rank = if self.again { entry.older.len() } else { self.older };
        if entry.older.len() <= rank {
            entry.older.resize_with(rank + 1, Vec::new);
        }
        if let Some(parts) = entry.older.get_mut(rank) {
            parts.push(part);
        }
        self.older += 1;
    }
}

#[derive(Default)]
struct Planner {
    /// There is one input: nothing is merged, and all cycles of objects are kept.
    single: bool,
    plan: ObjectPlan,
    by_path: HashMap<String, usize>,
    /// For each directory, the entries of each name.
    by_name: Vec<HashMap<String, Vec<usize>>>,
}

impl Planner {
    /// The directory of this path, which is made if it is new.
    fn directory(&mut self, path: &str, name: &str, title: &str) -> usize {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        let (path, name, title) = (path.to_owned(), name.to_owned(), title.to_owned());
        self.by_path.insert(path.clone(), self.plan.directories.len());
        self.plan.directories.push(OutDirectory { path, name, title, entries: Vec::new() });
        self.by_name.push(HashMap::new());
        self.plan.directories.len() - 1
    }

    fn add(&mut self, index: u32, file: &RootFile, walk: &Walk) {
        for directory in &walk.directories {
            let name = directory.path.rsplit('/').next().unwrap_or_default();
            let at = self.directory(&directory.path, name, &directory.title);
            // Cycles of a name lie in decreasing order; they are to be written in increasing order.
            let mut seen: HashMap<&str, usize> = HashMap::new();
            let mut i = 0;
            while let Some(key) = directory.keys.get(i) {
                let run = directory.keys.iter().skip(i).take_while(|k| k.name == key.name).count();
                let again = seen.insert(&key.name, i).is_some();
                self.add_cycles(index, file, at, directory.keys.get(i..i + run).unwrap_or_default(), again);
                i += run;
            }
        }
    }

    /// Adds the cycles of a name, newest first.
    fn add_cycles(&mut self, index: u32, file: &RootFile, at: usize, cycles: &[Key], again: bool) {
        let mut trees = Newest::new(again);
        let mut merged = Newest::new(again);
        let mut kept: Vec<&Key> = Vec::new();
        for key in cycles {
            self.plan.newest = self.plan.newest.max(key.datime);
            let part = Part { file: index, seek: key.seek_key, cycle: key.cycle };
            if key.class == "TProcessID" {
                continue;
            }
            // It holds places in its own file and must not be copied.
            if is_ntuple(&key.class) {
                let path = self.plan.directories.get(at).map_or("", |d| &d.path);
                let message = format!("an RNTuple, in {}; only trees are merged so far", file.name().display());
                self.plan.unreadable.push(Problem::new(path, &key.name, &message));
            } else if is_directory(&key.class) {
                let path = self.plan.directories.get(at).map_or_else(|| key.name.clone(), |d| d.path_of(&key.name));
                // ROOT says TDirectory in keys and TDirectoryFile elsewhere: one directory under either name.
                if !self.by_path.contains_key(&path) {
                    let directory = self.directory(&path, &key.name, &key.title);
                    self.push(at, key, Action::Directory(directory));
                }
            } else if is_tree_class(file, &key.class) {
                trees.add(self, (at, key), part, Action::Tree(Vec::new()));
            } else if Kind::of(&key.class).merges() && !self.single {
                merged.add(self, (at, key), part, Action::Merge(Vec::new()));
            } else {
                kept.push(key);
            }
        }
        for key in kept.into_iter().rev() {
            let part = Part { file: index, seek: key.seek_key, cycle: key.cycle };
            self.append(at, key, part, Action::KeepAll(Vec::new()));
        }
    }

    fn find(&self, at: usize, name: &str, class: &str) -> Option<usize> {
        let entries = &self.plan.directories.get(at)?.entries;
        let known = self.by_name.get(at)?.get(name)?;
        known.iter().copied().find(|i| entries.get(*i).is_some_and(|e| e.class == class))
    }

    /// The first entry of a name with an action of this kind and a part in this input.
    fn latest(&self, at: usize, (name, file): (&str, u32), action: &Action) -> Option<usize> {
        let entries = &self.plan.directories.get(at)?.entries;
        let alike = |entry: &Entry| match (&entry.action, action) {
            (Action::Tree(parts), Action::Tree(_)) | (Action::Merge(parts), Action::Merge(_)) => {
                parts.iter().any(|part| part.file == file)
            }
            _ => false,
        };
        self.by_name.get(at)?.get(name)?.iter().copied().find(|i| entries.get(*i).is_some_and(alike))
    }

    fn push(&mut self, at: usize, key: &Key, action: Action) -> Option<&mut Entry> {
        let entries = &mut self.plan.directories.get_mut(at)?.entries;
        self.by_name.get_mut(at)?.entry(key.name.clone()).or_default().push(entries.len());
        let (name, class) = (key.name.clone(), key.class.clone());
        entries.push(Entry { name, class, action, older: Vec::new(), newest: key.cycle });
        entries.last_mut()
    }

    /// Adds a part to the entry of this name and class, and gives the entry's number.
    fn append(&mut self, at: usize, key: &Key, part: Part, new: Action) -> Option<usize> {
        let known = self.find(at, &key.name, &key.class);
        if known.is_none() {
            self.push(at, key, new);
        }
        let entries = &mut self.plan.directories.get_mut(at)?.entries;
        let number = known.or(entries.len().checked_sub(1))?;
        if let Action::Merge(parts) | Action::KeepAll(parts) | Action::Tree(parts) =
            &mut entries.get_mut(number)?.action
        {
            parts.push(part);
        }
        Some(number)
    }

    /// Names the problems that only all inputs together show, and reduces what has one part to a copy.
    fn finish(mut self) -> ObjectPlan {
        self.plan.single = self.single;
        let mut found = Vec::new();
        for (directory, names) in self.plan.directories.iter_mut().zip(&self.by_name) {
            for known in names.values().filter(|known| known.len() > 1) {
                let mut classes = known.iter().filter_map(|i| directory.entries.get(*i));
                let text: Vec<&str> = classes.clone().map(|e| e.class.as_str()).collect();
                let merged = classes.any(|e| !matches!(e.action, Action::KeepAll(_)));
                if let (true, Some(first)) =
                    (merged && !self.single, known.first().and_then(|i| directory.entries.get(*i)))
                {
                    let message = format!("has different classes in the inputs ({}); each is kept", text.join(", "));
                    found.push((*known.first().unwrap_or(&0), Problem::new(&directory.path, &first.name, &message)));
                }
            }
            found.sort_by_key(|(at, _)| *at);
            self.plan.problems.extend(found.drain(..).map(|(_, problem)| problem));
            for entry in &mut directory.entries {
                if let (false, Action::KeepAll(parts)) = (self.single, &mut entry.action)
                    && let Some(message) = not_merged(&entry.class, parts)
                {
                    self.plan.problems.push(Problem::new(&directory.path, &entry.name, &message));
                }
                if let Action::Merge(parts) | Action::KeepAll(parts) = &entry.action
                    && let [part] = parts[..]
                {
                    entry.action = Action::Copy(part);
                }
            }
        }
        self.plan
    }
}

/// What is to be said where objects that ROOT merges are all kept. The order of their cycles becomes that of ROOT.
fn not_merged(class: &str, parts: &mut [Part]) -> Option<String> {
    let first = parts.first()?.file;
    if parts.iter().all(|part| part.file == first) {
        return None;
    }
    match Kind::of(class) {
        Kind::First => {
            // Cycles of one input stay in order.
            parts.sort_by_key(|part| std::cmp::Reverse(part.file));
            Some(format!("of a {class}, hadd keeps that of the first input alone; the others are kept as older cycles"))
        }
        Kind::OnlyByRoot => Some(format!("a {class}, which basketry cannot merge; all are kept as cycles")),
        _ => None,
    }
}
