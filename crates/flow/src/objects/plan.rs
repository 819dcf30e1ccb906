//! The plan: for every name in every directory of the inputs, what becomes of it in the output. It holds the
//! places of keys only, in `hadd`'s order: directory by directory, the first file's names, then new ones.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};

use dataset::ntuple::is_ntuple;
use dataset::tree::is_tree_class;
use rootfile::{Key, Result, RootFile, is_directory};

use super::classes::Kind;
use super::write::Problem;

/// Where an object lies: which input, and the offset of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the input.
    pub file: u32,
    /// Offset of its key.
    pub seek: u64,
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
}

impl OutDirectory {
    /// Path of something in it.
    pub(crate) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}/{name}", self.path) }
    }

    fn paths(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| self.path_of(&entry.name))
    }
}

impl ObjectPlan {
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

/// Plans the objects of the output. A directory that cannot be read is an error.
pub fn plan_objects(files: &[impl Borrow<RootFile>]) -> Result<ObjectPlan> {
    let mut planner = Planner { single: files.len() == 1, ..Planner::default() };
    planner.directory("", "", "");
    for (index, file) in files.iter().enumerate() {
        planner.add(u32::try_from(index).unwrap_or(u32::MAX), file.borrow())?;
    }
    Ok(planner.finish())
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

    fn add(&mut self, index: u32, file: &RootFile) -> Result<()> {
        let walk = file.walk();
        if let Some(problem) = walk.problems.into_iter().next() {
            return Err(problem);
        }
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
        Ok(())
    }

    /// Adds the cycles of a name, newest first.
    fn add_cycles(&mut self, index: u32, file: &RootFile, at: usize, cycles: &[Key], again: bool) {
        let mut newest_taken = again;
        let mut kept: Vec<&Key> = Vec::new();
        for key in cycles {
            self.plan.newest = self.plan.newest.max(key.datime);
            let part = Part { file: index, seek: key.seek_key };
            if key.class == "TProcessID" {
                continue;
            }
            // It holds places in its own file and must not be copied.
            if is_ntuple(&key.class) {
                let path = self.plan.directories.get(at).map_or("", |d| &d.path);
                let message = format!("an RNTuple, in {}; only trees are merged so far", file.name().display());
                self.plan.unreadable.push(Problem::new(path, &key.name, &message));
            } else if is_directory(&key.class) {
                if !self.has(at, &key.name, &key.class) {
                    let parent = self.plan.directories.get(at).map_or("", |d| &d.path);
                    let path = if parent.is_empty() { key.name.clone() } else { format!("{parent}/{}", key.name) };
                    let directory = self.directory(&path, &key.name, &key.title);
                    self.push(at, key, Action::Directory(directory));
                }
            } else if is_tree_class(file, &key.class) {
                // Older cycles of a tree are what was saved before it was whole.
                if !std::mem::replace(&mut newest_taken, true) {
                    self.append(at, key, part, Action::Tree(Vec::new()));
                }
            } else if Kind::of(&key.class).merges() && !self.single {
                if !std::mem::replace(&mut newest_taken, true) {
                    self.append(at, key, part, Action::Merge(Vec::new()));
                }
            } else {
                kept.push(key);
            }
        }
        for key in kept.into_iter().rev() {
            let part = Part { file: index, seek: key.seek_key };
            self.append(at, key, part, Action::KeepAll(Vec::new()));
        }
    }

    fn has(&self, at: usize, name: &str, class: &str) -> bool {
        self.find(at, name, class).is_some()
    }

    fn find(&self, at: usize, name: &str, class: &str) -> Option<usize> {
        let entries = &self.plan.directories.get(at)?.entries;
        let known = self.by_name.get(at)?.get(name)?;
        known.iter().copied().find(|i| entries.get(*i).is_some_and(|e| e.class == class))
    }

    fn push(&mut self, at: usize, key: &Key, action: Action) -> Option<&mut Entry> {
        let entries = &mut self.plan.directories.get_mut(at)?.entries;
        self.by_name.get_mut(at)?.entry(key.name.clone()).or_default().push(entries.len());
        entries.push(Entry { name: key.name.clone(), class: key.class.clone(), action });
        entries.last_mut()
    }

    /// Adds a part to the entry of this name and class.
    fn append(&mut self, at: usize, key: &Key, part: Part, new: Action) {
        let entry = match self.find(at, &key.name, &key.class) {
            Some(i) => self.plan.directories.get_mut(at).and_then(|d| d.entries.get_mut(i)),
            None => self.push(at, key, new),
        };
        if let Some(Action::Merge(parts) | Action::KeepAll(parts) | Action::Tree(parts)) =
            entry.map(|entry| &mut entry.action)
        {
            parts.push(part);
        }
    }

    /// Names the problems that only all inputs together show, and reduces what has one part to a copy.
    fn finish(mut self) -> ObjectPlan {
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
                if !self.single && Kind::of(&entry.class) == Kind::OnlyByRoot {
                    let message = format!("a {}, which basketry cannot merge; all are kept as cycles", entry.class);
                    let several = matches!(&entry.action, Action::KeepAll(parts) if parts.len() > 1);
                    if several {
                        self.plan.problems.push(Problem::new(&directory.path, &entry.name, &message));
                    }
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
