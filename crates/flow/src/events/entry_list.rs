//! Lists of entries as ROOT writes them (`TEntryList`, `TEventList`), named as `FILE.root:LIST`: entries of named files, or numbers through all
//! files in their order.

use std::path::Path;

use dataset::glob::NameFilter;
use objects::{SelectedEntries, is_entry_list, selected_entries};
use rootfile::{Error, FilePool, Key, OPEN_FILES, Result, RootFile, is_same_file, public_path, url};

use super::hits::{Found, Hits};
use crate::execute::progress::Progress;
use crate::execute::workers::Workers;
use crate::keys::KeyedFile;
use crate::keys::files::table_with;
use crate::plan::format::Format;
use crate::plan::inputs::Input;
use crate::plan::skipped::{BadFiles, Skipped};
use crate::rewrite::options::Options;

/// Lists, and the files in which they are.
#[derive(Debug, Default)]
pub(super) struct EntryLists {
    pub lists: Vec<SelectedEntries>,
}

/// What the lists name in files.
#[derive(Debug, Default)]
pub(super) struct ListedHits {
    pub hits: Vec<Hits>,
    /// What they name and no file has.
    pub missing: Vec<String>,
    pub skipped: Vec<Skipped>,
    pub notes: Vec<String>,
}

/// The file and the list that a text names, if the file is one of ROOT's.
pub(super) fn named(text: &str) -> Option<Input> {
    if text.contains('\n') {
        return None;
    }
    let Ok(input) = text.parse::<Input>();
    let is_there = url(&input.path).is_some() || input.path.is_file();
    (is_there && matches!(Format::of(&input.path), Ok(Format::Root))).then_some(input)
}

impl EntryLists {
    /// Adds the list that an address names: without a name the only one in the file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has no such list.
    pub fn add(&mut self, input: &Input) -> Result<()> {
        let file = RootFile::open(&input.path)?;
        let walk = file.walk();
        let all =
            walk.directories.iter().flat_map(|d| d.newest_first().into_iter().map(|key| (d.path_of(&key.name), key)));
        let lists: Vec<(String, &Key)> = all.filter(|(_, key)| is_entry_list(&key.class)).collect();
        let mut names: Vec<&str> = lists.iter().map(|(path, _)| path.as_str()).collect();
        names.dedup();
        let refused = |what: String| Error::request(what).file(&input.path);
        let key = match (&input.tree, names.as_slice()) {
            (Some(name), _) => {
                let found = lists.iter().find(|(path, _)| path == name).map(|(_, key)| *key);
                found.ok_or_else(|| refused(format!("has no list of entries {name}; there are: {}", shown(&names))))?
            }
            (None, [_]) => {
                lists.first().map(|(_, key)| *key).ok_or_else(|| refused("has no list of entries".to_owned()))?
            }
            (None, []) => return Err(refused("has no list of entries (TEntryList, TEventList)".to_owned())),
            (None, _) => {
                return Err(refused(format!("has several lists of entries; name one as FILE:LIST: {}", shown(&names))));
            }
        };
        self.lists.extend(selected_entries(&file, key)?);
        Ok(())
    }

    /// The entries of these lists in the table of each input. `progress` can end the work.
    ///
    /// # Errors
    ///
    /// A file cannot be read or has no such table, or the lists are of several trees.
    pub fn find(&self, inputs: &[Input], options: &Options, progress: Progress<'_>) -> Result<ListedHits> {
        let inputs = self.with_tree(inputs)?;
        let (files, skipped) = tables(&inputs, options, progress)?;
        let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
        let mut found: Vec<Vec<Found>> = vec![Vec::new(); files.len()];
        let (mut missing, mut notes) = (Vec::new(), Vec::new());
        // The key of an entry is the number of the list that names it first.
        for (key, list) in (0u128..).zip(&self.lists) {
            if list.file.is_empty() {
                missing.extend(through_all(&list.entries, &files, &mut |file, entry| {
                    found.get_mut(file).into_iter().for_each(|found| found.push(Found { key, entry }));
                }));
                continue;
            }
            let Some(place) = self.place_of(list, &paths) else {
                let (count, file) = (list.entries.len(), public_path(Path::new(&list.file)).display().to_string());
                missing.extend(
                    (count > 0).then(|| format!("{file}: {count} entries of a file that is not among the inputs")),
                );
                continue;
            };
            let (Some(file), Some(of_file)) = (files.get(place), found.get_mut(place)) else { continue };
            if !is_file(&list.file, &file.path) {
                let (named, path) = (public_path(Path::new(&list.file)).display().to_string(), public_path(&file.path));
                notes.push(format!("the list names {named}, and {} has its name: it is taken for it", path.display()));
            }
            let is_there = |entry: &&u64| **entry < file.entries;
            of_file.extend(list.entries.iter().filter(is_there).map(|entry| Found { key, entry: *entry }));
            let beyond = list.entries.iter().filter(|entry| !is_there(entry));
            missing.extend(beyond.map(|entry| format!("entry {entry} of {}", public_path(&file.path).display())));
        }
        let of_file = |(file, mut found): (KeyedFile, Vec<Found>)| {
            found.sort_unstable_by_key(|found| (found.entry, found.key));
            found.dedup_by_key(|found| found.entry);
            (file, found)
        };
        Ok(ListedHits { hits: Hits::of(files.into_iter().zip(found).map(of_file)), missing, skipped, notes })
    }

