//! What is in a file whose lists of keys are missing: directories, objects, trees and baskets, by their records.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use dataset::tree::basket::{BasketData, BasketHeader};
use dataset::tree::{Branch, Tree, is_tree_class, read_tree};
use rootfile::bytes::Cursor;
use rootfile::{Directory, Key, Result, RootFile, is_directory};

use super::report::Unreadable;

/// A basket that lies in the file.
pub(super) struct Basket {
    pub tree: String,
    pub branch: String,
    pub seek: u64,
    pub seek_pdir: u64,
    pub nbytes: u32,
    /// Bytes before compression, its key included.
    pub raw: u64,
    pub entries: u64,
    /// When it was written.
    pub datime: u32,
    /// In files that ROOT wrote the number of the basket in its branch (`TBasket::WriteBuffer`), as far as it fits.
    pub cycle: i16,
}

/// A tree, by a record of it or by its like.
pub(super) struct FoundTree {
    /// Index of its directory.
    pub directory: usize,
    pub key: Key,
    pub tree: Tree,
    pub from_like: bool,
}

/// What is in the file.
pub(super) struct Found {
    pub file: RootFile,
    /// Directories, with the keys of all that are no trees.
    pub directories: Vec<Directory>,
    pub trees: Vec<FoundTree>,
    pub baskets: Vec<Basket>,
    pub notes: Vec<String>,
    /// Records that cannot be read.
    pub unreadable: Vec<Unreadable>,
}

/// Finds all that can be found. Trees without a record are made like those of `like`.
pub(super) fn find(input: &Path, like: Option<&RootFile>) -> Result<Found> {
    let file = RootFile::open_unlisted(input)?;
    let mut notes = Vec::new();
    let begin = file.header().begin;
    let mut records = Vec::new();
    let mut end = file.walk_records(begin, |key| records.push(key))?;
    let file = with_infos(file, &records, like);
    // Behind bytes that are no record there may be others: from the end of what was saved on, of what that knows, and
    // where a list of keys that can be read says.
    let listed = listed(input);
    let mut tried = BTreeSet::new();
    while end < file.source().size() {
        let saved = file.header().end;
        let trees = records.iter().filter(|key| is_tree_class(&file, &key.class));
        let known = trees.filter_map(|key| read_tree(&file, key).ok()).flat_map(|tree| ends(&tree)).chain([saved]);
        let known = known.chain(listed.iter().copied());
        let Some(next) = known.filter(|at| *at > end && tried.insert(*at)).min() else { break };
        notes.push(format!("bytes {end} to {next} are no records, and are passed over"));
        end = file.walk_records(next, |key| records.push(key))?;
    }
    let left = file.source().size().saturating_sub(end);
    if left > 0 {
        notes.push(format!("the last {left} bytes are no whole record"));
    }
    let directories = directories(&file, &records);
    let places: HashMap<u64, usize> = directories.iter().enumerate().map(|(i, d)| (d.seek, i)).collect();
    let mut found = Found { file, directories, trees: Vec::new(), baskets: Vec::new(), notes, unreadable: Vec::new() };
    found.sort_out(records, &places);
    if let Some(like) = like {
        found.take_likes(like)?;
    }
    Ok(found)
}

/// Where the records of the keys in a file's lists begin, as far as the lists can be read.
fn listed(input: &Path) -> Vec<u64> {
    let Ok(file) = RootFile::open(input) else { return Vec::new() };
    let directories = file.walk().directories;
    let keys = directories.iter().flat_map(|directory| &directory.keys).map(|key| key.seek_key);
    keys.chain([file.header().seek_info]).filter(|at| *at >= file.header().begin).collect()
}

/// Where the baskets that a tree knows end.
fn ends(tree: &Tree) -> Vec<u64> {
    let baskets = tree.branches.iter().flat_map(|branch| &branch.baskets);
    baskets.map(|basket| basket.seek.saturating_add(u64::from(basket.nbytes))).collect()
}

/// The last streamer infos that were written and can be read, or else those of the file's like.
fn with_infos(file: RootFile, records: &[Key], like: Option<&RootFile>) -> RootFile {
    let written = records.iter().rev().filter(|key| key.name == "StreamerInfo" && key.class == "TList");
    let mut places = written.map(|key| key.seek_key).chain([file.header().seek_info].into_iter().filter(|at| *at > 0));
    let mut infos = places.find_map(|at| file.infos_at(at).ok()).map(|infos| (*infos).clone()).unwrap_or_default();
    if let Some(like) = like {
        infos.extend(like.infos());
    }
    file.with_infos(Arc::new(infos))
}

