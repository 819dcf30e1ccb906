//! The plan of a file that has the contents: every object with its name and cycle as they are here.

use std::collections::HashMap;

use super::{Contents, DIRECTORY_CLASS, Item, Kind, StoredObject, TOP, What, joined};
use crate::plan::{Action, NamedObject, ObjectPlan, OutputDirectory};
use crate::problem::Problem;

impl Contents {
    /// The numbers of the files that have any of the objects, ascending.
    pub fn files(&self) -> Vec<u32> {
        let mut files = Vec::new();
        let mut left = vec![TOP];
        while let Some(folder) = left.pop() {
            for item in self.items(folder) {
                match &item.what {
                    What::Folder(below) => left.push(*below),
                    What::Objects(cycles) => files.extend(cycles.iter().map(|object| object.location.file)),
                }
            }
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The plan of a file with these contents. `files` are the numbers of the files of which it takes objects, in the order in which they
    /// are given to the plan.
    pub fn plan(&self, files: &[u32]) -> ObjectPlan {
        let numbers: HashMap<u32, u32> = files.iter().copied().zip(0..).collect();
        let mut plan = ObjectPlan { single: true, as_placed: true, newest: self.newest, ..ObjectPlan::default() };
        plan.directories.push(OutputDirectory { title: self.title(TOP).to_owned(), ..OutputDirectory::default() });
        let mut left = vec![(TOP, 0)];
        while let Some((folder, at)) = left.pop() {
            let above = plan.directories.get(at).map_or_else(String::new, |directory| directory.path.clone());
            let mut entries = Vec::new();
            for item in self.items(folder) {
                let path = joined(&above, &item.name);
                match &item.what {
                    What::Folder(below) => {
                        let number = plan.directories.len();
                        let (name, title) = (item.name.clone(), self.title(*below).to_owned());
                        entries.push(named(item, DIRECTORY_CLASS, Action::Directory(number), 1));
                        plan.directories.push(OutputDirectory { path, name, title, entries: Vec::new() });
                        left.push((*below, number));
                    }
                    What::Objects(cycles) => {
                        let cycles = self.beside_folder(folder, &item.name, cycles);
                        for object in &cycles {
                            let alike = cycles.iter().filter(|other| other.kind == object.kind);
                            let newest = alike.map(|other| other.location.cycle).max().unwrap_or(1);
                            if object.kind == Kind::Unreleased {
                                plan.unreadable.push(Problem::new(
                                    &above,
                                    &item.name,
                                    "an RNTuple of a pre-release format",
                                ));
                            }
                            entries.push(named(item, &object.class, action(object, &numbers), newest));
                        }
                    }
                }
            }
            if let Some(directory) = plan.directories.get_mut(at) {
                directory.entries = entries;
            }
        }
        plan
    }

    /// Cycles of an object as they are written: a folder that has the name is the first.
    fn beside_folder(&self, folder: usize, name: &str, cycles: &[StoredObject]) -> Vec<StoredObject> {
        let is_first = |object: &StoredObject| object.location.cycle == 1;
        let shift = i16::from(self.folder(folder, name).is_some() && cycles.iter().any(is_first));
        let mut cycles = cycles.to_vec();
        cycles.iter_mut().for_each(|object| object.location.cycle = object.location.cycle.saturating_add(shift));
        cycles
    }

    fn title(&self, folder: usize) -> &str {
        self.folders.get(folder).map_or("", |folder| &folder.title)
    }

    /// Takes note of the date of other contents, some of which are put here.
    pub fn join_date(&mut self, other: &Self) {
        self.newest = self.newest.max(other.newest);
    }
}

fn named(item: &Item, class: &str, action: Action, newest: i16) -> NamedObject {
    NamedObject { name: item.name.clone(), class: class.to_owned(), action, older: Vec::new(), newest }
}

fn action(object: &StoredObject, numbers: &HashMap<u32, u32>) -> Action {
    let mut location = object.location;
    location.file = numbers.get(&location.file).copied().unwrap_or(u32::MAX);
    match object.kind {
        Kind::Tree => Action::Tree(vec![location]),
        Kind::Ntuple => Action::Ntuple(vec![location]),
        Kind::Plain | Kind::KeptList | Kind::Unreleased => Action::Copy(location),
    }
}
