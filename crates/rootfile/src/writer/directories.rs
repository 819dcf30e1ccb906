//! The directories of an output: the keys in each, their cycles, and the order of a list of keys.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::key::Key;

/// A directory of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirId(pub(super) usize);

pub(super) struct OpenDirectory {
    pub name: String,
    pub title: String,
    /// Offset of the parent's record, 0 for the top.
    pub seek_parent: u64,
    /// Offset of the record, and of its fields.
    pub seek: u64,
    pub fields: u64,
    pub keys: Vec<Key>,
    /// Its path, and the number of the directory around it: known in updates.
    pub path: String,
    pub parent: usize,
    /// Whether it has a record of the new state.
    pub is_moved: bool,
    /// The newest cycle of each name.
    cycles: HashMap<String, i16>,
}

impl OpenDirectory {
    pub fn new(name: &str, title: &str, seek_parent: u64, seek: u64, fields: u64) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            seek_parent,
            seek,
            fields,
            keys: Vec::new(),
            path: String::new(),
            parent: 0,
            is_moved: false,
            cycles: HashMap::new(),
        }
    }

    pub fn add_key(&mut self, key: Key) {
        self.cycles.insert(key.name.clone(), key.cycle);
        self.keys.push(key);
    }

    /// Adds a key with a cycle of its own.
    pub fn keep_key(&mut self, key: Key) {
        let newest = self.cycles.entry(key.name.clone()).or_default();
        *newest = key.cycle.max(*newest);
        self.keys.push(key);
    }

    /// Puts a key in the place of the one at an offset, whose cycle it takes, or behind all others.
    pub fn replace_key(&mut self, seek: u64, mut key: Key) {
        match self.keys.iter_mut().find(|known| known.seek_key == seek) {
            Some(known) => {
                key.cycle = known.cycle;
                *known = key;
            }
            None => self.add_key(key),
        }
    }

    /// Sets the newest cycle of a name.
    pub fn set_cycle(&mut self, name: &str, cycle: i16) {
        self.cycles.insert(name.to_owned(), cycle);
    }

    /// The cycle that the next object of this name gets.
    pub fn next_cycle(&self, name: &str) -> i16 {
        self.cycles.get(name).copied().unwrap_or(0).saturating_add(1)
    }

    /// The keys as a list has them, with `saved` among them: readers take the first key of a name, which must be
    /// the newest cycle.
    pub fn listed<'a>(&'a self, saved: &'a [Key]) -> Vec<&'a Key> {
        let mut keys: Vec<&Key> = self.keys.iter().chain(saved).collect();
        if self.cycles.len() < keys.len() {
            let mut first: HashMap<&str, usize> = HashMap::with_capacity(self.cycles.len());
            for (i, key) in keys.iter().enumerate() {
                first.entry(&key.name).or_insert(i);
            }
            keys.sort_by_key(|key| (first.get(key.name.as_str()).copied(), Reverse(key.cycle)));
        }
        keys
    }
}
