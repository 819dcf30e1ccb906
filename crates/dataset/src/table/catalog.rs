//! The tables in a file: every tree and RNTuple that has a key, and which of them are the newest. Only lists of keys are
//! read, so a table of the catalog may still be damaged.

use std::collections::HashMap;

use rootfile::{Directory, Key, RootFile, is_directory};

use crate::layout::Container;
use crate::ntuple::{is_ntuple, is_released};
use crate::tree::is_tree_class;

/// A tree or RNTuple in a file.
#[derive(Clone, Debug)]
pub struct TableEntry {
    /// Its path from the top, without its cycle.
    pub path: String,
    /// Its key.
    pub key: Key,
    /// Its container.
    pub container: Container,
    /// Whether no other table of this path and container has a higher cycle. Trees, RNTuples, and RNTuples of a
    /// pre-release format that share a name do not replace each other: a rewrite keeps the newest of each.
    pub newest: bool,
}

impl TableEntry {
    /// Whether it is an RNTuple of a pre-release format.
    pub fn is_unreleased(&self) -> bool {
        self.container == Container::Rntuple && !is_released(&self.key.class)
    }
}

/// The container of objects of a class in a file, if they are tables.
pub fn container_of(file: &RootFile, class: &str) -> Option<Container> {
    match class {
        _ if is_ntuple(class) => Some(Container::Rntuple),
        _ if is_tree_class(file, class) => Some(Container::Ttree),
        _ => None,
    }
}

/// Whether a key is that of an object which is no table and no directory.
pub fn is_object(file: &RootFile, key: &Key) -> bool {
    !is_directory(&key.class) && container_of(file, &key.class).is_none()
}

/// All tables of a file, all cycles, in the order of directories and keys.
pub fn tables(file: &RootFile) -> Vec<TableEntry> {
    tables_in(file, &file.walk().directories)
}

/// The tables that directories of a file have, as [`tables`].
pub fn tables_in(file: &RootFile, directories: &[Directory]) -> Vec<TableEntry> {
    let mut found: Vec<TableEntry> = Vec::new();
    let mut newest: HashMap<(String, Container, bool), usize> = HashMap::new();
    for directory in directories {
        for key in &directory.keys {
            let Some(container) = container_of(file, &key.class) else { continue };
            let path = directory.path_of(&key.name);
            let known = newest.entry((path.clone(), container, is_released(&key.class))).or_insert(found.len());
            let before = found.get_mut(*known);
            let is_newest = before.as_ref().is_none_or(|before| before.key.cycle < key.cycle);
            if let (true, Some(before)) = (is_newest, before) {
                before.newest = false;
                *known = found.len();
            }
            found.push(TableEntry { path, key: key.clone(), container, newest: is_newest });
        }
    }
    found
}

impl TableEntry {
    /// Whether an address names it: by its path, if it is the newest of its kind there, or by path and cycle (`dir/tree;2`).
    pub fn is_named(&self, wanted: &str) -> bool {
        let cycle = wanted.strip_prefix(self.path.as_str()).and_then(|rest| rest.strip_prefix(';')?.parse().ok());
        cycle.map_or(self.newest && wanted == self.path, |cycle: i16| cycle == self.key.cycle)
    }
}

/// What readers find by a path alone: of the tables of each path that with the highest cycle, whatever its container.
pub fn by_path(tables: &[TableEntry]) -> Vec<&TableEntry> {
    let mut found: Vec<&TableEntry> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for table in tables.iter().filter(|table| table.newest) {
        let place = *places.entry(&table.path).or_insert(found.len());
        match found.get_mut(place) {
            Some(known) if known.key.cycle >= table.key.cycle => {}
            Some(known) => *known = table,
            None => found.push(table),
        }
    }
    found
}

/// What readers get without a path: the only tree, which goes before RNTuples beside it, or the only table.
pub fn only(tables: &[TableEntry]) -> Option<&TableEntry> {
    let named = by_path(tables);
    let mut trees = named.iter().filter(|table| table.container == Container::Ttree);
    let only_tree = trees.next().filter(|_| trees.next().is_none());
    only_tree.or_else(|| named.first().filter(|_| named.len() == 1)).copied()
}

/// The path and the cycle of an address that has both. A name may have a semicolon; a cycle is a number behind one.
pub fn split_cycle(wanted: &str) -> Option<(&str, i16)> {
    let (path, cycle) = wanted.rsplit_once(';')?;
    Some((path, cycle.parse().ok()?))
}

/// The table of a path, or of a path and a cycle (`dir/tree;2`). Slashes around the path do not count, unless they are
/// part of a name.
pub fn find<'a>(tables: &'a [TableEntry], wanted: &str) -> Option<&'a TableEntry> {
    let (wanted, cycle) = split_cycle(wanted).map_or((wanted, None), |(path, cycle)| (path, Some(cycle)));
    // A name may be empty: its path ends with a slash.
    [wanted, wanted.trim_start_matches('/'), wanted.trim_matches('/')].iter().find_map(|wanted| {
        let alike = tables.iter().filter(|table| table.path == *wanted);
        match cycle {
            Some(cycle) => alike.into_iter().find(|table| table.key.cycle == cycle),
            None => alike.rev().max_by_key(|table| table.key.cycle),
        }
    })
}