/// The directories whose records are there, the top one first.
fn directories(file: &RootFile, records: &[Key]) -> Vec<Directory> {
    let mut top = file.top().clone();
    top.keys.clear();
    let mut places = HashMap::from([(top.seek, 0)]);
    let mut directories = vec![top];
    let mut seen: HashMap<String, usize> = HashMap::new();
    for key in records.iter().filter(|key| is_directory(&key.class) && file.directory_record(key).is_some()) {
        let parent = places.get(&key.seek_pdir).copied().unwrap_or(0);
        let Some(above) = directories.get_mut(parent) else { continue };
        // A damaged name must not make a directory lie in itself.
        if key.name.is_empty() || key.name.contains('/') {
            continue;
        }
        let path = above.path_of(&key.name);
        if let Some(same) = seen.get(&path) {
            places.insert(key.seek_key, *same);
            continue;
        }
        above.keys.push(key.clone());
        seen.insert(path.clone(), directories.len());
        places.insert(key.seek_key, directories.len());
        directories.push(Directory { path, title: key.title.clone(), seek: key.seek_key, keys: Vec::new() });
    }
    directories
}

impl Found {
    /// Puts records where they belong.
    fn sort_out(&mut self, records: Vec<Key>, places: &HashMap<u64, usize>) {
        let mut candidates: Vec<(usize, Key)> = Vec::new();
        let mut objects: Vec<(usize, Key)> = Vec::new();
        let mut tuples = 0u64;
        for key in records {
            let directory = places.get(&key.seek_pdir).copied().unwrap_or(0);
            match key.class.as_str() {
                "TBasket" => self.baskets.extend(basket(&self.file, &key)),
                // Lists of keys and free lists are under the names of their directories.
                "TFile" | "" => {}
                "TList" if key.name == "StreamerInfo" => {}
                "RBlob" | "ROOT::RNTuple" | "ROOT::Experimental::RNTuple" => tuples += 1,
                class if is_directory(class) => {}
                class if is_tree_class(&self.file, class) => candidates.push((directory, key)),
                _ => objects.push((directory, key)),
            }
        }
        if tuples > 0 {
            self.notes.push(format!("{tuples} records of RNTuples are left out: only trees can be brought back"));
        }
        self.take_trees(candidates);
        self.take_objects(objects);
    }

    /// Of each tree the record that knows most. Other trees of the same name are kept apart.
    fn take_trees(&mut self, candidates: Vec<(usize, Key)>) {
        let mut best: Vec<FoundTree> = Vec::new();
        for (directory, key) in candidates {
            let tree = match read_tree(&self.file, &key) {
                Ok(tree) => tree,
                Err(e) => {
                    self.unreadable.push(Unreadable::new(&key, &e));
                    continue;
                }
            };
            let found = FoundTree { directory, key, tree, from_like: false };
            let same = best.iter_mut().find(|b| {
                b.directory == directory && b.key.name == found.key.name && are_saves_of_one(&b.tree, &found.tree)
            });
            match same {
                Some(before) if before.tree.entries <= found.tree.entries => *before = found,
                Some(_) => {}
                None => best.push(found),
            }
        }
        // The newest of a name first, as lists of keys have them.
        best.sort_by_key(|found| (found.directory, found.key.name.clone(), std::cmp::Reverse(found.key.cycle)));
        self.trees = best;
    }

    /// Other objects, the last of each name and cycle; the newest cycle first, as lists have them.
    fn take_objects(&mut self, mut objects: Vec<(usize, Key)>) {
        objects.reverse();
        let mut seen = HashSet::new();
        objects.retain(|(directory, key)| seen.insert((*directory, key.name.clone(), key.cycle)));
        objects.retain(|(_, key)| match self.file.payload(key) {
            Ok(_) => true,
            Err(e) => {
                self.unreadable.push(Unreadable::new(key, &e));
                false
            }
        });
        objects.sort_by_key(|(_, key)| key.seek_key);
        let mut first: HashMap<(usize, String), usize> = HashMap::new();
        for (i, (directory, key)) in objects.iter().enumerate() {
            first.entry((*directory, key.name.clone())).or_insert(i);
        }
        objects.sort_by_key(|(directory, key)| {
            (first.get(&(*directory, key.name.clone())).copied(), std::cmp::Reverse(key.cycle))
        });
        for (directory, key) in objects {
            if let Some(directory) = self.directories.get_mut(directory) {
                directory.keys.push(key);
            }
        }
    }

