//! The order of cycles where one name has objects of several classes. Readers take the newest cycle of a name, so the newest
//! object must stay the newest, although trees are written after all other objects.

use std::collections::{HashMap, HashSet};

use crate::plan::{Action, OutputDirectory};

/// The cycles of objects that share their name, in a directory of a single input.
#[derive(Debug, Default)]
pub(super) struct CycleOrder {
    /// The cycle of each object except trees, by the offset of its record.
    pub objects: HashMap<u64, i16>,
    /// The cycles of the trees of a name, in the order in which they are written.
    pub trees: HashMap<String, Vec<i16>>,
}

impl CycleOrder {
    /// The cycles in a directory, some names of which are `shared`. `trees` gives the number of cycles of a tree that are written.
    pub fn of(directory: &OutputDirectory, shared: &HashSet<&str>, trees: impl Fn(&str) -> usize) -> Self {
        let mut order = Self::default();
        for name in shared {
            // The cycle in the input, and the position of an object that is not a tree.
            let mut cycles: Vec<(i16, Option<u64>)> = Vec::new();
            let mut directories = 0;
            for entry in directory.entries.iter().filter(|entry| entry.name == *name) {
                match &entry.action {
                    Action::Directory(_) => directories += 1,
                    Action::Tree(parts) | Action::Ntuple(parts) => {
                        let older = entry.older.iter().flat_map(|parts| parts.first());
                        let written = parts.first().into_iter().chain(older).take(trees(name));
                        cycles.extend(written.map(|part| (part.cycle, None)));
                    }
                    Action::Stay(_) => {}
                    Action::Copy(part) => cycles.push((part.cycle, Some(part.seek))),
                    Action::Merge(parts) | Action::KeepAll(parts) => {
                        cycles.extend(parts.iter().map(|part| (part.cycle, Some(part.seek))));
                    }
                }
            }
            cycles.sort_unstable();
            for (cycle, (_, seek)) in (1 + directories..).zip(cycles) {
                match seek {
                    Some(seek) => {
                        order.objects.insert(seek, cycle);
                    }
                    None => order.trees.entry((*name).to_owned()).or_default().push(cycle),
                }
            }
        }
        order
    }
}
