//! What a path means: an object or a folder by its name, several by a pattern for each part of the path, with a cycle behind a semicolon.

use dataset::glob::Pattern;
use dataset::near::advice;
use dataset::table::catalog::split_cycle;
use rootfile::{Error, Result};

use super::{Contents, DIRECTORY_CLASS, Item, Kind, StoredObject, TOP, What, joined, kept_name};

/// Characters that make a part of a path a pattern.
const SPECIAL: [char; 4] = ['*', '?', '[', '{'];

/// The cycles that a path without one means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest.
    Newest,
    /// All.
    All,
    /// One.
    Cycle(i16),
}

/// What a path means: a name in a folder.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its path.
    pub path: String,
    /// Its folder.
    pub parent: usize,
    /// Its name there.
    pub name: String,
    /// What has the name.
    pub what: FoundObjects,
}

/// What has a name.
#[derive(Clone, Debug)]
pub enum FoundObjects {
    /// A folder, by its number.
    Folder(usize),
    /// Cycles of an object, the oldest first.
    Objects(Vec<StoredObject>),
}

impl Found {
    /// The class of the newest object; that of directories for a folder.
    pub fn class(&self) -> &str {
        match &self.what {
            FoundObjects::Folder(_) => DIRECTORY_CLASS,
            FoundObjects::Objects(cycles) => cycles.last().map_or("", |newest| &newest.class),
        }
    }

    /// The cycles.
    pub fn cycles(&self) -> Vec<i16> {
        match &self.what {
            FoundObjects::Folder(_) => Vec::new(),
            FoundObjects::Objects(cycles) => cycles.iter().map(|object| object.location.cycle).collect(),
        }
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        matches!(self.what, FoundObjects::Folder(_))
    }
}

impl Contents {
    /// What a path means. `*`, `?`, `[...]` and `{a,b}` match within a part of the path; a path that is a name as it stands is this name.
    /// `PATH;2` is a cycle, `PATH;*` all of them, and `default` says which cycles a path without one means.
    ///
    /// # Errors
    ///
    /// Nothing has such a path, or a pattern is invalid.
    pub fn find(&self, wanted: &str, default: Which) -> Result<Vec<Found>> {
        let wanted = wanted.trim_matches('/');
        let all = self.all();
        let literal = |path: &str, which: Which| -> Vec<Found> {
            let named = all.iter().filter(|(own, ..)| own == path);
            named.filter_map(|(path, parent, item)| found(path, *parent, item, which)).collect()
        };
        let (path, which) = match (wanted.strip_suffix(";*"), split_cycle(wanted)) {
            (Some(path), _) => (path, Which::All),
            (None, Some((path, cycle))) => (path, Which::Cycle(cycle)),
            (None, None) => (wanted, default),
        };
        let named = [literal(wanted, default), literal(path, which)].into_iter().find(|found| !found.is_empty());
        let found = match named {
            Some(found) => found,
            None if path.contains(SPECIAL) => self.matching(path, which)?,
            None => Vec::new(),
        };
        if found.is_empty() {
            let known: Vec<&str> = all.iter().map(|(path, ..)| path.as_str()).collect();
            let what = match (which, all.iter().any(|(own, ..)| own == path)) {
                (Which::Cycle(cycle), true) => format!("{path} has no cycle {cycle}"),
                _ => format!("has no object {wanted}{}", advice(path, known)),
            };
            return Err(Error::request(what));
        }
        Ok(self.without_lists_of(found))
    }

    /// All items with their paths and folders, folders before what is in them.
    fn all(&self) -> Vec<(String, usize, &Item)> {
        let mut all = Vec::new();
        let mut left = vec![(String::new(), TOP)];
        while let Some((path, folder)) = left.pop() {
            for item in self.items(folder) {
                let path = joined(&path, &item.name);
                if let What::Folder(below) = item.what {
                    left.push((path.clone(), below));
                }
                all.push((path, folder, item));
            }
        }
        all
    }

    /// What the parts of a path match, level by level.
    fn matching(&self, path: &str, which: Which) -> Result<Vec<Found>> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let mut level = vec![(String::new(), TOP)];
        let mut found_here = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let pattern = part.contains(SPECIAL).then(|| Pattern::new(part)).transpose()?;
            let is_match = |name: &str| name == *part || pattern.as_ref().is_some_and(|pattern| pattern.matches(name));
            let is_last = place + 1 == parts.len();
            let mut below = Vec::new();
            for (path, folder) in &level {
                for item in self.items(*folder).iter().filter(|item| is_match(&item.name)) {
                    let path = joined(path, &item.name);
                    match item.what {
                        _ if is_last => found_here.extend(found(&path, *folder, item, which)),
                        What::Folder(number) => below.push((path, number)),
                        What::Objects(_) => {}
                    }
                }
            }
            level = below;
        }
        Ok(found_here)
    }

    /// What was found without the lists of RNTuples that were found: they go with these.
    fn without_lists_of(&self, mut found: Vec<Found>) -> Vec<Found> {
        let lists: Vec<(usize, String)> = found
            .iter()
            .filter(|one| self.kept_beside(one.parent, &one.name).is_some())
            .map(|one| (one.parent, kept_name(&one.name)))
            .collect();
        found.retain(|one| !lists.iter().any(|(parent, name)| *parent == one.parent && *name == one.name));
        found
    }

    /// What is in a folder, with these cycles.
    pub fn children(&self, folder: usize, path: &str, which: Which) -> Vec<Found> {
        let items = self.items(folder).iter();
        self.without_lists_of(items.filter_map(|item| found(&joined(path, &item.name), folder, item, which)).collect())
    }

    /// The tables, the newest cycle of each name.
    pub fn tables(&self) -> Vec<Found> {
        let all = self.all();
        let newest = all.iter().filter_map(|(path, parent, item)| found(path, *parent, item, Which::Newest));
        newest.filter(|one| self.is_table(one)).collect()
    }

    /// Whether the newest of what was found is a table.
    pub fn is_table(&self, found: &Found) -> bool {
        let is_table = |object: &StoredObject| matches!(object.kind, Kind::Tree | Kind::Ntuple);
        matches!(&found.what, FoundObjects::Objects(cycles) if cycles.last().is_some_and(is_table))
    }
}

/// What is meant of a name: nothing, if it has no such cycle.
fn found(path: &str, parent: usize, item: &Item, which: Which) -> Option<Found> {
    let what = match &item.what {
        What::Folder(number) => match which {
            Which::Cycle(cycle) if cycle != 1 => return None,
            _ => FoundObjects::Folder(*number),
        },
        What::Objects(cycles) => {
            let meant: Vec<StoredObject> = match which {
                Which::Newest => cycles.last().cloned().into_iter().collect(),
                Which::All => cycles.clone(),
                Which::Cycle(cycle) => cycles.iter().filter(|one| one.location.cycle == cycle).cloned().collect(),
            };
            if meant.is_empty() {
                return None;
            }
            FoundObjects::Objects(meant)
        }
    };
    Some(Found { path: path.to_owned(), parent, name: item.name.clone(), what })
}
