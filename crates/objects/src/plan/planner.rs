//! Makes the plan from the keys of the inputs, in `hadd`'s order: directory by directory, the names of the first file, then
//! new ones.

use std::borrow::Borrow;
use std::collections::HashMap;

use dataset::ntuple::{is_ntuple, is_released};
use dataset::tree::is_tree_class;
use rootfile::{Key, Result, RootFile, Walk, is_directory, public_path};

use super::model::{Action, NamedObject, ObjectLocation, ObjectPlan, OutputDirectory};
use super::soundness;
use crate::merge::MergeRule;
use crate::problem::{Damaged, Problem};

/// Plans the objects of the output.
///
/// # Errors
///
/// A directory cannot be read, or a key is damaged.
pub fn plan_objects(files: &[impl Borrow<RootFile>]) -> Result<ObjectPlan> {
    plan_objects_with(files, soundness::refuse)
}

/// Plans the objects of the output without unreadable directories and objects whose keys are damaged.
///
/// # Errors
///
/// None today: damage is listed in the plan.
pub fn plan_sound_objects(files: &[impl Borrow<RootFile>]) -> Result<ObjectPlan> {
    Ok(ObjectPlan { skip_damaged: true, ..plan_objects_with(files, soundness::leave_out)? })
}

/// Plans the objects of the output with another treatment of damage. `check` removes damaged directories and keys from
/// the listing of a file and returns them, or it fails.
///
/// # Errors
///
/// The errors of `check`.
pub fn plan_objects_with(
    files: &[impl Borrow<RootFile>],
    mut check: impl FnMut(&RootFile, &mut Walk, &mut Vec<Problem>) -> Result<Vec<Damaged>>,
) -> Result<ObjectPlan> {
    let mut planner = Planner { single: files.len() == 1, ..Planner::default() };
    planner.directory("", "", "");
    for (index, file) in files.iter().map(Borrow::borrow).enumerate() {
        let mut walk = file.walk();
        planner.plan.damaged.extend(check(file, &mut walk, &mut planner.plan.notes)?);
        planner.add(u32::try_from(index).unwrap_or(u32::MAX), file, &walk);
    }
    Ok(planner.finish())
}

/// The newest cycle of a name in one input, and the number of older ones so far.
#[derive(Default)]
struct Newest {
    /// Number of the entry that the newest cycle is a part of.
    entry: Option<usize>,
    older: usize,
}

impl Newest {
    fn add(&mut self, planner: &mut Planner, (at, key): (usize, &Key), part: ObjectLocation, new: Action) {
        let Some(entry) = self.entry else {
            self.entry = planner.append(at, key, part, new);
            return;
        };
        let entries = planner.plan.directories.get_mut(at).map(|d| &mut d.entries);
        let Some(entry) = entries.and_then(|entries| entries.get_mut(entry)) else { return };
        if entry.older.len() <= self.older {
            entry.older.resize_with(self.older + 1, Vec::new);
        }
        if let Some(parts) = entry.older.get_mut(self.older) {
            parts.push(part);
        }
        self.older += 1;
    }
}

#[derive(Default)]
struct Planner {
    /// There is one input: no object is merged, and all cycles of objects are kept.
    single: bool,
    plan: ObjectPlan,
    by_path: HashMap<String, usize>,
    /// For each directory, the entries of each name.
    by_name: Vec<HashMap<String, Vec<usize>>>,
}

impl Planner {
    /// The index of the directory of this path. A new directory is added.
    fn directory(&mut self, path: &str, name: &str, title: &str) -> usize {
        if let Some(known) = self.by_path.get(path) {
            return *known;
        }
        let (path, name, title) = (path.to_owned(), name.to_owned(), title.to_owned());
        self.by_path.insert(path.clone(), self.plan.directories.len());
        self.plan.directories.push(OutputDirectory { path, name, title, entries: Vec::new() });
        self.by_name.push(HashMap::new());
        self.plan.directories.len() - 1
    }

    fn add(&mut self, index: u32, file: &RootFile, walk: &Walk) {
        for directory in &walk.directories {
            let name = directory.path.rsplit('/').next().unwrap_or_default();
            let at = self.directory(&directory.path, name, &directory.title);
            for cycles in directory.newest_first().chunk_by(|a, b| a.name == b.name) {
                self.add_cycles(index, file, at, cycles);
            }
        }
    }