    /// Trees of which there are baskets and no record, made like those of another file.
    fn take_likes(&mut self, like: &RootFile) -> Result<()> {
        let known: HashSet<String> = self.trees.iter().map(|tree| tree.key.name.clone()).collect();
        let there: HashSet<&str> = self.baskets.iter().map(|basket| basket.tree.as_str()).collect();
        let mut made = Vec::new();
        for directory in like.walk().directories {
            let mut seen = HashSet::new();
            for key in directory.keys.iter().filter(|key| is_tree_class(like, &key.class)) {
                let name = key.name.as_str();
                if known.contains(name) || !there.contains(name) || !seen.insert(name) {
                    continue;
                }
                let mut tree = read_tree(like, key)?;
                empty(&mut tree);
                let place = self.directories.iter().position(|d| d.path == directory.path).unwrap_or(0);
                let mut key = key.clone();
                // It has no record; no other key has this place.
                key.seek_key = self.file.source().size() + 1 + made.len() as u64;
                made.push(FoundTree { directory: place, key, tree, from_like: true });
            }
        }
        for tree in &made {
            self.notes.push(format!("the branches of tree {} are taken from the file given by --like", tree.key.name));
        }
        self.trees.extend(made);
        Ok(())
    }
}

/// Whether two records of one name are saves of the same tree: the one with fewer entries lists nothing but baskets that
/// the other lists as well, in the same places.
fn are_saves_of_one(a: &Tree, b: &Tree) -> bool {
    let (fewer, more) = if a.entries <= b.entries { (a, b) } else { (b, a) };
    let mut branches: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, branch) in more.branches.iter().enumerate() {
        branches.entry(branch.name()).or_default().push(i);
    }
    // Branches of one name follow one another in both.
    let mut seen: HashMap<&str, usize> = HashMap::new();
    fewer.branches.iter().all(|branch| {
        let nth = seen.entry(branch.name()).or_default();
        let same = branches.get(branch.name()).and_then(|all| all.get(*nth)).and_then(|i| more.branches.get(*i));
        *nth += 1;
        let Some(same) = same else { return false };
        let stored = branch.baskets.iter().take_while(|basket| basket.seek > 0);
        let (ours, theirs) = (entries_held(branch), entries_held(same));
        stored.zip(&same.baskets).all(|(a, b)| a.seek == b.seek && a.entries == b.entries)
            && match (ours, theirs) {
                // Entries that both keep in their own records.
                (Some(ours), Some(theirs)) if stored_baskets(branch) == stored_baskets(same) => {
                    theirs.starts_with(&ours)
                }
                _ => stored_baskets(branch) <= stored_baskets(same),
            }
    })
}

/// Baskets with a record of their own.
fn stored_baskets(branch: &Branch) -> usize {
    branch.baskets.iter().take_while(|basket| basket.seek > 0).count()
}

/// The bytes of the entries of a branch that lie in the tree's record.
fn entries_held(branch: &Branch) -> Option<Vec<u8>> {
    let (_, last) = branch.embedded.last()?;
    let (_, data) = BasketData::parse_embedded(&last.bytes).ok()?;
    Some(data.data.to_vec())
}

/// Takes the entries out of a tree, and what is known of them.
fn empty(tree: &mut Tree) {
    (tree.entries, tree.tot_bytes, tree.zip_bytes) = (0, 0, 0);
    tree.cluster_ranges.clear();
    tree.tree_index = None;
    for branch in &mut tree.branches {
        (branch.entries, branch.entry_number, branch.first_entry) = (0, 0, 0);
        (branch.tot_bytes, branch.zip_bytes) = (0, 0);
        // Whether a branch has baskets of its own is told by its like: one is left, which is nowhere.
        branch.baskets.truncate(1);
        for basket in &mut branch.baskets {
            (basket.first_entry, basket.entries, basket.seek, basket.nbytes) = (0, 0, 0, 0);
        }
        branch.embedded.clear();
        branch.file_name.clear();
    }
}

/// The basket of a record; none if it is not one.
fn basket(file: &RootFile, key: &Key) -> Option<Basket> {
    let header = file.source().read(key.seek_key, usize::from(key.keylen)).ok()?;
    let header = BasketHeader::parse(&mut Cursor::new(&header)).ok()?;
    Some(Basket {
        tree: key.title.clone(),
        branch: key.name.clone(),
        seek: key.seek_key,
        seek_pdir: key.seek_pdir,
        nbytes: key.nbytes,
        raw: u64::from(key.objlen) + u64::from(key.keylen),
        entries: u64::from(header.nev_buf),
        datime: key.datime,
        cycle: key.cycle,
    })
}
