//! The objects of a file that a path means, as `rootls` finds them: level by level, by name and from the newest cycle on.

use dataset::glob::Pattern;
use rootfile::{Directory, Key, Result, RootFile, is_directory};

/// An object, or a directory in another.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub key: Key,
    /// The path of the directory that it is.
    pub directory: Option<String>,
}

/// What a path in a file means.
pub(super) struct Nodes<'a> {
    pub file: &'a RootFile,
    directories_of_file: Vec<Directory>,
    /// The objects that are no directories.
    pub objects: Vec<Node>,
    /// Paths of the directories.
    pub directories: Vec<String>,
}

impl<'a> Nodes<'a> {
    pub fn of(file: &'a RootFile, wanted: &str) -> Result<Self> {
        let walk = file.walk();
        if let Some(problem) = walk.problems.into_iter().next() {
            return Err(problem.file(file.name()));
        }
        let (objects, directories) = (Vec::new(), Vec::new());
        let mut nodes = Self { file, directories_of_file: walk.directories, objects, directories };
        let parts: Vec<&str> = wanted.split('/').filter(|part| !part.is_empty()).collect();
        let mut level = vec![String::new()];
        for (place, part) in parts.iter().enumerate() {
            let pattern = Pattern::new(part)?;
            let matching = level.iter().flat_map(|path| nodes.children(path));
            let found: Vec<Node> = matching.filter(|node| pattern.matches(&node.key.name)).collect();
            level = found.iter().filter_map(|node| node.directory.clone()).collect();
            if place + 1 == parts.len() {
                nodes.objects = found.into_iter().filter(|node| node.directory.is_none()).collect();
            }
        }
        sort(&mut nodes.objects);
        nodes.directories = level;
        Ok(nodes)
    }

    /// What is in a directory.
    pub fn children(&self, path: &str) -> Vec<Node> {
        let Some(directory) = self.directories_of_file.iter().find(|own| own.path == path) else { return Vec::new() };
        let node = |key: &Key| Node {
            key: key.clone(),
            directory: is_directory(&key.class).then(|| directory.path_of(&key.name)),
        };
        let mut nodes: Vec<Node> = directory.keys.iter().map(node).collect();
        sort(&mut nodes);
        nodes
    }
}

/// Sorts by names and from the newest cycle on.
fn sort(nodes: &mut [Node]) {
    nodes.sort_by(|a, b| (a.key.name.as_str(), b.key.cycle).cmp(&(b.key.name.as_str(), a.key.cycle)));
}