    /// Adds the cycles of a name, newest first.
    fn add_cycles(&mut self, index: u32, file: &RootFile, at: usize, cycles: &[&Key]) {
        let mut trees = Newest::default();
        let mut ntuples = Newest::default();
        let mut merged = Newest::default();
        let mut kept: Vec<&Key> = Vec::new();
        for &key in cycles {
            self.plan.newest = self.plan.newest.max(key.datime);
            let part = ObjectLocation { file: index, seek: key.seek_key, cycle: key.cycle };
            if key.class == "TProcessID" {
                continue;
            }
            // An RNTuple's anchor holds positions in its own file and must not be copied.
            if is_released(&key.class) {
                ntuples.add(self, (at, key), part, Action::Ntuple(Vec::new()));
            } else if is_ntuple(&key.class) {
                let path = self.plan.directories.get(at).map_or("", |d| &d.path);
                let message = format!("an RNTuple of a pre-release format, in {}", public_path(file.name()).display());
                self.plan.unreadable.push(Problem::new(path, &key.name, &message));
            } else if is_directory(&key.class) {
                let path = self.plan.directories.get(at).map_or_else(|| key.name.clone(), |d| d.path_of(&key.name));
                // ROOT writes TDirectory in keys and TDirectoryFile elsewhere. Both name one directory.
                if !self.by_path.contains_key(&path) {
                    let directory = self.directory(&path, &key.name, &key.title);
                    self.push(at, key, Action::Directory(directory));
                }
            } else if is_tree_class(file, &key.class) {
                trees.add(self, (at, key), part, Action::Tree(Vec::new()));
            } else if MergeRule::of(&key.class).merges() && !self.single {
                merged.add(self, (at, key), part, Action::Merge(Vec::new()));
            } else {
                kept.push(key);
            }
        }
        // The oldest is written first.
        for key in kept.into_iter().rev() {
            let part = ObjectLocation { file: index, seek: key.seek_key, cycle: key.cycle };
            self.append(at, key, part, Action::KeepAll(Vec::new()));
        }
    }

    /// The entry that an object of this name and class is a part of. A tree is a part of a tree: `TTree`, `TNtuple` and others differ in
    /// what they offer to those who fill them.
    fn find(&self, at: usize, key: &Key, new: &Action) -> Option<usize> {
        let entries = &self.plan.directories.get(at)?.entries;
        let known = self.by_name.get(at)?.get(&key.name)?;
        let is_tree = |action: &Action| matches!(action, Action::Tree(_));
        let fits = |e: &NamedObject| e.class == key.class || is_tree(&e.action) && is_tree(new);
        known.iter().copied().find(|i| entries.get(*i).is_some_and(fits))
    }

    fn push(&mut self, at: usize, key: &Key, action: Action) -> Option<&mut NamedObject> {
        let entries = &mut self.plan.directories.get_mut(at)?.entries;
        self.by_name.get_mut(at)?.entry(key.name.clone()).or_default().push(entries.len());
        let (name, class) = (key.name.clone(), key.class.clone());
        entries.push(NamedObject { name, class, action, older: Vec::new(), newest: key.cycle });
        entries.last_mut()
    }

    /// Adds a part to the entry of this name and class, and gives the entry's number.
    fn append(&mut self, at: usize, key: &Key, part: ObjectLocation, new: Action) -> Option<usize> {
        let known = self.find(at, key, &new);
        if known.is_none() {
            self.push(at, key, new);
        }
        self.note_class(at, key, known);
        let entries = &mut self.plan.directories.get_mut(at)?.entries;
        let number = known.or(entries.len().checked_sub(1))?;
        if let Action::Merge(parts) | Action::KeepAll(parts) | Action::Tree(parts) | Action::Ntuple(parts) =
            &mut entries.get_mut(number)?.action
        {
            parts.push(part);
        }
        Some(number)
    }

    /// Says if a tree becomes a part of one of another class.
    fn note_class(&mut self, at: usize, key: &Key, known: Option<usize>) {
        let Some(directory) = self.plan.directories.get(at) else { return };
        let Some(entry) = known.and_then(|known| directory.entries.get(known)) else { return };
        if entry.class != key.class {
            let message = format!("a {} in a further input becomes part of the {}", key.class, entry.class);
            let note = Problem::new(&directory.path, &key.name, &message);
            if !self.plan.notes.contains(&note) {
                self.plan.notes.push(note);
            }
        }
    }

    /// Adds the problems that only all inputs together show. A merge of one object becomes a copy.
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

/// The message for objects that ROOT merges and that are all kept. The order of their cycles becomes that of ROOT.
fn not_merged(class: &str, parts: &mut [ObjectLocation]) -> Option<String> {
    let first = parts.first()?.file;
    if parts.iter().all(|part| part.file == first) {
        return None;
    }
    match MergeRule::of(class) {
        MergeRule::FirstOnly => {
            // Cycles of one input stay in order.
            parts.sort_by_key(|part| std::cmp::Reverse(part.file));
            Some(format!("of a {class}, hadd keeps that of the first input alone; the others are kept as older cycles"))
        }
        MergeRule::OnlyByRoot => Some(format!("a {class}, which basketry cannot merge; all are kept as cycles")),
        _ => None,
    }
}
