//! What is in the inputs, by path: directories, trees, and all other objects.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dataset::tree::is_tree_class;
use rootfile::{Error, Key, Result, RootFile, is_directory};

/// A tree by its path, and where the inputs have it.
#[derive(Debug)]
pub(crate) struct TreePlace {
    /// Path of its directory, empty for the top.
    pub directory: String,
    /// Path in the file.
    pub path: String,
    /// Number of the input, and the newest cycle's key.
    pub keys: Vec<(usize, Key)>,
}

/// Directories and trees of the inputs, in the order they are met.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Paths and titles of directories, parents first, without the top.
    pub directories: Vec<(String, String)>,
    /// Trees.
    pub trees: Vec<TreePlace>,
    /// Everything else: directory, number of the input, key.
    pub objects: Vec<(String, usize, Key)>,
    /// The newest date of any key.
    pub newest: u32,
}

impl Contents {
    /// Looks through all inputs. A directory that cannot be read is an error: its content would be lost.
    pub fn of(files: &[Arc<RootFile>]) -> Result<Self> {
        let mut contents = Self::default();
        let mut known: HashMap<String, ()> = HashMap::new();
        let mut trees: BTreeMap<String, usize> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            let walk = file.walk();
            if let Some(problem) = walk.problems.into_iter().next() {
                return Err(problem);
            }
            for directory in walk.directories {
                if !directory.path.is_empty() && known.insert(directory.path.clone(), ()).is_none() {
                    contents.directories.push((directory.path.clone(), directory.title.clone()));
                }
                for key in &directory.keys {
                    contents.newest = contents.newest.max(key.datime);
                    if is_directory(&key.class) {
                        continue;
                    }
                    if !is_tree_class(file, &key.class) {
                        contents.objects.push((directory.path.clone(), number, key.clone()));
                        continue;
                    }
                    let path = directory.path_of(&key.name);
                    let place = *trees.entry(path.clone()).or_insert_with(|| {
                        let directory = directory.path.clone();
                        contents.trees.push(TreePlace { directory, path, keys: Vec::new() });
                        contents.trees.len() - 1
                    });
                    if let Some(place) = contents.trees.get_mut(place) {
                        place.add(number, key);
                    }
                }
            }
        }
        // Lists have the newest cycle first, and it is to be the newest again.
        contents.objects.sort_by_key(|(_, number, key)| (*number, key.cycle));
        Ok(contents)
    }

    /// Leaves only one tree.
    pub fn only(&mut self, path: &str) -> Result<()> {
        let all: Vec<String> = self.trees.iter().map(|t| t.path.clone()).collect();
        self.trees.retain(|t| t.path == path);
        if self.trees.is_empty() {
            return Err(Error::request(format!("no tree {path}; there are: {}", all.join(", "))));
        }
        Ok(())
    }
}

impl TreePlace {
    /// Older cycles are backups of the same tree: only the newest counts.
    fn add(&mut self, number: usize, key: &Key) {
        match self.keys.last_mut() {
            Some((last, known)) if *last == number => {
                if key.cycle > known.cycle {
                    *known = key.clone();
                }
            }
            _ => self.keys.push((number, key.clone())),
        }
    }
}