    /// The inputs with the tree that the lists name, where they name none.
    fn with_tree(&self, inputs: &[Input]) -> Result<Vec<Input>> {
        let mut trees = self.lists.iter().map(|list| list.tree.trim_matches('/')).filter(|tree| !tree.is_empty());
        let first = trees.next();
        if let (Some(first), Some(other)) = (first, trees.find(|tree| Some(*tree) != first)) {
            return Err(Error::request(format!("the lists are of several trees: {first} and {other}; pick takes one")));
        }
        let named = |input: &Input| match (&input.tree, first) {
            (Some(own), Some(first)) if own != first => {
                Err(Error::request(format!("the list is of the tree {first}, not of {own}")).file(&input.path))
            }
            (None, Some(first)) if !Format::is_parquet(&input.path) => {
                Ok(Input { tree: Some(first.to_owned()), ..input.clone() })
            }
            _ => Ok(input.clone()),
        };
        inputs.iter().map(named).collect()
    }

    /// The file of a list among the inputs: that with its path, or else the only one with its name, if no other list is of such a name.
    fn place_of(&self, list: &SelectedEntries, paths: &[&Path]) -> Option<usize> {
        if let Some(place) = paths.iter().position(|path| is_file(&list.file, path)) {
            return Some(place);
        }
        let name = name_of(&list.file);
        let mut alike = paths.iter().enumerate().filter(|(_, path)| name_of(&path.to_string_lossy()) == name);
        let (Some((place, _)), None) = (alike.next(), alike.next()) else { return None };
        let is_meant = self.lists.iter().any(|other| paths.get(place).is_some_and(|path| is_file(&other.file, path)));
        let others = self.lists.iter().filter(|other| other.file != list.file && name_of(&other.file) == name);
        (!is_meant && others.count() == 0).then_some(place)
    }
}

/// Whether a file is the one that a list names.
fn is_file(named: &str, path: &Path) -> bool {
    let named = named.strip_prefix("file://").unwrap_or(named);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match url(path) {
        Some(address) => address == named,
        None => absolute(path) == Path::new(named) || is_same_file(path, Path::new(named)),
    }
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn shown(names: &[&str]) -> String {
    names.join(", ")
}

/// Calls `add` with entries that are counted through all files: with the number of the file, and that of the entry there. Returns those
/// behind the last one.
fn through_all(entries: &[u64], files: &[KeyedFile], add: &mut dyn FnMut(usize, u64)) -> Vec<String> {
    let mut left = entries;
    let mut first = 0;
    for (number, file) in files.iter().enumerate() {
        let end = first + file.entries;
        let (own, others) = left.split_at(left.partition_point(|entry| *entry < end));
        own.iter().for_each(|entry| add(number, entry - first));
        (left, first) = (others, end);
    }
    left.iter().map(|entry| format!("entry {entry} of {first}")).collect()
}

/// The tables of the inputs.
fn tables(inputs: &[Input], options: &Options, progress: Progress<'_>) -> Result<(Vec<KeyedFile>, Vec<Skipped>)> {
    let pool = FilePool::following(OPEN_FILES, options.inputs.follow);
    let (bad, memory) = (BadFiles { skip: options.inputs.skip_bad }, options.budget.memory);
    let workers = Workers::new("the tables of entry lists", options.budget.threads, progress).in_order();
    let opened = workers.results(inputs.len(), |number| {
        let Some(input) = inputs.get(number) else { return Err(Error::request("there is no such file")) };
        let opened = table_with(&pool, input, memory, "entries", &|_, open| {
            Ok(Ok(KeyedFile::of(&input.path, &open(&NameFilter::default())?)?))
        });
        bad.hold(opened.map_err(|e| if e.path().is_some() { e } else { e.file(&input.path) }))
    })?;
    let paths: Vec<&Path> = inputs.iter().map(|input| input.path.as_path()).collect();
    let (files, skipped) = BadFiles::sort_out(opened, &paths)?;
    Ok((files.into_iter().flatten().collect(), skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(file: &str, entries: &[u64]) -> SelectedEntries {
        SelectedEntries { tree: "t".to_owned(), file: file.to_owned(), entries: entries.to_vec() }
    }

    #[test]
    fn a_list_is_of_the_file_of_its_path_or_of_the_only_one_of_its_name() {
        let paths = ["/here/a.root", "/here/b.root", "/there/b.root"].map(Path::new);
        let lists =
            EntryLists { lists: vec![list("/here/b.root", &[]), list("/moved/a.root", &[]), list("/x/b.root", &[])] };
        let places: Vec<_> = lists.lists.iter().map(|list| lists.place_of(list, &paths)).collect();
        assert_eq!(places, [Some(1), Some(0), None]);
        let twice = EntryLists { lists: vec![list("/x/a.root", &[]), list("/y/a.root", &[])] };
        assert_eq!(twice.place_of(&twice.lists[0], &paths), None);
    }

    #[test]
    fn numbers_go_through_all_files() {
        let file = |entries| KeyedFile { entries, ..KeyedFile::default() };
        let (files, mut found) = ([file(3), file(0), file(4)], Vec::new());
        let beyond = through_all(&[0, 2, 3, 6, 7, 9], &files, &mut |file, entry| found.push((file, entry)));
        assert_eq!(found, [(0, 0), (0, 2), (2, 0), (2, 3)]);
        assert_eq!(beyond, ["entry 7 of 7", "entry 9 of 7"]);
    }
}
